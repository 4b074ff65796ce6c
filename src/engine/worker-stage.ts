import {
  catchError,
  concatMap,
  defer,
  finalize,
  Observable,
  type OperatorFunction,
  of,
  throwError,
} from 'rxjs';
import { orderedMap } from '../../operators/index.ts';
import type { Logger } from '../sdk/context.ts';
import { PluginError, safeReason } from '../sdk/errors.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { LineEvents } from '../sdk/line-events.ts';
import { WrittenEvents } from '../sdk/rows.ts';
import type { LineResult, WorkerProcessor } from '../worker-pool/protocol.ts';
import { WorkerLost, WorkerPool } from '../worker-pool/worker-pool.ts';
import type { Batch } from './batches.ts';
import type { Delivery } from './delivery.ts';
import { type Observers, type StagePlace, TravelForms } from './observer.ts';

interface WorkerStageOptions {
  readonly ordered: boolean;
  readonly pool: WorkerPool;
  /** All processors, in this thread. */
  readonly inThisThread: OperatorFunction<Batch, Batch>;
  readonly places: readonly StagePlace[];
  readonly observer: Observers;
  readonly onMasked: (processor: number, rule: string, count: number) => void;
  /** Takes an event that a processor failed on. It comes without its line, which no mask has passed. */
  readonly onFailure: (processor: number, event: CollectedEvent, delivery: Delivery, error: unknown) => void;
}

/**
 * Runs all processors over lines in workers, which write them as JSON as well, and in this thread: it takes part when
 * every worker has enough to do. Other events go through the processors in this thread, and so do lines while no
 * worker is ready, and those whose worker was lost.
 */
export function workerStage(options: WorkerStageOptions): OperatorFunction<Batch, Batch> {
  const { ordered, pool, inThisThread } = options;
  /** Batches that this thread works on. One at a time, beside those that no worker can do. */
  let here = 0;
  const forms = options.places.map((place) => new TravelForms(place, options.observer));
  return orderedMap(
    (batch: Batch): Observable<Batch> => {
      const here$ = defer(() => {
        here++;
        return of(batch).pipe(inThisThread);
      }).pipe(finalize(() => here--));
      const { rows, delivery } = batch;
      const { lines } = rows;
      const bytes = lines?.texts.bytes;
      if (lines === undefined || bytes === undefined || lines.envelope.isTruncated) return here$;
      if (!pool.isReady || (!pool.isHungry && here === 0)) return here$;
      const { size, envelope } = lines;
      for (const each of forms) each.tell('workers');
      return pool.run({ bytes, size, envelope }).pipe(
        catchError((error) => (error instanceof WorkerLost ? of(undefined) : throwError(() => error))),
        // Once acknowledged, a batch must not be done again: its events would be counted and acknowledged twice.
        concatMap((result) => (result === undefined ? here$ : withResult(result, lines, delivery, options))),
      );
    },
    { ordered },
  );
}

function withResult(
  { documents, size, masked, received, filtered, failures }: LineResult,
  { size: lines, envelope: { timestamp, source, backfill } }: LineEvents,
  delivery: Delivery,
  { places, observer, onMasked, onFailure }: WorkerStageOptions,
): readonly Batch[] {
  for (const counts of masked) onMasked(...counts);
  let dropped = 0;
  for (const [processor, place] of places.entries()) {
    observer.received(place, received[processor] ?? 0);
    observer.left(place, received[processor + 1] ?? size, NO_EVENTS);
    const count = filtered[processor] ?? 0;
    if (count > 0) observer.dropped(place, 'filtered', count, NO_EVENTS);
    dropped += count;
  }
  delivery.add(size + dropped + failures.length - lines);
  if (dropped > 0) delivery.acknowledge(dropped, 'dropped');
  for (const { processor, reason } of failures) {
    const event = { timestamp, data: { source }, backfill };
    onFailure(processor, event, delivery, new PluginError(reason));
  }
  if (size === 0) return [];
  const bytes = Buffer.from(documents.buffer, documents.byteOffset, documents.length);
  return [{ rows: new WrittenEvents(bytes, size), delivery }];
}

/** The events were processed in a worker, and are not here. */
const NO_EVENTS = () => [];

interface InWorkersOptions extends Omit<WorkerStageOptions, 'pool'> {
  readonly workers: number;
  readonly processors: readonly WorkerProcessor[];
  readonly pipeline: string;
  readonly logger: Logger;
}

/** {@link workerStage} with workers of its own, from subscription to its end. */
export function inWorkers(options: InWorkersOptions): OperatorFunction<Batch, Batch> {
  const { workers, processors, places, pipeline, logger } = options;
  return (batches$) =>
    new Observable((subscriber) => {
      let isReported = false;
      const pool = new WorkerPool({
        size: workers - 1,
        processors,
        onLost: (error, isReplaced) => logger.error(workerLost(pipeline, error, isReplaced)),
        onRefused: ({ processor, member }) => {
          if (isReported) return;
          isReported = true;
          logger.warn(taskRefused(pipeline, (places[processor] as StagePlace).name, member));
        },
      });
      subscriber.add(() => pool.close());
      subscriber.add(batches$.pipe(workerStage({ ...options, pool })).subscribe(subscriber));
    });
}

function workerLost(pipeline: string, error: unknown, isReplaced: boolean): string {
  const next = isReplaced
    ? 'another one takes its place'
    : 'none takes its place, so that the main thread does its work from now on';
  const why = error === undefined ? '' : ` (${safeReason(error)})`;
  return `${pipeline}: a worker ended${why}; the main thread does its unfinished work; ${next}`;
}

function taskRefused(pipeline: string, name: string, member: string): string {
  return (
    `${pipeline}: processor ${name} declares the trait \`pure\` but uses ctx.${member}, which workers do not have: the ` +
    'main thread processes such lines instead. Use only ctx.config and ctx.stats, or remove the trait'
  );
}
