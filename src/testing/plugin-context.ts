import type { Demand } from '../../operators/index.ts';
import type { PluginConfig } from '../sdk/config.ts';
import { type Host, type PipelineRunContext, silentLogger } from '../sdk/context.ts';
import { silentMetrics, silentStats } from '../sdk/metrics.ts';
import { memoryState } from '../state/state-store.ts';
import { version } from '../version.ts';

interface PluginContextOptions {
  readonly pipeline: string;
  readonly host: Host;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly demand: Demand;
}

/** The context of a plugin that runs alone, outside of a pipeline. What it logs and counts is not shown. */
export function pluginContext(
  config: PluginConfig,
  { pipeline, host, random, signal, demand }: PluginContextOptions,
): PipelineRunContext {
  return Object.freeze({
    pipeline,
    config,
    pipeline_config: config.parent,
    host,
    info: { version: version(), id: host.id, role: host.role },
    logger: silentLogger,
    stats: silentStats,
    metrics: silentMetrics,
    once: false,
    random,
    cache: {},
    shared_cache: {},
    state: memoryState(pipeline, config.name),
    signal,
    ended: signal,
    demand,
  });
}
