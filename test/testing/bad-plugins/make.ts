import { CollectConfigBase, ForwardConfigBase, ProcessConfigBase } from '../../../src/sdk/config.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import { type CollectedEvent, collectedEvent } from '../../../src/sdk/events.ts';
import type { CollectPlugin, ForwardPlugin, PluginKind, ProcessPlugin } from '../../../src/sdk/plugin.ts';
import type { ConformanceOptions } from '../../../src/testing/conformance/index.ts';

export const BASES = { collect: CollectConfigBase, process: ProcessConfigBase, forward: ForwardConfigBase };
export type Ctx = PipelineRunContext<never>;
export type Args = { ctx: Ctx; event: CollectedEvent };

export const collector = (collect: (args: { ctx: Ctx }) => unknown) =>
  ({ get_config_schema: () => BASES.collect, collect }) as CollectPlugin;
export const processor = (process: (args: Args) => unknown) =>
  ({ get_config_schema: () => BASES.process, process }) as ProcessPlugin;
export const forwarder = (forward: (args: Args) => unknown) =>
  ({ get_config_schema: () => BASES.forward, forward }) as ForwardPlugin;

/** A plugin with a problem, and what the author is told. */
export type Bad = readonly [
  what: string,
  kind: PluginKind,
  plugin: unknown,
  told: readonly RegExp[],
  ConformanceOptions?,
];

export const one = () => collectedEvent({ n: 1 });
