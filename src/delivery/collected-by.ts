import { concatMap, defer, EMPTY, from, type Observable, of } from 'rxjs';
import type { Demand } from '../../operators/demand.ts';
import { pullFrom } from '../../operators/pull-from.ts';
import { type CollectedEvent, EventBatch, isEvent } from '../models/index.ts';
import { isIterable, toObservable } from '../returned.ts';

type Collected = CollectedEvent | EventBatch;

/**
 * What a collector's entry function returned, as a cold Observable: Observables as they are, iterables pulled by
 * demand, a promise for either of them, a single event.
 */
export function collectedBy(collect: () => unknown, demand: Demand): Observable<Collected> {
  return defer(() => collectedFrom(collect(), demand));
}

function collectedFrom(returned: unknown, demand: Demand): Observable<Collected> {
  if (returned === undefined || returned === null) return EMPTY;
  if (returned instanceof EventBatch || isEvent(returned)) return of(returned);
  if (typeof (returned as PromiseLike<unknown>).then === 'function') {
    return from(returned as PromiseLike<unknown>).pipe(concatMap((result) => collectedFrom(result, demand)));
  }
  const iterable = isIterable(returned) || Symbol.asyncIterator in (returned as object);
  return iterable
    ? pullFrom(returned as Iterable<Collected> | AsyncIterable<Collected>, demand)
    : toObservable(returned as Observable<Collected>);
}
