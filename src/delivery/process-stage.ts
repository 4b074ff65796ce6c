import {
  catchError,
  EMPTY,
  filter,
  map,
  type Observable,
  type OperatorFunction,
  range,
  startWith,
  tap,
} from 'rxjs';
import { orderedMap } from '../../operators/ordered-map.ts';
import { type CollectedEvent, isEvent, type LineEnvelope, type LineMapping } from '../models/index.ts';
import { atHand, eventually } from '../returned.ts';
import type { Batch, Delivery } from './delivery.ts';
import type { Drop } from './probe.ts';
import { processLines } from './process-lines.ts';

export interface ProcessStageOptions {
  readonly ordered: boolean;
  readonly drop: Drop;
  /** The plugin's entry function, bound to its context. */
  readonly process: (event: CollectedEvent) => unknown;
  /** The same for the lines of events with this envelope, if they need not be seen as events. */
  readonly mapLines: ((envelope: LineEnvelope) => LineMapping | undefined) | undefined;
  /** Takes an event that the processor failed on, with its part of the delivery. */
  readonly onFailure: (event: CollectedEvent, delivery: Delivery, error: unknown) => void;
}

type Results = readonly CollectedEvent[] | Observable<CollectedEvent>;

const NO_EVENTS: readonly CollectedEvent[] = [];
const NO_BATCHES: readonly Batch[] = [];

/** Runs one processor over each event. A batch whose results are at hand stays one batch, without an Observable. */
export function processStage(options: ProcessStageOptions): OperatorFunction<Batch, Batch> {
  const { ordered } = options;
  return orderedMap(
    (batch: Batch): readonly Batch[] | Observable<Batch> => {
      const { lines, delivery } = batch;
      const mapping = lines && options.mapLines?.(lines.envelope);
      if (lines !== undefined && mapping !== undefined) {
        return processLines(lines, mapping, delivery, options.onFailure);
      }
      const { events } = batch;
      const done: CollectedEvent[] = [];
      for (let i = 0; i < events.length; i++) {
        const results = resultsOf(events[i] as CollectedEvent, delivery, options);
        if (!Array.isArray(results)) {
          const rest = restOfBatch(events, i, results as Observable<CollectedEvent>, delivery, options);
          return done.length === 0 ? rest : rest.pipe(startWith({ events: done, delivery }));
        }
        for (let j = 0; j < results.length; j++) done.push(results[j]);
      }
      return done.length === 0 ? NO_BATCHES : [{ events: done, delivery }];
    },
    { ordered },
  );
}

/** From the first event on whose results must be waited for, events go on one by one, as soon as they may. */
function restOfBatch(
  events: readonly CollectedEvent[],
  start: number,
  first: Observable<CollectedEvent>,
  delivery: Delivery,
  options: ProcessStageOptions,
): Observable<Batch> {
  return range(start, events.length - start).pipe(
    orderedMap((i) => (i === start ? first : resultsOf(events[i] as CollectedEvent, delivery, options)), {
      ordered: options.ordered,
    }),
    map((event) => ({ events: [event], delivery })),
  );
}

/** Results of one event: an array when at hand. Accounts for events that give none, and for failures. */
function resultsOf(event: CollectedEvent, delivery: Delivery, options: ProcessStageOptions): Results {
  let returned: unknown;
  let results: readonly CollectedEvent[] | undefined;
  try {
    returned = options.process(event);
    results = atHand<CollectedEvent>(returned);
  } catch (error) {
    options.onFailure(event, delivery, error);
    return NO_EVENTS;
  }
  if (results === undefined) return awaitedResults(event, returned as Observable<unknown>, delivery, options);
  if (results.length === 1 && isEvent(results[0])) return results;
  return severalResults(event, results, delivery, options.drop);
}

function severalResults(
  event: CollectedEvent,
  results: readonly CollectedEvent[],
  delivery: Delivery,
  drop: Drop,
): readonly CollectedEvent[] {
  const valid = results.filter(isEvent);
  if (valid.length < results.length) drop('not_an_event', results.length - valid.length, []);
  if (results.length === 0) drop('filtered', 1, [event]);
  if (valid.length === 0) delivery.settle(1, 'dropped');
  else delivery.add(valid.length - 1);
  return valid;
}

/** The event itself stays open until its results have ended; each result opens one more. */
function awaitedResults(
  event: CollectedEvent,
  returned: Observable<unknown>,
  delivery: Delivery,
  { drop, onFailure }: ProcessStageOptions,
): Observable<CollectedEvent> {
  let results = 0;
  let invalid = 0;
  let failed = false;
  return eventually<CollectedEvent>(returned).pipe(
    catchError((error) => {
      failed = true;
      onFailure(event, delivery, error);
      return EMPTY;
    }),
    filter((result) => {
      if (!isEvent(result)) {
        invalid++;
        drop('not_an_event', 1, []);
        return false;
      }
      results++;
      delivery.add(1);
      return true;
    }),
    tap({
      complete: () => {
        if (failed) return;
        if (results + invalid === 0) drop('filtered', 1, [event]);
        delivery.settle(1, results === 0 ? 'dropped' : 'forwarded');
      },
    }),
  );
}
