import { concatMap, defer, EMPTY, from, type Observable, of } from 'rxjs';
import { pullFrom } from '../../operators/pull-from.ts';
import type { Demand } from '../../operators/support/demand.ts';
import { MillraceError } from '../sdk/errors.ts';
import { type CollectedEvent, type EventBatch, isEvent, isEventBatch } from '../sdk/models.ts';
import { isAsync, isIterable, toObservable } from '../sdk/plugin-result.ts';
import { describeKind } from './expect-events.ts';

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
    `collect of ${name} returned ${describeKind(returned)}; wanted ${WANTED}`,
  );
}

function isAsyncIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
