import { EMPTY, from, map, mergeMap, type Observable, take } from 'rxjs';
import * as z from 'zod';
import { poll, untilAborted } from '../../operators/index.ts';
import {
  CollectConfigBase,
  type CollectedEvent,
  type ConfigProblem,
  collectedEvent,
  type Host,
  nearest,
  type PipelineRunContext,
  type PluginConfig,
  seconds,
} from '../../src/sdk/index.ts';

export const description = 'Calls a function of the host at intervals and collects what it returns.';

export const example = `
memory:
  plugin: host_exec
  interval: 10
  fn: status.meminfo
`;

export const shownSettings = { fn: '', interval: ' s' };

export const traits = { usesState: false, waits: true };

/** docs/specification.md#27-collect-plugins-and-their-events. `interval` is in seconds; 0 or less means every millisecond. */
export const HostExecConfig = CollectConfigBase.extend({
  interval: seconds().default(5).describe('Seconds between two calls.'),
  fn: z.string().default('test.ping').describe('The function of the host to call.'),
  args: z.array(z.unknown()).default([]).describe('Its positional arguments.'),
  kwargs: z.record(z.string(), z.unknown()).default({}).describe('Its named arguments.'),
});
export type HostExecConfig = Readonly<z.output<typeof HostExecConfig>>;

export function get_config_schema(): typeof HostExecConfig {
  return HostExecConfig;
}

/** Refuses a function that the host does not have. */
export function checkConfig({
  config: { fn },
  host,
}: {
  config: HostExecConfig;
  host: Host | undefined;
}): ConfigProblem[] {
  const known = host?.functions();
  if (known === undefined || known.includes(fn)) return [];
  const names = known.map((name) => `\`${name}\``).join(', ');
  const message = `unknown host function \`${fn}\`; there are ${names}`;
  return [{ path: ['fn'], message, suggestion: nearest(fn, known) }];
}

/**
 * Emits `{ ret }` for each result, at once and then every `interval` seconds; with `ctx.once`, of one call only.
 * Calls never overlap, and none is made while the pipeline has no room for its result.
 *
 * Errors: the first error of a call.
 */
export function collect({
  ctx,
}: {
  ctx: PipelineRunContext<HostExecConfig & PluginConfig>;
}): Observable<CollectedEvent> {
  const { config, demand, host, once, signal } = ctx;
  const { fn, args, kwargs, interval } = config;
  const call = () => from(host.call(fn, args, kwargs));
  const results = once
    ? demand.room$.pipe(take(1), mergeMap(call))
    : poll(() => (demand.room > 0 ? call() : EMPTY), { interval: interval * 1000 });
  // JSON has no undefined: a function that returns nothing gives null.
  return results.pipe(
    map((ret) => collectedEvent({ ret: ret ?? null })),
    untilAborted(signal),
  );
}
