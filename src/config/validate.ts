import {
  applySchema,
  exampleAt,
  explainIssue,
  knownKeys,
  otherNameOf,
  settingOfOtherForm,
} from '../sdk/checks/apply-schema.ts';
import { isMapping, type Path } from '../sdk/checks/problem.ts';
import {
  AdminConfig,
  type AnalyticsConfig,
  CollectConfigBase,
  ForwardConfigBase,
  PipelineConfig,
  type PluginConfigBase,
  ProcessConfigBase,
} from '../sdk/config.ts';
import type { Host } from '../sdk/context.ts';
import type { ConfigProblem, ConfigSchema, Plugin, PluginKind } from '../sdk/plugin.ts';
import { inConfigFolder } from '../sdk/schema-parts.ts';
import { buildConfig, type ValidEntries, type ValidEntry } from './build-config.ts';
import { askPlugins, inReferences } from './check-pipelines.ts';
import type { MergedConfig } from './merged-config.ts';
import type { PluginLookup } from './plugin-lookup.ts';
import type { PluginOf } from './registry.ts';
import { type CompileCondition, conditionsIn, type ParsedPipeline, routesOf } from './routes.ts';
import { PLUGIN_SECTIONS, SECTIONS } from './sections.ts';
import {
  defaultInFlight,
  validateBatching,
  validateBuffers,
  validateExactlyOnce,
  validateJoining,
  validateListeners,
  validateMaskedRoutes,
  validateStdin,
  validateWorkers,
} from './validate-capabilities.ts';
import { validateOwnOutput } from './validate-own-output.ts';
import { _validate_pipelines, KINDS, namesIn } from './validate-pipelines.ts';
import {
  checkSecrets,
  checkUrlSecrets,
  hideExpressions,
  hideSecrets,
  hideSuspects,
} from './validate-secrets.ts';

/** What validation needs besides the configuration itself. */
interface ValidationContext {
  readonly lookup: PluginLookup;
  /** Compiles the conditions of routes; may be undefined if there are none. */
  readonly compileCondition: CompileCondition | undefined;
  /** Undefined if there is none, or if its own configuration is wrong. */
  readonly host: Host | undefined;
  /** The folder of the file that has what is at a path; undefined if there is no file. Default: what the sources say. */
  readonly folderOf?: (path: Path) => string | undefined;
}

type Model = Readonly<Record<string, unknown>>;

const BASES = { collect: CollectConfigBase, process: ProcessConfigBase, forward: ForwardConfigBase } as const;

/** Validates a merged configuration. Problems go to its log; the result counts only if there are none. */
export function validateConfig(config: MergedConfig, context: ValidationContext): AnalyticsConfig {
  const entries = {
    collect: validateEntries('collect', config, context),
    process: validateEntries('process', config, context),
    forward: validateEntries('forward', config, context),
  };
  const written = config.sections.get('pipelines') ?? {};
  const pipelines = new Map<string, PipelineConfig>();
  for (const [name, value] of Object.entries(written)) {
    const path = ['pipelines', name];
    hideSuspects(value, path, config);
    const data = validateModel(PipelineConfig, takeModel(value, path, config), path, config);
    const conditions = conditionsIn(value, path, config, context.compileCondition);
    if (data === undefined) continue;
    const { forward, ...rest } = data as ParsedPipeline;
    const pipeline = { ...rest, forward: routesOf(forward, conditions) };
    const { max_in_flight = defaultInFlight(pipeline, entries) } = pipeline;
    pipelines.set(name, { ...pipeline, max_in_flight });
  }
  if (config.isComplete) {
    checkSections(config);
    const names = {
      collect: entryNames('collect', config),
      process: entryNames('process', config),
      forward: entryNames('forward', config),
    };
    const asked = inReferences(
      askPlugins(pipelines, written, entries),
      () => askPlugins(pipelines, written, shownEntries(entries)),
      config.variablesAt(KINDS.map((kind) => [PLUGIN_SECTIONS[kind]])),
    );
    const refused = new Set(
      asked.flatMap(({ path, severity }) => (severity === 'error' ? [path.join()] : [])),
    );
    // What a plugin says of its place is more exact than what is said of all plugins.
    const general = [
      ...validateExactlyOnce(written, entries),
      ...validateJoining(written, entries),
      ...validateWorkers(written, entries),
    ].filter(({ path }) => !refused.has(path.join()));
    const problems = [
      ..._validate_pipelines(written, names),
      ...asked,
      ...general,
      ...validateOwnOutput(pipelines, entries),
      ...validateBatching(pipelines, entries),
      ...validateBuffers(pipelines, entries),
      ...validateListeners(pipelines, entries),
      ...validateMaskedRoutes(pipelines, entries),
      ...validateStdin(pipelines, entries),
    ];
    for (const problem of problems) {
      const [section, name] = problem.path;
      const quotes = section === 'pipelines' ? quotedOf(String(name), written) : [problem.path.slice(0, 2)];
      config.add({ ...problem, foreign: true, quotes });
    }
  }
  return buildConfig({
    entries,
    pipelines,
    host_config: config.sections.get('host_config') ?? {},
    admin: validateAdmin(config),
  });
}

