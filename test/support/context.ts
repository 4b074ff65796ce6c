import { of } from 'rxjs';
import type { PipelineRunContext } from '../../src/sdk/context.ts';
import { silentLogger } from '../../src/sdk/context.ts';
import { silentMetrics, silentStats } from '../../src/sdk/metrics.ts';
import { memoryState } from '../../src/state/state-store.ts';

/** A generator of numbers in [0, 1) that repeats itself with the same seed (mulberry32). */
export function seededRandom(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * A context to run a plugin's entry function by hand: demand without limit, nothing logged, a signal that is never
 * aborted, an empty cache, a state in memory, a seeded random. `overrides` replaces any of it.
 */
export function testContext<C extends { readonly plugin: string }>(
  config: C,
  overrides: Partial<PipelineRunContext> = {},
): PipelineRunContext<
  C & { readonly name: string } & Pick<PipelineRunContext['config'], 'parent' | 'loaded_plugin'>
> {
  const none = () => {
    throw new Error('the test gave no host');
  };
  const parent = { collectors: {}, forwarders: {}, processors: {}, pipelines: {}, host_config: {} };
  return {
    cache: {},
    shared_cache: {},
    pipeline_config: parent,
    pipeline: 'test',
    signal: new AbortController().signal,
    ended: new AbortController().signal,
    logger: silentLogger,
    host: { id: 'test', role: 'test', events: none, functions: () => [], call: none },
    info: { version: '0.0.0', id: 'test', role: 'test' },
    stats: silentStats,
    metrics: silentMetrics,
    demand: { room: Infinity, room$: of(Infinity) },
    once: false,
    state: memoryState('test', config.plugin),
    random: seededRandom(),
    ...overrides,
    config: { name: config.plugin, parent, loaded_plugin: {} as never, ...config },
  };
}
