import { concatMap, defer, EMPTY, from, type Observable, of } from 'rxjs';
import { pullFrom } from '../../operators/pull-from.ts';
import type { Demand } from '../../operators/support/demand.ts';
import { MillraceError } from '../sdk/errors.ts';
import { EventBatch, isEvent, isEventBatch } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { LineEvents } from '../sdk/line-events.ts';
import { isAsync, isIterable, toObservable } from '../sdk/plugin-result.ts';
import { WrittenEvents } from '../sdk/written-events.ts';

type Collected = CollectedEvent | EventBatch;

const WANTED =
  'an Observable, an iterable or async iterable of events, a promise of one of these, one event, or nothing';

/**
 * What a collector's entry function returned, as a cold Observable: Observables as they are, iterables pulled by
 * demand, a promise for either of them, a single event.
 */
export function collectedBy(collect: () => unknown, demand: Demand, name: string): Observable<Collected> {
  return defer(() => collectedFrom(collect(), demand, name));
}

function collectedFrom(returned: unknown, demand: Demand, name: string): Observable<Collected> {
  if (returned === undefined || returned === null) return EMPTY;
  if (isEventBatch(returned) || isEvent(returned)) return of(returned);
  if (typeof (returned as PromiseLike<unknown>).then === 'function') {
    return from(returned as PromiseLike<unknown>).pipe(
      concatMap((result) => collectedFrom(result, demand, name)),
    );
  }
  if (isIterable(returned) || isAsyncIterable(returned)) {
    return pullFrom(returned as Iterable<Collected> | AsyncIterable<Collected>, demand);
  }
  if (isAsync(returned)) return toObservable(returned as Observable<Collected>);
  throw new MillraceError(
    'MILLRACE_PLUGIN_RETURN',
    `collect of ${name} returned ${describeKind(returned)}; expected ${WANTED}`,
  );
}

function isAsyncIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/**
 * What a collector has emitted, as a batch.
 *
 * @throws MillraceError, fatal, for a value that is not an event: dropping it could lose data.
 */
export function expectBatch(value: unknown, collector: string): EventBatch {
  if (isEvent(value)) return new EventBatch([value]);
  if (!isEventBatch(value)) throw noEvent(`collector ${collector}`, value);
  const isOwn = (value as object) instanceof EventBatch;
  if (isOwn && isKnownEvents(value.content)) return value;
  const { events, origin } = value;
  expectEvents(events, `collector ${collector}`);
  if (isOwn) return value;
  // Of another copy of millrace, which may be another version, only what is documented is used.
  return new EventBatch(events, value.acknowledge && ((outcome) => value.acknowledge?.(outcome)), origin);
}

/** Whether the content can only be events, so that they need not be created to find out. */
function isKnownEvents(content: EventBatch['content']): boolean {
  return content instanceof LineEvents || (content instanceof WrittenEvents && content.isRecognised);
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

/** What kind of value it is, and nothing of its content. */
function describeKind(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object that is not an event' : `a ${typeof value}`;
}
