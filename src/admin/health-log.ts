import { steadyClock } from '../../operators/internal.ts';
import { elapsedText, reminderAt } from '../engine/retry-log.ts';
import type { Logger } from '../sdk/context.ts';
import type { PipelineHealth } from '../sdk/status.ts';

interface Stall {
  readonly elapsed: () => number;
  reminders: number;
}

/**
 * Logs that a pipeline makes no progress, again at growing intervals while that lasts, and when it makes progress again.
 * Failures are logged where they happen; a call that never ends shows only here.
 */
export class HealthLog {
  readonly #logger: Logger;
  readonly #stalls = new Map<string, Stall>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** To be called every few seconds. */
  update(pipelines: readonly PipelineHealth[]): void {
    for (const { pipeline, state, isStalled, problems } of pipelines) {
      const stall = this.#stalls.get(pipeline);
      // A failure that keeps it from making progress is logged where it happens.
      if (isStalled && problems.length === 1) this.#stalled(pipeline, problems);
      else if (stall !== undefined) {
        this.#stalls.delete(pipeline);
        if (state === 'running') {
          this.#logger.info(
            `${pipeline}: makes progress again after another ${elapsedText(stall.elapsed())}`,
          );
        }
      }
    }
  }

  #stalled(pipeline: string, problems: readonly string[]): void {
    const stall = this.#stalls.get(pipeline) ?? { elapsed: steadyClock(), reminders: 0 };
    const isNew = !this.#stalls.has(pipeline);
    this.#stalls.set(pipeline, stall);
    const ms = stall.elapsed();
    if (!isNew && ms < reminderAt(stall.reminders)) return;
    while (ms >= reminderAt(stall.reminders)) stall.reminders++;
    this.#logger.warn(`${pipeline}: ${problems.join('; ')}`);
  }
}
