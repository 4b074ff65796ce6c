import { type FailedEvent, safeReason } from '../src/sdk/index.ts';

/** The events of a call, encoded. */
export interface EncodedEvents<D> {
  readonly encoded: readonly D[];
  /** The position in the call of each encoded event. */
  readonly positions: readonly number[];
  /** The events that cannot be encoded. */
  readonly refused: readonly FailedEvent[];
}

/** Encodes the events of a call. An error of `encode` refuses its event alone. */
export function encodeEach<E, D>(
  events: readonly E[],
  encode: (event: E, position: number) => D,
): EncodedEvents<D> {
  const encoded: D[] = [];
  const positions: number[] = [];
  const refused: FailedEvent[] = [];
  for (const [index, event] of events.entries()) {
    try {
      encoded.push(encode(event, index));
      positions.push(index);
    } catch (error) {
      refused.push({ index, reason: safeReason(error), permanent: true });
    }
  }
  return { encoded, positions, refused };
}
