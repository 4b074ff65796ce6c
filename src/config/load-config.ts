import { createStandaloneHost } from '../host/standalone-host.ts';
import { checkOptions, refuseArgument } from '../sdk/checks/arguments.ts';
import type { Path, Problem } from '../sdk/checks/problem.ts';
import { rememberVariables, withholdingLogger } from '../sdk/checks/shown-values.ts';
import type { AnalyticsConfig } from '../sdk/config.ts';
import type { Host } from '../sdk/context.ts';
import { type Logger, silentLogger } from '../sdk/context.ts';
import type { ConfigProblem } from '../sdk/plugin.ts';
import type { LocatedProblem } from './config-error.ts';
import { ProblemLog } from './config-error.ts';
import type { Environment } from './environment.ts';
import { MergedConfig } from './merged-config.ts';
import { loadPlugins } from './plugin-lookup.ts';
import { readSources } from './read-files.ts';
import { conditionCompiler } from './routes.ts';
import { ObjectSource, type Place } from './source.ts';
import type { TestDefinition } from './tests/test-definition.ts';
import { validateConfig } from './validate.ts';
import { findWarnings } from './validate-pipelines.ts';
import { validateTests } from './validate-tests.ts';

export interface LoadConfigOptions {
  /** What `${NAME}` stands for; the environment of the process if not given. */
  readonly env?: Environment;
  /** The standalone host ends its event bus when there is nothing more to come. */
  readonly once?: boolean;
  /** Takes the place of the standalone host. */
  readonly host?: Host;
  /** What the standalone host logs to. Default: silent. */
  readonly logger?: Logger;
  /**
   * Whether problems in the section `tests` are a warning, as for a run, which does not look at them. Default: they
   * are problems like all others.
   */
  readonly ignoreTests?: boolean;
  /**
   * Whether a secret `{ env: NAME }` whose variable is not set is a problem, as for a run. Default: it is a warning, because
   * tests and drawings need no secrets.
   */
  readonly requireVariables?: boolean;
  /** Says what is wrong with a test beyond its schema, at paths inside it. Default: nothing is. */
  readonly checkTest?: (test: TestDefinition) => readonly (ConfigProblem & { readonly at?: 'key' })[];
}

/** All of them: the compiler misses one that is added. */
const OPTIONS: Readonly<Record<keyof LoadConfigOptions, true>> = {
  env: true,
  once: true,
  host: true,
  logger: true,
  ignoreTests: true,
  requireVariables: true,
  checkTest: true,
};

interface LoadedTests {
  readonly definitions: ReadonlyMap<string, TestDefinition>;
  /** Where a part of a test stands: its key, or a list's item. The path begins with the test's name. */
  place(path: Path): Place & { readonly file: string };
}

/** A configuration with the host that it is for. */
export interface LoadedConfig {
  readonly config: AnalyticsConfig;
  readonly host: Host;
  /** The files that it is made of: those given, and those that a file of tests names. */
  readonly files: readonly string[];
  /** Only `millrace test` looks at them. */
  readonly tests: LoadedTests;
  /** What is right and hardly meant: entries that no pipeline uses, no pipelines at all. */
  readonly warnings: readonly LocatedProblem[];
}

/** A loaded configuration of which changed copies can be made, as mutation testing does. */
export interface ChangeableConfig extends LoadedConfig {
  /** The sections as they were written, with environment variables put in. */
  readonly sections: Sections;
  /** Where a part of the configuration stands: its key, or a list's item. */
  place(path: Path): Place & { readonly file: string };
  /** The configuration with other sections, of the same plugins; undefined if they are not valid. */
  changed(sections: Sections): AnalyticsConfig | undefined;
}

type Sections = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/**
 * Loads a configuration from YAML files, whose sections are merged, with the modules that it names as plugins.
 * Starts nothing.
 *
 * @throws ConfigError with all problems of all files at once; MillraceError `MILLRACE_ARGUMENT` for wrong arguments
 *
 * @example
 * const { config } = await loadConfig(['examples/quickstart.yaml']);
 * Object.keys(config.pipelines); // ['quickstart']
 */
export async function loadConfig(
  files: readonly string[],
  options: LoadConfigOptions = {},
): Promise<LoadedConfig> {
  const { config, host, files: allFiles, tests, warnings } = await loadChangeable(files, options);
  return { config, host, files: allFiles, tests, warnings };
}

