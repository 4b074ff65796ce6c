import { resolve } from 'node:path';
import { ConfigError, ProblemLog } from '../../config/config-error.ts';
import { type Environment, variablesIn } from '../../config/environment.ts';
import { type ChangeableConfig, loadChangeable } from '../../config/load-config.ts';
import { isTestFile, readAsWritten, readConfigFile, testFilesBeside } from '../../config/read-files.ts';
import { formatPath, isMapping } from '../../sdk/checks/problem.ts';
import { type UsedVariable, type WrittenSections, withhold } from '../../sdk/checks/shown-values.ts';
import type { ConfigProblem } from '../../sdk/plugin.ts';
import { groupBy } from '../draw/cells.ts';
import { checkTest } from './check-test.ts';
import type { GeneratorOptions } from './generate-tests.ts';
import { resolveTest } from './resolve-test.ts';
import { Snapshots } from './snapshots.ts';
import type { LoadedTest, TestSuite } from './test-suite.ts';

/**
 * The tests of files: configurations with a section `tests`, and files of tests (`web.test.yaml`). The files of
 * tests beside a configuration come with it. A file without tests gives no suite, and is not looked at further.
 *
 * @param options.update whether snapshots are updated, and not compared
 * @param options.seed in place of the seeds of tests with `any`
 * @param options.runs in place of their numbers of runs
 * @throws ConfigError with the problems of all files, tests and configurations, at once
 */
export async function loadSuites(
  files: readonly string[],
  env: Environment = process.env,
  { update = false, ...generate }: { readonly update?: boolean } & GeneratorOptions = {},
): Promise<TestSuite[]> {
  const suites: TestSuite[] = [];
  const problems: ConfigError['problems'][number][] = [];
  for (const file of withThoseBeside(files)) {
    try {
      const suite = await loadSuite(file, env, update, generate);
      if (suite !== undefined) suites.push(suite);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems.map(withHint));
    }
  }
  if (problems.length > 0) throw new ConfigError(distinct(problems));
  return suites;
}

function withThoseBeside(files: readonly string[]): string[] {
  const all = files.flatMap((file) => (isTestFile(file) ? [file] : [file, ...testFilesBeside(file)]));
  const first = new Map(all.map((file) => [resolve(file), file] as const).reverse());
  return all.filter((file, index) => first.get(resolve(file)) === file && all.indexOf(file) === index);
}

/** Tests that bring the same environment variables share one loaded configuration. */
async function loadSuite(
  file: string,
  env: Environment,
  update: boolean,
  generate: GeneratorOptions,
): Promise<TestSuite | undefined> {
  const variables = await testVariables(file, env);
  if (variables === undefined) return undefined;
  const groups = groupBy(variables, ([, own]) => JSON.stringify(Object.entries(own).sort()));
  const tests = new Map<string, LoadedTest>();
  const all = new Set<string>([file]);
  const snapshots = await Snapshots.beside(file, update);
  for (const group of groups.values()) {
    const own = group[0]?.[1] ?? {};
    const loaded = await loadChangeable([file], { env: { ...env, ...own }, checkTest });
    for (const used of loaded.files) all.add(used);
    const written = await readAsWritten(loaded.files);
    for (const [name] of group) {
      const test = await loadedTest(name, loaded, written, inherited(written, env, own), generate);
      if (test !== undefined) tests.set(name, { ...test, snapshots });
    }
  }
  return {
    file,
    files: [...all],
    snapshots,
    tests: variables.flatMap(([name]) => tests.get(name) ?? []),
  };
}

async function loadedTest(
  name: string,
  source: ChangeableConfig,
  written: WrittenSections,
  variables: readonly UsedVariable[],
  generate: GeneratorOptions,
): Promise<Omit<LoadedTest, 'snapshots'> | undefined> {
  const { config, host, tests } = source;
  const given = tests.definitions.get(name);
  if (given === undefined) return undefined;
  const place: LoadedTest['place'] = (path) => tests.place([name, ...path]);
  const withoutVariables = (text: string) => withhold(text, variables);
  const problems: Problem[] = [];
  const report = ({ path, message }: ConfigProblem) => {
    const full = formatPath(['tests', name, ...path]);
    problems.push({ ...place(path), path: full, message: withoutVariables(message), suggestion: undefined });
  };
  const resolved = await resolveTest(given, place([]).file, report, generate);
  if (problems.length > 0) throw new ConfigError(problems);
  return { name, ...resolved, config, written, host, place, withoutVariables, source };
}

/** The variables that a configuration refers to, other than those that the test itself gives. */
function inherited(written: WrittenSections, env: Environment, own: Environment): readonly UsedVariable[] {
  const names = Array.from(JSON.stringify([...written]).matchAll(/\$\{(\w+)/g), ([, name]) => name as string);
  return [...new Set(names)].flatMap((name) => {
    const value = Object.hasOwn(own, name) ? undefined : env[name];
    return value === undefined ? [] : [{ name, value }];
  });
}

/** Each test with the environment variables that it brings; undefined if the file has no tests. */
async function testVariables(file: string, env: Environment): Promise<[string, Environment][] | undefined> {
  const log = new ProblemLog();
  const source = await readConfigFile(file, env, log);
  if (source === undefined) log.throwIfAny([file]);
  const { tests, env: shared } = source?.value ?? {};
  if (tests === undefined && !isTestFile(file)) return undefined;
  // What is wrong with them is told when they are loaded; that needs one test at least.
  const entries = isMapping(tests) ? Object.entries(tests) : [];
  if (entries.length === 0) return [['', variablesIn(shared)]];
  return entries.map(([name, test]) => {
    return [name, { ...variablesIn(shared), ...variablesIn(isMapping(test) ? test.env : undefined) }];
  });
}

type Problem = ConfigError['problems'][number];

/** Tests need not have the variables of the machine. */
function withHint(problem: Problem): Problem {
  const [, name] = /^the environment variable (\w+) is not set; /.exec(problem.message) ?? [];
  if (name === undefined) return problem;
  const message = problem.message.replace(
    '; set it,',
    `; give it to the tests with \`env: { ${name}: … }\`, set it,`,
  );
  return { ...problem, message };
}

/** Several tests, and a file beside, meet the same problems of a configuration. */
function distinct(problems: readonly Problem[]): Problem[] {
  const key = ({ file, line, column, message }: Problem) =>
    JSON.stringify([resolve(file), line, column, message]);
  return [...new Map(problems.map((problem) => [key(problem), problem])).values()];
}
