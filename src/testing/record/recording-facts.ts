import type { AnalyticsConfig } from '../../sdk/config.ts';
import type { PipelineState, PipelineStats } from '../../sdk/status.ts';

/** What is known of a recording beside what was recorded. */
export interface RecordingFacts {
  readonly config: AnalyticsConfig;
  readonly pipeline: string;
  /** The files of the configuration, as the recording is to name them. */
  readonly files: readonly string[];
  /** When it started: ISO 8601 UTC. */
  readonly startedAt: string;
  /** Why it ended: `--for 60s`. Undefined if the pipeline ended by itself. */
  readonly endedBy: string | undefined;
  readonly once: boolean;
  /** Seconds that events in flight had when the pipeline was stopped. Undefined if it runs on. */
  readonly drainTimeout: number | undefined;
  /** What became of the pipeline; undefined if it runs on. */
  readonly outcome: { readonly state: PipelineState; readonly stats: PipelineStats } | undefined;
  /** The state of the pipeline when the recording ended. */
  readonly stateAtEnd: PipelineState;
  /** Events that were in flight when the recording started. */
  readonly inFlightBefore: number;
  /** Real milliseconds that masking and all replays may take together. */
  readonly timeLimitMs: number;
}