/** The entries with references in place of the values of environment variables. */
function shownEntries({ collect, process, forward }: ValidEntries): ValidEntries {
  const shown = <P extends Plugin>(entries: ReadonlyMap<string, ValidEntry<P>>) =>
    new Map(Array.from(entries, ([name, entry]) => [name, { ...entry, data: entry.shown }] as const));
  return { collect: shown(collect), process: shown(process), forward: shown(forward) };
}

/** Where the values are that a message about a pipeline may quote: in the pipeline and in its entries. */
function quotedOf(name: string, pipelines: Model): Path[] {
  const pipeline = pipelines[name];
  if (!isMapping(pipeline)) return [['pipelines', name]];
  const { delivery } = pipeline;
  const letters = isMapping(delivery) ? namesIn(delivery.dead_letter) : [];
  return [
    ['pipelines', name],
    ...KINDS.flatMap((kind) => namesIn(pipeline[kind]).map((entry) => [PLUGIN_SECTIONS[kind], entry.name])),
    ...letters.map((entry) => [PLUGIN_SECTIONS.forward, entry.name]),
  ];
}

function validateAdmin(config: MergedConfig): AdminConfig | undefined {
  const path = ['admin'];
  const written = config.sections.get('admin');
  if (written === undefined) return undefined;
  hideSuspects(written, path, config);
  const data = validateModel(AdminConfig, takeModel(written, path, config), path, config);
  if (!isMapping(data)) return undefined;
  checkSecrets(data, path, config, () => AdminConfig);
  return data as AdminConfig;
}

function checkSections(config: MergedConfig): void {
  for (const [name, { required, holds }] of SECTIONS) {
    if (required && !config.hasSection(name))
      config.add({ path: [name], message: `missing; expected ${holds}` });
  }
}

/**
 * The names that pipelines may use: also those of entries that are wrong in themselves. Undefined for a section
 * that is wrong as a whole.
 */
function entryNames(kind: PluginKind, config: MergedConfig): string[] | undefined {
  const section = PLUGIN_SECTIONS[kind];
  const entries = config.sections.get(section);
  if (entries !== undefined) return Object.keys(entries);
  return SECTIONS.get(section)?.required || config.hasSection(section) ? undefined : [];
}

function validateEntries<K extends PluginKind>(
  kind: K,
  config: MergedConfig,
  context: ValidationContext,
): Map<string, ValidEntry<PluginOf[K]>> {
  const section = PLUGIN_SECTIONS[kind];
  const valid = new Map<string, ValidEntry<PluginOf[K]>>();
  for (const [name, entry] of Object.entries(config.sections.get(section) ?? {})) {
    const path = [section, name] as const;
    const model = takeModel(entry, path, config);
    hideSuspects(model, path, config);
    checkUrlSecrets(model, path, config);
    const plugin = findEntryPlugin(kind, model, path, config, context.lookup);
    if (plugin === undefined) {
      hideSecrets(undefined, [], model, path, config);
      continue;
    }
    const { folderOf = (at) => config.sourceOf(at).baseDir } = context;
    const data = inConfigFolder(folderOf(path), () =>
      validateModel(() => plugin.get_config_schema(), model, path, config),
    );
    if (!isMapping(data) || config.isBroken(path)) continue;
    const shown = config.parsed(path, data);
    checkSecrets(data, path, config, () => plugin.get_config_schema());
    const accepted = { plugin: plugin as PluginOf[K], data, shown };
    valid.set(name, accepted);
    checkPlugin(accepted, path, config, context.host);
  }
  return valid;
}

/** The plugin of an entry. If it cannot be told, the log knows why. */
function findEntryPlugin(
  kind: PluginKind,
  model: Model | undefined,
  path: readonly [string, string],
  config: MergedConfig,
  lookup: PluginLookup,
): Plugin | undefined {
  const base = validateModel(BASES[kind].loose(), model, path, config) as PluginConfigBase | undefined;
  const pluginPath = [...path, 'plugin'];
  if (base === undefined || config.isBroken(pluginPath)) return undefined;
  const found = lookup(kind, base.plugin, path[1]);
  if ('get_config_schema' in found) return found;
  config.add({ path: pluginPath, ...found, foreign: true });
  return undefined;
}

