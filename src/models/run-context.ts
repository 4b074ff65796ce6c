import { z } from 'zod';
import type { Demand } from '../../operators/demand.ts';
import type { AnalyticsConfig, PluginConfig } from './analytics-config.ts';
import type { Host } from './host.ts';
import type { Logger } from './logger.ts';

/** Specification 2.6 as a schema: what a caller must pass to run a plugin's entry function by hand. */
export const PipelineRunContextShape = z.object({
  config: z.looseObject({ plugin: z.string() }),
  cache: z.record(z.string(), z.unknown()).optional(),
  shared_cache: z.record(z.string(), z.unknown()).optional(),
});

/** What a plugin reports of its work, beside its events. Shown in summaries, the live line and statistics. */
export interface PluginStats {
  /** `count` values were masked by `rule`. */
  masked(rule: string, count: number): void;
  /** Bytes that this collector knows of and has not read yet. */
  backlog(bytes: number): void;
}

/** Facts about the process that a pipeline runs in. */
export interface RunInfo {
  readonly version: string;
  readonly id: string;
  readonly role: string;
}

/** Specification 2.6: passed to every plugin entry function as `ctx`. */
export interface PipelineRunContext<C = PluginConfig> {
  readonly config: C;
  /** Per plugin entry of a pipeline; lives until the pipeline is stopped, restarts included. */
  readonly cache: Record<string, unknown>;
  /** One for each pipeline, shared by its plugins; lives as long as `cache`. */
  readonly shared_cache: Record<string, unknown>;
  readonly pipeline_config: AnalyticsConfig;
  /** The pipeline's name. */
  readonly pipeline: string;
  /** Aborted when this plugin's part of the run is over: for collectors at the begin of a stop. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly host: Host;
  readonly info: RunInfo;
  readonly stats: PluginStats;
  /** Collectors that can wait emit at most `demand.room` events at a time. */
  readonly demand: Demand;
  /** Collectors complete once they have reached the end of what there is. */
  readonly once: boolean;
  /** A number in [0, 1): the source of every random choice, so that a seed makes a run repeatable. */
  readonly random: () => number;
}
