import { failedEventsOf, isUnfinished } from '../sdk/errors.ts';
import { unserialisableEvent } from '../sdk/serialise.ts';
import type { Batches } from './batches.ts';

/** The events of a call that failed in part. Positions are those of its events. */
export interface SplitCall {
  readonly delivered: Batches;
  /** The events that can never be delivered, with their errors. */
  readonly lost: ReadonlyMap<number, unknown>;
  /** The events that may be delivered later. */
  readonly rest: Batches;
  /** The positions of the rest, with their errors. */
  readonly restErrors: ReadonlyMap<number, unknown>;
  /** The rest was not tried: it is sent at once, and this does not count as a failed attempt. */
  readonly isUntried: boolean;
  /** Whether the forwarder got any of the events. */
  readonly wasSent: boolean;
}

/** Says which events of a call have failed; undefined if the error does not tell. `failsInPart`: whether it may name them. */
export function splitFailed(batches: Batches, error: unknown, failsInPart: boolean): SplitCall | undefined {
  return splitUnserialisable(batches, error) ?? (failsInPart ? splitNamed(batches, error) : undefined);
}

/** An event that has no JSON form was in the way of all others. */
function splitUnserialisable(batches: Batches, error: unknown): SplitCall | undefined {
  const unserialisable = unserialisableEvent(error);
  if (unserialisable === undefined) return undefined;
  const lost = new Map<number, unknown>();
  const restErrors = new Map<number, unknown>();
  for (const [position, event] of batches.events.entries()) {
    (event === unserialisable ? lost : restErrors).set(position, error);
  }
  if (lost.size === 0) return undefined;
  const delivered = batches.slice(0, 0);
  const rest = batches.select((position) => restErrors.has(position));
  return { delivered, lost, rest, restErrors, isUntried: true, wasSent: false };
}

/** The error names the events that failed. */
function splitNamed(batches: Batches, error: unknown): SplitCall | undefined {
  const failed = failedEventsOf(error, batches.size);
  if (failed === undefined) return undefined;
  const lost = new Map<number, unknown>();
  const restErrors = new Map<number, unknown>();
  for (const [position, failure] of failed) {
    (failure.permanent ? lost : restErrors).set(position, failure.error);
  }
  const delivered = batches.select((position) => !failed.has(position));
  const rest = batches.select((position) => restErrors.has(position));
  // Without the second condition, a call that does nothing would be made without end.
  const isUntried = isUnfinished(error) && rest.size < batches.size;
  return { delivered, lost, rest, restErrors, isUntried, wasSent: true };
}
