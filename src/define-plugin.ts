import { contractMistake } from './config/plugin-contract.ts';
import { MillraceError } from './errors.ts';
import type { PluginConfig } from './models/analytics-config.ts';
import type { EventBatch } from './models/event-batch.ts';
import type { CollectedEvent } from './models/events.ts';
import type { Host } from './models/host.ts';
import type {
  CollectPlugin,
  ConfigMistake,
  ConfigSchema,
  ForwardPlugin,
  PluginKind,
  ProcessPlugin,
  Returned,
} from './models/plugin.ts';
import { CollectConfigBase, ForwardConfigBase, ProcessConfigBase } from './models/plugin-config.ts';
import type { PipelineRunContext } from './models/run-context.ts';

/** What a schema gives for an entry that it accepts. */
export type ConfigOf<S extends ConfigSchema> =
  Extract<ReturnType<S['safeParse']>, { success: true }> extends { data: infer C } ? Readonly<C> : never;

/** `ctx` of a plugin whose entries have this schema. */
export type PluginContext<S extends ConfigSchema> = PipelineRunContext<ConfigOf<S> & PluginConfig>;

interface Definition<S extends ConfigSchema> {
  /** What an entry of this plugin may have: `CollectConfigBase.extend({ … })`, say. Default: `plugin` alone. */
  readonly schema?: S;
  /** One sentence, shown by tools. */
  readonly description?: string;
  /** A configuration entry in YAML, shown by tools. */
  readonly example?: string;
  /** Checks what a schema cannot say, such as the names of host functions. */
  checkConfig?(args: { config: ConfigOf<S>; host: Host | undefined }): readonly ConfigMistake[];
}

export interface CollectorDefinition<S extends ConfigSchema> extends Definition<S> {
  collect(args: { ctx: PluginContext<S> }): Returned<CollectedEvent | EventBatch>;
}

export interface ProcessorDefinition<S extends ConfigSchema> extends Definition<S> {
  process(args: { ctx: PluginContext<S>; event: CollectedEvent }): Returned<CollectedEvent>;
  /** True if it removes secrets: an event that has not passed it is never put into a dead letter. */
  readonly masks?: boolean;
}

export interface ForwarderDefinition<S extends ConfigSchema> extends Definition<S> {
  forward(args: { ctx: PluginContext<S>; event: CollectedEvent }): Returned<unknown>;
  /** Takes all that is waiting at once. It delivers all of it or fails. */
  forwardBatch?(args: { ctx: PluginContext<S>; events: readonly CollectedEvent[] }): Returned<unknown>;
}

/**
 * A collect plugin whose `ctx.config` has the type that its schema gives.
 *
 * @throws MillraceError `MILLRACE_PLUGIN_CONTRACT` if it has no function `collect`, or its schema no `safeParse`.
 * @example
 * const greetings = defineCollector({
 *   schema: CollectConfigBase.extend({ who: z.string() }),
 *   collect: ({ ctx }) => of(collectedEvent({ hello: ctx.config.who }, '2026-01-01T00:00:00.000Z')),
 * });
 * const config = { plugin: 'greetings', who: 'ada' };
 * greetings.collect({ ctx: { config } });
 * // { timestamp: '2026-01-01T00:00:00.000Z', data: { hello: 'ada' } }
 */
export function defineCollector<S extends ConfigSchema = typeof CollectConfigBase>(
  definition: CollectorDefinition<S>,
): CollectPlugin {
  return define('collect', definition, CollectConfigBase) as unknown as CollectPlugin;
}

/**
 * A process plugin whose `ctx.config` has the type that its schema gives.
 *
 * @throws MillraceError `MILLRACE_PLUGIN_CONTRACT` if it has no function `process`, or its schema no `safeParse`.
 * @example
 * const label = defineProcessor({
 *   schema: ProcessConfigBase.extend({ label: z.string() }),
 *   process: ({ ctx, event }) => ({ ...event, data: { ...event.data, label: ctx.config.label } }),
 * });
 * const config = { plugin: 'label', label: 'web' };
 * label.process({ ctx: { config }, event: { data: { n: 1 } } }); // { data: { n: 1, label: 'web' } }
 */
export function defineProcessor<S extends ConfigSchema = typeof ProcessConfigBase>(
  definition: ProcessorDefinition<S>,
): ProcessPlugin {
  return define('process', definition, ProcessConfigBase) as unknown as ProcessPlugin;
}

/**
 * A forward plugin whose `ctx.config` has the type that its schema gives.
 *
 * @throws MillraceError `MILLRACE_PLUGIN_CONTRACT` if it has no function `forward`, or its schema no `safeParse`.
 * @example
 * const delivered = [];
 * const list = defineForwarder({ forward: ({ event }) => void delivered.push(event.data) });
 * list.forward({ event: { data: { n: 1 } } });
 * delivered; // [{ n: 1 }]
 */
export function defineForwarder<S extends ConfigSchema = typeof ForwardConfigBase>(
  definition: ForwarderDefinition<S>,
): ForwardPlugin {
  return define('forward', definition, ForwardConfigBase) as unknown as ForwardPlugin;
}

const FUNCTIONS = {
  collect: 'defineCollector',
  process: 'defineProcessor',
  forward: 'defineForwarder',
} as const;

function define(kind: PluginKind, definition: Definition<ConfigSchema>, base: ConfigSchema): object {
  const refuse = (mistake: string) => {
    throw new MillraceError('MILLRACE_PLUGIN_CONTRACT', `${FUNCTIONS[kind]}: ${mistake}`);
  };
  const { schema = base, ...parts } = definition ?? {};
  if (typeof schema.safeParse !== 'function') {
    refuse('its schema has no safeParse(); give a zod schema, or an object that has one');
  }
  const plugin = { ...parts, get_config_schema: () => schema };
  const mistake = contractMistake(kind, plugin);
  if (mistake !== undefined) refuse(mistake);
  return plugin;
}
