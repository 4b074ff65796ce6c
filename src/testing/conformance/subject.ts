import { interval, map, of } from 'rxjs';
import { InFlightWindow } from '../../../operators/index.ts';
import { isoNow } from '../../../operators/internal.ts';
import { buildConfig, type ValidEntries } from '../../config/build-config.ts';
import { applySchema } from '../../sdk/checks/apply-schema.ts';
import type { AnalyticsConfig } from '../../sdk/config.ts';
import type { Host, PipelineRunContext } from '../../sdk/context.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { frozenCopy } from '../../sdk/freeze.ts';
import type { Plugin, PluginKind } from '../../sdk/plugin.ts';
import { pluginContext } from '../plugin-context.ts';
import { seededRandom } from '../seeded-random.ts';
import { CheckFailure } from './check.ts';
import { sampleEvents } from './sample-events.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What the checks need to know of a plugin. */
export interface ConformanceOptions {
  /**
   * The fields of an entry with which the plugin works; `plugin` is added. A function is called for every run, so
   * that each can have a folder or a server of its own. Default: no fields.
   */
  readonly config?: Fields | (() => Fields);
  /** What processors and forwarders are given. Default: some events that differ in shape. */
  readonly events?: readonly CollectedEvent[];
  /** `ctx.host`. Default: one that emits an event every second, and whose functions return true. */
  readonly host?: Host;
  /**
   * `real` for plugins that talk to the outside, such as files and sockets: they need not run in virtual time.
   * Default: `virtual`.
   */
  readonly time?: 'virtual' | 'real';
  /**
   * Events that the sink of a forwarder refuses for good, to check how `forwardBatch` says so. Default: none.
   */
  readonly refused?: readonly CollectedEvent[];
  /** What a forwarder has delivered in a run, to compare `forwardBatch` with `forward`. */
  readonly delivered?: (config: Fields) => unknown;
  /** For a processor with the trait `masks`: a text that it must not let pass. */
  readonly secret?: string;
  /** How long something outside of virtual time may take, in milliseconds. Default: 2000. */
  readonly patience?: number;
}

/** A plugin under test, with what is needed to run it. */
export interface Subject {
  readonly kind: PluginKind;
  readonly plugin: Plugin;
  readonly events: readonly CollectedEvent[];
  readonly isVirtual: boolean;
  readonly patience: number;
  readonly delivered: ConformanceOptions['delivered'];
  readonly refused: readonly CollectedEvent[];
  readonly secret: string | undefined;
  /** The fields of an entry, as a configuration file would have them. */
  readonly fields: () => Fields;
  /** Whether an entry may have these fields as well. */
  readonly accepts: (more: Fields) => boolean;
  /** A new context; its configuration, with some fields more, is validated and deeply frozen. */
  readonly context: (overrides?: Partial<PipelineRunContext>, more?: Fields) => PipelineRunContext;
  /** The context of an entry with these fields; undefined if the schema refuses them. */
  readonly contextOf: (name: string, fields: Fields) => PipelineRunContext | undefined;
  /** Aborts the signals of all contexts, as the engine does at the end of a run. */
  readonly endRuns: () => void;
}

const ENTRY = 'conformance';
const WINDOW = 1000;
const PATIENCE_MS = 2000;

export function subjectOf(kind: PluginKind, plugin: Plugin, options: ConformanceOptions): Subject {
  const { config = {}, host = sampleHost(), time = 'virtual', delivered, patience = PATIENCE_MS } = options;
  const runs = new Set<AbortController>();
  const fields = () => ({ plugin: ENTRY, ...(typeof config === 'function' ? config() : config) });
  const contextWith = (data: Fields, name = ENTRY) => {
    const section = { collect: 'collectors', process: 'processors', forward: 'forwarders' } as const;
    const entry = analyticsWith(kind, plugin, data, name)[section[kind]][name];
    if (entry === undefined) throw new CheckFailure('the entry is not in its configuration');
    const run = new AbortController();
    runs.add(run);
    return pluginContext(entry, {
      pipeline: ENTRY,
      host,
      random: seededRandom(1),
      signal: run.signal,
      demand: new InFlightWindow(WINDOW),
    });
  };
  return {
    kind,
    plugin,
    events: options.events ?? sampleEvents(),
    isVirtual: time === 'virtual',
    patience,
    delivered,
    refused: options.refused ?? [],
    secret: options.secret,
    fields,
    accepts: (more) => applySchema(plugin.get_config_schema(), { ...fields(), ...more }).success,
    context: (overrides = {}, more = {}) =>
      Object.freeze({ ...contextWith(validated(plugin, { ...fields(), ...more })), ...overrides }),
    contextOf: (name, others) => {
      const result = applySchema(plugin.get_config_schema(), others);
      return result.success ? contextWith(result.data as Fields, name) : undefined;
    },
    endRuns: () => {
      for (const run of runs) run.abort();
      runs.clear();
    },
  };
}

function validated(plugin: Plugin, fields: Fields): Fields {
  const result = applySchema(plugin.get_config_schema(), fields);
  if (result.success) return result.data as Fields;
  const issues = result.issues.map(({ path, message }) => `${path.join('.') || 'the entry'}: ${message}`);
  throw new CheckFailure(
    `its schema refuses the configuration ${JSON.stringify(fields)}: ${issues.join('; ')}. Give \`config\` fields that it accepts`,
  );
}

function analyticsWith(kind: PluginKind, plugin: Plugin, data: Fields, name: string): AnalyticsConfig {
  const entry = new Map([[name, { plugin, data: frozenCopy(data) }]]);
  const none = new Map<string, never>();
  const entries: object = { collect: none, process: none, forward: none, [kind]: entry };
  return buildConfig({ entries: entries as ValidEntries, pipelines: new Map(), host_config: {} });
}

function sampleHost(): Host {
  return {
    id: 'conformance-host',
    role: 'test',
    events: () =>
      interval(1000).pipe(
        map((n) => ({
          tag: 'host/beacon/conformance-host/sample/',
          stamp: isoNow(),
          data: { n },
          raw_data: { n },
        })),
      ),
    functions: () => ['test.ping'],
    call: () => of(true),
  };
}
