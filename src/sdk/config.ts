import * as z from 'zod';
import type { CollectedEvent } from './events.ts';
import { isLoopback } from './listen-address.ts';
import type { CollectPlugin, ForwardPlugin, LinesTest, Plugin, ProcessPlugin } from './plugin.ts';
import { bytes, integer, listenAddress, nameList, path, seconds } from './schema-parts.ts';
import { secret } from './secret.ts';

const base = () =>
  z.strictObject({ plugin: z.string().min(1).describe('The name of the plugin, or its module.') });

/** The field that every collect plugin's configuration has: docs/specification.md#23-plugin-configuration-bases. */
export const CollectConfigBase = base();
/** The field that every process plugin's configuration has: docs/specification.md#23-plugin-configuration-bases. */
export const ProcessConfigBase = base();
/** The field that every forward plugin's configuration has: docs/specification.md#23-plugin-configuration-bases. */
export const ForwardConfigBase = base();

export type PluginConfigBase = Readonly<{ plugin: string }>;

/** Ours: what happens to events that a forwarder does not take. */
const DeliveryConfig = z.strictObject({
  attempts: integer().min(1).optional(),
  dead_letter: z.string().optional(),
  timeout: seconds().gt(0).optional(),
});

/** Ours: what happens to events that come faster than the window takes them, from a source that cannot wait. */
const MemoryBufferConfig = z.strictObject({
  type: z.literal('memory').optional(),
  max_events: integer().min(1).default(10_000),
  when_full: z.enum(['drop_oldest', 'drop_newest']).default('drop_oldest'),
});
export type MemoryBufferConfig = Readonly<z.output<typeof MemoryBufferConfig>>;

/** A type of a buffer, and not the plugin of that name. */
const ON_DISK = 'disk';

/** Ours: a buffer between processors and forwarders that survives the process. */
const DiskBufferConfig = z.strictObject({
  type: z.literal(ON_DISK),
  path: path(),
  max_bytes: bytes()
    .min(1024 ** 2)
    .default(1024 ** 3),
  when_full: z.enum(['wait', 'drop_oldest', 'reject']).default('wait'),
  masked: z.boolean().default(true),
});
export type DiskBufferConfig = Readonly<z.output<typeof DiskBufferConfig>>;

const BufferConfig = z.discriminatedUnion('type', [MemoryBufferConfig, DiskBufferConfig]);

/** The buffer in memory, which every pipeline has for collectors that cannot be paused. */
export function memoryBufferOf({ buffer }: Pick<PipelineConfig, 'buffer'>): MemoryBufferConfig {
  return buffer.type === ON_DISK ? MemoryBufferConfig.parse({}) : buffer;
}

/** The buffer on disk; undefined if the pipeline has none. */
export function diskBufferOf({ buffer }: Pick<PipelineConfig, 'buffer'>): DiskBufferConfig | undefined {
  return buffer.type === ON_DISK ? buffer : undefined;
}

/** Ours: a forwarder that gets only the events for which a condition is true. */
const RouteConfig = z.strictObject({
  to: z.string().describe('The name of a forwarder.'),
  when: z
    .string()
    .meta({ format: 'cel' })
    .describe('A CEL condition over `data`, `timestamp` and `tag`: the events that it gets.'),
});

/** Names of forwarders, or routes to them; a single name stands for a list of one. */
const forwarderList = () =>
  z.union([z.array(z.union([z.string(), RouteConfig])), z.string().transform((name) => [name])]);

/** One pipeline: docs/specification.md#22-pipelineconfig. */
export const PipelineConfig = z.strictObject({
  collect: nameList(),
  process: nameList().optional(),
  forward: forwarderList(),
  enabled: z.boolean().default(true),
  restart: z.boolean().default(true),
  max_restarts: integer().min(0).optional(),
  max_in_flight: integer().min(1).optional(),
  ordered: z.boolean().default(true),
  exactly_once: z.boolean().default(false),
  workers: integer().min(1).max(64).default(1),
  buffer: BufferConfig.prefault({}),
  delivery: DeliveryConfig.prefault({}),
});
export type PipelineConfig = Readonly<Omit<z.output<typeof PipelineConfig>, 'forward' | 'max_in_flight'>> & {
  readonly forward: readonly (string | Route)[];
  readonly max_in_flight: number;
};

