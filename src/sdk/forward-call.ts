import type { CollectedEvent } from './events.ts';

/**
 * Names the events of a call. It is the same in every attempt to deliver the same events, and no other call has it, of
 * this or of another run: a sink that stores nothing twice under one name stores nothing twice. After a partial failure
 * the rest has another one.
 *
 * It starts with the time of the first attempt, in UTC, as in `20261126T143000.123Z-…`, so that ids sort by time. The rest
 * of it consists of letters, digits and `-`. It ends with `-` and the number of the call in its run.
 */
export type CallId = string;

/**
 * A call that failed in part. The calls for its rest get it, so that a sink that stores nothing twice under one name can
 * send the same parts under the same names again.
 */
export interface PartlyFailedCall {
  readonly id: CallId;
  /** All of its events. */
  readonly events: readonly CollectedEvent[];
  /** The positions in `events` of those that are left, in their order. */
  readonly left: readonly number[];
}

/**
 * The name of each event of a call, by its position, where events come from a buffer on disk and no processor follows it. It
 * is that of the place in the buffer, so that it is the same after a crash, whatever call the event is in then. A sink that
 * stores nothing twice under one name stores each event of the buffer once. Another forwarder of the pipeline has other
 * names for the same events. The form is that of a {@link CallId}, with the time at which the event was buffered, and without
 * the number of a call.
 */
export type EventIds = (position: number) => string;