/** A model without keys that no model may have; undefined if the value is none. */
export function takeModel(value: unknown, path: Path, config: MergedConfig): Model | undefined {
  if (isReserved(path, config)) return undefined;
  if (isMapping(value)) return removeReservedKeys(value, path, config);
  config.add({ path, message: `found ${config.describe(path)}; expected a mapping` });
  return undefined;
}

/** Applies a schema to a model; undefined if it does not pass, which the log then knows. */
export function validateModel(
  schemaOrGetter: ConfigSchema | (() => ConfigSchema),
  model: Model | undefined,
  path: Path,
  config: MergedConfig,
): unknown {
  if (model === undefined) return undefined;
  try {
    const schema = typeof schemaOrGetter === 'function' ? schemaOrGetter() : schemaOrGetter;
    hideExpressions(schema, model, path, config);
    const result = applySchema(schema, model);
    if (result.success) return result.data;
    hideSecrets(schema, result.issues, model, path, config);
    const explanation = {
      prefix: path,
      input: model,
      knownKeys: (inner: Path) => knownKeys(schema, inner),
      example: (inner: Path) => exampleAt(schema, inner),
      otherName: (inner: Path) => otherNameOf(schema, inner),
      otherForm: (inner: Path, value?: unknown) => settingOfOtherForm(schema, inner, value),
      describe: (inner: Path) => config.describe(inner),
    };
    for (const issue of result.issues) {
      for (const problem of explainIssue(issue, explanation)) config.add(problem);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    config.add({ path, message: `the schema of the plugin failed: ${reason}`, foreign: true });
  }
  return undefined;
}

const RESERVED_FIELDS = ['name', 'parent', 'loaded_plugin'];

/** What of a plugin the check calls; the plugin knows the type of its own configuration. */
type Check = (args: { config: unknown; host: Host | undefined }) => readonly ConfigProblem[];

/** Asks a plugin for problems that its schema cannot see; they go to the log. */
function checkPlugin(
  { plugin, data, shown }: ValidEntry,
  path: Path,
  config: MergedConfig,
  host: Host | undefined,
): void {
  for (const field of RESERVED_FIELDS.filter((name) => Object.hasOwn(data, name))) {
    const message = `the plugin has a field \`${field}\`, which is a property of every entry; rename it in the plugin`;
    config.add({ path: [...path, field], at: 'key', message });
  }
  // It is given the host, too.
  const quotes = [path, ['host_config']];
  const check = plugin.checkConfig?.bind(plugin) as Check | undefined;
  const ask = (told: Model): readonly ConfigProblem[] => {
    try {
      return expectProblems(check?.({ config: told, host }) ?? []);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return [{ path: [], message: `checkConfig of the plugin failed: ${reason}` }];
    }
  };
  for (const problem of inReferences(ask(data), () => ask(shown), config.variablesAt(quotes))) {
    config.add({ ...problem, path: [...path, ...problem.path], foreign: true, quotes });
  }
}

/** What `checkConfig` of a plugin returned, if it is a list of problems. */
function expectProblems(returned: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const isProblem = ({ message, path }: Partial<ConfigProblem>) =>
    typeof message === 'string' && Array.isArray(path);
  if (Array.isArray(returned) && returned.every((problem) => isProblem(problem ?? {}))) return returned;
  const message =
    'checkConfig of the plugin returned something else than a list of problems, each with `message`, a string, and `path`, a list';
  return [{ path: [], message }];
}

const RESERVED = '__proto__';
const MESSAGE = 'the name `__proto__` is reserved by JavaScript; choose another';

/** Refuses the key at a path if it is `__proto__`. */
function isReserved(path: Path, config: MergedConfig): boolean {
  if (path.at(-1) !== RESERVED) return false;
  config.add({ path, at: 'key', message: MESSAGE });
  return true;
}

/**
 * Refuses the key `__proto__` at any depth of a model and returns the model without it. Schemas would drop it
 * in silence, and with it a rule of that name.
 */
function removeReservedKeys(
  value: Readonly<Record<string, unknown>>,
  path: Path,
  config: MergedConfig,
): Record<string, unknown> {
  const kept = Object.entries(value).filter(([key]) => !isReserved([...path, key], config));
  return Object.fromEntries(kept.map(([key, item]) => [key, removeBelow(item, [...path, key], config)]));
}

function removeBelow(value: unknown, path: Path, config: MergedConfig): unknown {
  if (Array.isArray(value)) return value.map((item, index) => removeBelow(item, [...path, index], config));
  return isMapping(value) ? removeReservedKeys(value, path, config) : value;
}