/** {@link loadConfig}, with what it takes to change the configuration. */
export async function loadChangeable(
  files: readonly string[],
  options: LoadConfigOptions = {},
): Promise<ChangeableConfig> {
  if (!Array.isArray(files) || !files.every((file) => typeof file === 'string')) {
    refuseArgument('loadConfig', files, "a list of paths, such as ['pipelines.yaml']");
  }
  checkOptions('loadConfig', options, Object.keys(OPTIONS));
  const { env = process.env, ignoreTests = false, requireVariables = false } = options;
  const log = new ProblemLog();
  if (files.length === 0)
    log.addAt('configuration', undefined, [], 'no file is given; expected at least one');
  const { sources, isComplete, files: allFiles } = await readSources(files, env, log);
  if (sources.length === 0) log.throwIfAny(allFiles);

  // A file that cannot be read may hold anything: what would be missing without it is not reported separately.
  const merged = new MergedConfig(sources, log, { isComplete, requiresVariables: requireVariables });
  const host = options.host ?? (await standaloneHost(merged, options));
  const lookup = await loadPlugins(merged);
  const compileCondition = await conditionCompiler(merged);
  const config = validateConfig(merged, { lookup, host, compileCondition });
  const tests = loadTests(merged, options);
  const wrongTests = ignoreTests ? log.withdraw('tests') : 0;
  log.throwIfAny(allFiles);
  if (host === undefined) throw new Error('a configuration without problems has a host');

  rememberVariables(config, merged.variables);
  merged.warn([...findWarnings(merged), ...ignoredTests(wrongTests)]);
  const changed: ChangeableConfig['changed'] = (sections) => {
    const problems = new ProblemLog();
    const source = new ObjectSource('configuration', Object.fromEntries(sections));
    const mergedAgain = new MergedConfig([source], problems);
    const folderOf = (path: Path) => merged.sourceOf(path).baseDir;
    const result = validateConfig(mergedAgain, { lookup, host, compileCondition, folderOf });
    if (!problems.isEmpty) return undefined;
    rememberVariables(result, merged.variables);
    return result;
  };
  return {
    ...{ config, host, files: allFiles, tests, warnings: log.inOrder(allFiles) },
    ...{ sections: merged.sections, place: (path) => placeIn(merged, path), changed },
  };
}

function ignoredTests(count: number): Problem[] {
  if (count === 0) return [];
  const errors = count === 1 ? '1 error' : `${count} errors`;
  const message = `${errors} in the tests, which are ignored here; \`millrace validate\` shows them`;
  return [{ path: ['tests'], at: 'key', message }];
}

function loadTests(merged: MergedConfig, { checkTest }: LoadConfigOptions): LoadedTests {
  const definitions = validateTests(merged);
  for (const [name, definition] of definitions) {
    for (const problem of checkTest?.(definition) ?? []) {
      merged.add({ ...problem, path: ['tests', name, ...problem.path], foreign: true });
    }
  }
  return {
    definitions,
    place: (inner) => placeIn(merged, ['tests', ...inner]),
  };
}

function placeIn(merged: MergedConfig, path: Path): Place & { readonly file: string } {
  const source = merged.sourceOf(path);
  const place = source.place(path, typeof path.at(-1) === 'number' ? 'value' : 'key');
  return { line: 1, column: 1, excerpt: undefined, ...place, file: source.file };
}

/** The host that `host_config` describes; undefined if that is missing or wrong. */
async function standaloneHost(
  merged: MergedConfig,
  { once = false, logger = silentLogger }: LoadConfigOptions,
): Promise<Host | undefined> {
  const path = ['host_config'];
  const hostConfig = merged.sections.get('host_config');
  const { baseDir } = merged.sourceOf(path);
  if (hostConfig === undefined || baseDir === undefined || merged.isBroken(path)) return undefined;
  const shownLogger = withholdingLogger(logger, merged.variables);
  const options = { baseDir, once, logger: shownLogger };
  const { host, problems } = await createStandaloneHost(hostConfig, options);
  for (const problem of problems) {
    merged.add({ ...problem, path: [...path, ...problem.path], foreign: true });
  }
  // Without a module's functions, names of functions cannot be judged.
  return problems.some(({ path: [key] }) => key === 'functions') ? undefined : host;
}
