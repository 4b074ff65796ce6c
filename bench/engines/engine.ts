import type { CollectedEvent } from '../../src/index.ts';

/** Sends so many events from a source through two stages that change nothing to an end that counts them. */
export type Engine = (count: number) => Promise<number>;

const TIMESTAMP = '2026-01-01T00:00:00.000Z';

/** The same work for each engine: a new event, with a number of its own. */
export function syntheticEvent(n: number): CollectedEvent {
  return { timestamp: TIMESTAMP, data: { n } };
}

/** How many events travel together where an engine has batches. */
export const BATCH = 256;

/** {@link syntheticEvent} for the next `BATCH` numbers from `start`, or fewer. */
export function syntheticBatch(start: number, end: number): readonly CollectedEvent[] {
  const events: CollectedEvent[] = [];
  for (let n = start; n < Math.min(start + BATCH, end); n++) events.push(syntheticEvent(n));
  return events;
}
