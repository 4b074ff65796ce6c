import { Observable, type OperatorFunction } from 'rxjs';
import type { WorkerProcessor } from '../lines/protocol.ts';
import { WorkerPool } from '../lines/worker-pool.ts';
import { safeReason } from '../sdk/errors.ts';
import type { Logger } from '../sdk/models.ts';
import type { Batch } from './delivery.ts';
import { type WorkerStageOptions, workerStage } from './worker-stage.ts';

export interface InWorkersOptions extends Omit<WorkerStageOptions, 'pool'> {
  readonly workers: number;
  readonly processors: readonly WorkerProcessor[];
  /** The name of each processor in the configuration. */
  readonly names: readonly string[];
  readonly pipeline: string;
  readonly logger: Logger;
}

/** {@link workerStage} with workers of its own, from subscription to its end. */
export function inWorkers(options: InWorkersOptions): OperatorFunction<Batch, Batch> {
  const { workers, processors, names, pipeline, logger } = options;
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
          logger.warn(taskRefused(pipeline, names[processor] as string, member));
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
  return `${pipeline}: a worker ended${why}; what it had begun is done by the main thread; ${next}`;
}

function taskRefused(pipeline: string, name: string, member: string): string {
  return (
    `${pipeline}: processor ${name} declares \`runsInWorkers\` but uses ctx.${member}, which workers do not have: the ` +
    'main thread processes such lines instead. Use only ctx.config and ctx.stats, or remove `runsInWorkers`'
  );
}
