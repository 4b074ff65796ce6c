import {
  count as counted,
  lastValueFrom,
  map,
  mergeMap,
  Observable,
  type ObservableInput,
  of,
  range,
  reduce,
} from 'rxjs';
import type { CollectedEvent } from '../../src/index.ts';
import { BATCH, type Engine, syntheticBatch, syntheticEvent } from './engine.ts';

/** Plain RxJS: each event by itself through `mergeMap` twice. No deliveries, no bounds. */
function merging(pass: (event: CollectedEvent) => ObservableInput<CollectedEvent>): Engine {
  return (count) =>
    lastValueFrom(range(0, count).pipe(map(syntheticEvent), mergeMap(pass), mergeMap(pass), counted()));
}

export const mergeMapOf = merging((event) => of(event));
export const mergeMapArray = merging((event) => [event]);

/** Plain RxJS over arrays of events: what batches alone are worth. */
export const rxjsBatches: Engine = (count) =>
  lastValueFrom(
    batches(count).pipe(
      map((events) => events.map((event) => event)),
      map((events) => events.map((event) => event)),
      reduce((sum, events) => sum + events.length, 0),
    ),
  );

function batches(count: number): Observable<readonly CollectedEvent[]> {
  return new Observable((subscriber) => {
    for (let made = 0; made < count; made += BATCH) {
      subscriber.next(syntheticBatch(made, count));
    }
    subscriber.complete();
  });
}
