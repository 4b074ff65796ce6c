import type { CallId, EventIds, PartlyFailedCall } from '../../src/sdk/index.ts';

/** Names the events of a call: the same in every attempt to deliver them, also if they are the rest of a call. */
export interface CallIds {
  readonly call: CallId;
  /** The positions of the events in that call. Default: they are all of them. */
  readonly positions: readonly number[] | undefined;
  /** The names of the events themselves, which are the same in every call: see `EventIds`. */
  readonly events: EventIds | undefined;
}

export function callIds(id: CallId, restOf: PartlyFailedCall | undefined, events?: EventIds): CallIds {
  return { call: restOf?.id ?? id, positions: restOf?.left, events };
}

/** The name of the event at a position of a call. */
export const eventIdAt = (ids: CallIds, position: number): string =>
  ids.events?.(position) ?? `${ids.call}-${positionIn(ids, position)}`;

/** The position in the named call of the event at a position of this one. */
export const positionIn = ({ positions }: CallIds, position: number): number =>
  positions?.[position] ?? position;
