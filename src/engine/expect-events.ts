import { MillraceError } from '../sdk/errors.ts';
import { EventBatch, isEvent, isEventBatch } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { describeKind } from '../sdk/plugin-returns.ts';

/**
 * What a collector has emitted, as a batch.
 *
 * @throws MillraceError, fatal, for a value that is not an event: dropping it could lose data.
 */
export function expectBatch(value: unknown, collector: string): EventBatch {
  if (isEvent(value)) return new EventBatch([value]);
  if (!isEventBatch(value)) throw noEvent(`collector ${collector}`, value);
  const isOwn = (value as object) instanceof EventBatch;
  if (isOwn && value.rows.areEvents) return value;
  const { events, origin } = value;
  expectEvents(events, `collector ${collector}`);
  if (isOwn) return value;
  // Of another copy of millrace, which may be another version, only what is documented is used.
  return new EventBatch(events, value.acknowledge && ((outcome) => value.acknowledge?.(outcome)), origin);
}

/** @throws MillraceError, fatal, for the first value that is not an event. `who` is `processor parse`, say. */
export function expectEvents(
  values: readonly unknown[],
  who: string,
): asserts values is readonly CollectedEvent[] {
  for (let i = 0; i < values.length; i++) if (!isEvent(values[i])) throw noEvent(who, values[i]);
}

function noEvent(who: string, value: unknown): MillraceError {
  const error = new MillraceError(
    'MILLRACE_PLUGIN_RETURN',
    `${who} emitted ${describeKind(value)}; expected events: objects of the form \`{ data: { … } }\`. ` +
      'The run fails, because what was meant cannot be told; correct the plugin',
  );
  return Object.assign(error, { fatal: true });
}
