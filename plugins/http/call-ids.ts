import type { CallId, PartlyFailedCall } from '../../src/sdk/index.ts';

/** Names the events of a call: the same in every attempt to deliver them, also if they are the rest of a call. */
export interface CallIds {
  readonly call: CallId;
  /** The positions of the events in that call. Default: they are all of them. */
  readonly positions: readonly number[] | undefined;
}

export function callIds(id: CallId, restOf: PartlyFailedCall | undefined): CallIds {
  return restOf === undefined
    ? { call: id, positions: undefined }
    : { call: restOf.id, positions: restOf.left };
}

/** The position in the named call of the event at a position of this one. */
export const positionIn = ({ positions }: CallIds, position: number): number =>
  positions?.[position] ?? position;
