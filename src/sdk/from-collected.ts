import { concatMap, defer, EMPTY, from, type Observable, of } from 'rxjs';
import { type Demand, pullFrom } from '../../operators/index.ts';
import { MillraceError } from './errors.ts';
import { type EventBatch, isEvent, isEventBatch } from './event-batch.ts';
import type { CollectedEvent } from './events.ts';
import { isAsync, isIterable, toObservable } from './plugin.ts';
import { describeKind } from './plugin-returns.ts';

/** What a collector emits. */
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
    `collector ${name}: collect returned ${describeKind(returned)}; expected ${WANTED}`,
  );
}

function isAsyncIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
