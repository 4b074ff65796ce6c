import type { PluginConfig } from './config.ts';
import { CollectConfigBase, ForwardConfigBase, ProcessConfigBase } from './config.ts';
import type { PipelineRunContext } from './context.ts';
import { MillraceError } from './errors.ts';
import type {
  CollectPlugin,
  ConfigSchema,
  ForwardPlugin,
  Plugin,
  PluginKind,
  ProcessPlugin,
} from './plugin.ts';
import { contractProblem } from './plugin.ts';

/** What a schema gives for an entry that it accepts. */
export type ConfigOf<S extends ConfigSchema> =
  Extract<ReturnType<S['safeParse']>, { success: true }> extends { data: infer C } ? Readonly<C> : never;

/** `ctx` of a plugin whose entries have this schema. */
export type PluginContext<S extends ConfigSchema> = PipelineRunContext<ConfigOf<S> & PluginConfig>;

/**
 * A member of a plugin, with the types that a schema gives to `ctx` and `config`. A method, not a function, so that a
 * member of another plugin may be given as well.
 */
type Typed<Member, S extends ConfigSchema> = Member extends (args: infer Args) => infer Result
  ? {
      method(
        args: {
          [Key in keyof Args]: Key extends 'ctx'
            ? PluginContext<S>
            : Key extends 'config'
              ? ConfigOf<S>
              : Args[Key];
        },
      ): Result;
    }['method']
  : Member;

/** All that a plugin may have, with a schema in place of `get_config_schema`. */
type Definition<P extends Plugin, S extends ConfigSchema> = {
  /** What an entry of this plugin may have: `CollectConfigBase.extend({ … })`, say. Default: `plugin` alone. */
  readonly schema?: S;
} & {
  [Key in keyof Omit<P, 'get_config_schema'>]: Key extends 'traits' | 'testing'
    ? Members<P[Key], S>
    : Typed<P[Key], S>;
};

/** The members of an object of a plugin, each {@link Typed}. */
type Members<Parts, S extends ConfigSchema> = { [Key in keyof Parts]: Typed<Parts[Key], S> };

export type CollectorDefinition<S extends ConfigSchema> = Definition<CollectPlugin, S>;
export type ProcessorDefinition<S extends ConfigSchema> = Definition<ProcessPlugin, S>;
export type ForwarderDefinition<S extends ConfigSchema> = Definition<ForwardPlugin, S>;

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

function define(
  kind: PluginKind,
  definition: { readonly schema?: ConfigSchema },
  base: ConfigSchema,
): object {
  const refuse = (problem: string) => {
    throw new MillraceError('MILLRACE_PLUGIN_CONTRACT', `${FUNCTIONS[kind]}: ${problem}`);
  };
  const { schema = base, ...parts } = definition ?? {};
  if (typeof schema.safeParse !== 'function') {
    refuse('its schema has no safeParse(); give a zod schema, or an object that has one');
  }
  const plugin = { ...parts, get_config_schema: () => schema };
  const problem = contractProblem(kind, plugin);
  if (problem !== undefined) refuse(problem);
  return plugin;
}
