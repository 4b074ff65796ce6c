import type { ParsedEvents } from './parsed-events.ts';

/** Told of the events that do not come out, by their positions. */
export interface RowOutcomes {
  dropped(position: number): void;
  failed(position: number, error: unknown): void;
}

/**
 * What a processor makes of the rows from `start` to before `end`: for each of them what `process` returns, which is one
 * event, or none if that is told to `outcomes`. It is called for some rows at a time, in their order, and must not throw.
 */
export type RowMapping = (start: number, end: number, outcomes: RowOutcomes) => ParsedEvents;
