import {
  catchError,
  concatMap,
  defer,
  finalize,
  type Observable,
  type OperatorFunction,
  of,
  throwError,
} from 'rxjs';
import { orderedMap } from '../../operators/ordered-map.ts';
import { type TakenResult, WorkerLost, type WorkerPool } from '../lines/worker-pool.ts';
import { PluginError } from '../sdk/errors.ts';
import { type CollectedEvent, LineEvents, WrittenEvents } from '../sdk/models.ts';
import { type Batch, type Delivery, LazyBatch } from './delivery.ts';

export interface WorkerStageOptions {
  readonly ordered: boolean;
  readonly pool: WorkerPool;
  /** All processors, in this thread. */
  readonly inThisThread: OperatorFunction<Batch, Batch>;
  readonly onMasked: (rule: string, count: number) => void;
  readonly onFiltered: (count: number) => void;
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
  /** Batches that this thread has begun. One at a time, beside those that nobody else can do. */
  let here = 0;
  return orderedMap(
    (batch: Batch): Observable<Batch> => {
      const here$ = defer(() => {
        here++;
        return of(batch).pipe(inThisThread);
      }).pipe(finalize(() => here--));
      const { lazy, delivery } = batch;
      if (!(lazy instanceof LineEvents) || lazy.texts.bytes === undefined) return here$;
      if (!pool.isReady || (!pool.isHungry && here === 0)) return here$;
      const { bytes, size } = lazy.texts;
      const { envelope } = lazy;
      return pool.run({ bytes, size, envelope }).pipe(
        catchError((error) => (error instanceof WorkerLost ? of(undefined) : throwError(() => error))),
        // Once acknowledged, a batch must not be done again: its events would be counted and acknowledged twice.
        concatMap((result) => (result === undefined ? here$ : withResult(result, lazy, delivery, options))),
      );
    },
    { ordered },
  );
}

function withResult(
  { documents, size, masked, filtered, failures, release }: TakenResult,
  { size: lines, envelope: { timestamp, source, backfill } }: LineEvents,
  delivery: Delivery,
  { onMasked, onFiltered, onFailure }: WorkerStageOptions,
): readonly Batch[] {
  for (const [, rule, count] of masked) onMasked(rule, count);
  delivery.add(size + filtered + failures.length - lines);
  if (filtered > 0) {
    onFiltered(filtered);
    delivery.acknowledge(filtered, 'dropped');
  }
  for (const { processor, reason } of failures) {
    const event = { timestamp, data: { source }, backfill };
    onFailure(processor, event, delivery, new PluginError(reason));
  }
  if (size === 0) {
    release();
    return [];
  }
  let isKept = false;
  const events = new WrittenEvents(documents, size, () => {
    isKept = true;
  });
  return [
    new LazyBatch(
      events,
      delivery.share(size, () => isKept || release()),
    ),
  ];
}
