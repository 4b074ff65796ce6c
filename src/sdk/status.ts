/** `disabled → idle → running ⇄ backing_off → completed / failed / stopped`, as section 3 of docs/specification.md says. */
export type PipelineState =
  | 'disabled'
  | 'idle'
  | 'running'
  | 'backing_off'
  | 'completed'
  | 'failed'
  | 'stopped';

/** Whether a state is one that a pipeline leaves only by being started again. */
export function isFinal(state: PipelineState): boolean {
  return state === 'completed' || state === 'failed' || state === 'stopped';
}

/** What the manager says of a pipeline. */
export interface PipelineStatus {
  readonly pipeline: string;
  readonly state: PipelineState;
  /** When the pipeline entered the state: ISO 8601 UTC. */
  readonly since: string;
  /** Consecutive failures when it did. A run that stays up for the healthy period resets the count. */
  readonly failures: number;
  /** Milliseconds until the next run, in `backing_off`. */
  readonly retryIn?: number;
  /** What made the last run fail. It may quote events: log `safeReason(error)` of it only. */
  readonly error?: unknown;
}

/** Whether a pipeline does its work. */
export interface PipelineHealth {
  readonly pipeline: string;
  readonly state: PipelineState;
  /** False if the pipeline has not been started, has failed, waits after a failure, is stalled or is being stopped. */
  readonly isReady: boolean;
  /** Whether the pipeline makes no progress while it has events in flight. */
  readonly isStalled: boolean;
  /** What is wrong, in words, such as a forwarder that fails; empty if nothing is. */
  readonly problems: readonly string[];
}

/** Why an event went no further. */
export type DropReason =
  /** A processor gave nothing for it. */
  | 'filtered'
  /** A collector received data that it could not turn into an event. */
  | 'collector_failed'
  | 'processor_failed'
  | 'forwarder_failed'
  /** The condition of no forwarder is true for it, and no forwarder is without one. */
  | 'no_route'
  /** The condition of a forwarder could not be evaluated for it. */
  | 'route_failed'
  /** It came faster than the window takes, from a source that cannot wait. */
  | 'buffer_full';

/** Counters of a pipeline since the manager was made, restarts included. */
export interface PipelineStats {
  /** Events that collectors emitted. */
  readonly collected: number;
  /** Events that each forwarder has delivered, by its name. */
  readonly forwarded: Readonly<Record<string, number>>;
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>;
  /** Events that a full buffer has refused: their sources have been told to send them again. */
  readonly rejected: number;
  readonly dead_lettered: number;
  /** Events that became a part of another one, such as the lines of a stack trace after its first. */
  readonly joined: number;
  /** Values masked, by rule: work that was done, also on events which failed or were dropped after the mask. */
  readonly masked: Readonly<Record<string, number>>;
  /** Retries of forwarders. */
  readonly retries: number;
  /** Events that were open when a stop's deadline passed or a run was cancelled. */
  readonly given_up: number;
  /** Events open now: collected, and not acknowledged yet. */
  readonly in_flight: number;
  /** Bytes that collectors know of and have not read; undefined where none of them reads bytes. */
  readonly backlog_bytes: number | undefined;
  /**
   * Bytes that are known to have been gone before they could be read, such as those of a file that was truncated too
   * early. What was written between two looks at such a file is not among them.
   */
  readonly lost_bytes: number;
  /** Files that were gone before they were read to their ends, as far as that is known. */
  readonly lost_files: number;
  /** How often files were truncated: an unknown number of lines may be lost each time. */
  readonly truncations: number;
}
