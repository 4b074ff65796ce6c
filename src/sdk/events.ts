import * as z from 'zod';
import { isoNow } from '../../operators/internal.ts';
import { dateTime, path } from './schema-parts.ts';

const anyObject = () => z.record(z.string(), z.unknown());

/** The base of all events that pass through a pipeline: docs/specification.md#24-collectedevent. */
export const CollectedEvent = z.object({
  timestamp: dateTime().default(isoNow),
  data: anyObject(),
});
export type CollectedEvent = Readonly<z.output<typeof CollectedEvent>>;

/** One line of a file: docs/specification.md#27-collect-plugins-and-their-events. */
export const CollectedLineEvent = CollectedEvent.extend({
  data: z.object({ line: z.string(), source: path() }),
  backfill: z.boolean().default(false),
});
export type CollectedLineEvent = Readonly<z.output<typeof CollectedLineEvent>>;

/** One beacon event of the host event bus: docs/specification.md#27-collect-plugins-and-their-events. */
export const BeaconCollectedEvent = CollectedEvent.extend({
  beacon: z.string(),
  tag: z.string(),
  stamp: dateTime(),
  raw_data: anyObject(),
});
export type BeaconCollectedEvent = Readonly<z.output<typeof BeaconCollectedEvent>>;

/** An event of the host event bus: docs/specification.md#25-hostevent. */
export const HostEvent = z.object({
  tag: z.string(),
  stamp: dateTime(),
  data: anyObject(),
  raw_data: anyObject(),
});
export type HostEvent = Readonly<z.output<typeof HostEvent>>;

/**
 * A new event, stamped with the scheduler's time unless a timestamp is given.
 *
 * @example
 * collectedEvent({ user: 'ada' }, '2026-01-01T00:00:00.000Z');
 * // { timestamp: '2026-01-01T00:00:00.000Z', data: { user: 'ada' } }
 */
export function collectedEvent(data: CollectedEvent['data'], timestamp: string = isoNow()): CollectedEvent {
  return { timestamp, data };
}