/** Which events a forwarder gets: `when` of a route, compiled. */
export interface RouteCondition {
  /** @throws PluginError if the condition cannot be evaluated for this event */
  holds(event: CollectedEvent): boolean;
  /** {@link holds} for an event that consists only of a line; undefined if the condition reads more than the line. */
  readonly holdsForLine: ((line: string) => boolean) | undefined;
  /** {@link holdsForLine} for lines within one text, if that works without a string for each line. */
  readonly holdsInText?: LinesTest | undefined;
}

/** A forwarder of a pipeline that gets only the events for which a condition is true. */
export class Route {
  /** The name of the forwarder. */
  readonly to: string;
  /** The condition as it is in the configuration. */
  readonly when: string;
  readonly #condition: RouteCondition;

  constructor({ to, when }: z.output<typeof RouteConfig>, condition: RouteCondition) {
    this.to = to;
    this.when = when;
    this.#condition = condition;
    Object.freeze(this);
  }

  /** Neither enumerable nor compared: a configuration is made of what was written. */
  get condition(): RouteCondition {
    return this.#condition;
  }
}

/** The names of the forwarders of a pipeline, those of routes included. */
export function forwardersOf({ forward }: Pick<PipelineConfig, 'forward'>): string[] {
  return forward.map((item) => (typeof item === 'string' ? item : item.to));
}

/** Ours: where metrics and health are served, and what counts as healthy. */
export const AdminConfig = z
  .strictObject({
    listen: listenAddress()
      .optional()
      .describe('PORT or HOST:PORT; without a host, 127.0.0.1. Nothing is served without it.'),
    token: secret()
      .optional()
      .describe(
        'What requests must send as `Authorization: Bearer …`. Required unless `listen` is a loopback address.',
      ),
    hosts: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'Names by which requests may address the server, beside IP addresses, `localhost` and that of `listen`.',
      ),
    stalled_after: seconds()
      .gt(0)
      .default(60)
      .describe(
        'Seconds that a pipeline may make no progress with events in flight before it counts as not ready.',
      ),
  })
  .refine(({ listen, token }) => listen === undefined || token !== undefined || isLoopback(listen.host), {
    path: ['token'],
    message: 'missing; `listen` can be reached from other machines, so requests need a token',
  });
export type AdminConfig = Readonly<z.output<typeof AdminConfig>>;

const named = <T extends z.ZodType>(entry: T) => z.record(z.string(), entry);

/**
 * A whole configuration (docs/specification.md#21-analyticsconfig) before the plugins' own schemas are applied: entries are checked against their
 * base only.
 * `parseConfig` and `loadConfig` apply the plugins' schemas and `_validate_pipelines`.
 */
export const AnalyticsConfigShape = z.strictObject({
  collectors: named(CollectConfigBase.loose()),
  processors: named(ProcessConfigBase.loose()).optional(),
  forwarders: named(ForwardConfigBase.loose()),
  pipelines: named(PipelineConfig),
  host_config: z.record(z.string(), z.unknown()),
  admin: AdminConfig.optional(),
  /** `millrace test` runs them, and src/config/tests has their schema. A plugin never sees them. */
  tests: named(z.unknown()).optional(),
});

/** A plugin's configuration inside a whole one: frozen, with read-only properties that are not enumerable. */
export type PluginConfig<P extends Plugin = Plugin> = Readonly<{ plugin: string }> & {
  /** The entry's name in the configuration. */
  readonly name: string;
  readonly parent: AnalyticsConfig;
  readonly loaded_plugin: P;
};

/** The whole configuration, validated and deeply frozen. */
export interface AnalyticsConfig {
  readonly collectors: Readonly<Record<string, PluginConfig<CollectPlugin>>>;
  readonly processors: Readonly<Record<string, PluginConfig<ProcessPlugin>>>;
  readonly forwarders: Readonly<Record<string, PluginConfig<ForwardPlugin>>>;
  readonly pipelines: Readonly<Record<string, PipelineConfig>>;
  readonly host_config: Readonly<Record<string, unknown>>;
  readonly admin?: AdminConfig | undefined;
}
