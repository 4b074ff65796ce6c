import { NEVER } from 'rxjs';
import { type PipelineRunContext, silentLogger } from '../../../src/sdk/context.ts';
import { silentMetrics, silentStats } from '../../../src/sdk/metrics.ts';
import { memoryState } from '../../../src/state/state-store.ts';

/** A context to call a processor with, and what it reported as masked. */
export function processContext<C>(config: C, random: () => number = () => 0.5) {
  const masked: [string, number][] = [];
  const ctx: PipelineRunContext<C> = {
    config,
    cache: {},
    shared_cache: {},
    pipeline_config: { collectors: {}, processors: {}, forwarders: {}, pipelines: {}, host_config: {} },
    pipeline: 'test',
    signal: new AbortController().signal,
    ended: new AbortController().signal,
    logger: silentLogger,
    host: { id: 'host', role: 'test', events: () => NEVER, functions: () => [], call: () => NEVER },
    info: { version: '0.0.0', id: 'host', role: 'test' },
    stats: { ...silentStats, masked: (rule, count) => masked.push([rule, count]) },
    metrics: silentMetrics,
    demand: { room: 0, room$: NEVER },
    state: memoryState('test', 'test'),
    once: false,
    random,
  };
  return { ctx, masked };
}
