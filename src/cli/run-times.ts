import type { Observable, Subscription } from 'rxjs';
import { steadyClock } from '../../operators/support/steady-clock.ts';
import type { PipelineState, PipelineStatus } from '../sdk/status.ts';

/** States that a pipeline leaves only when it is started anew. */
export const FINAL_STATES: readonly PipelineState[] = ['completed', 'failed', 'stopped'];

/** When each pipeline began to run and when it ended, by a clock that nobody can set. */
export class RunTimes {
  readonly #now = steadyClock();
  readonly #spans = new Map<string, { begin: number; end: number | undefined }>();

  /** Follows the manager's states; to be called before it starts anything. */
  follow(states$: Observable<PipelineStatus>): Subscription {
    return states$.subscribe(({ pipeline, state }) => {
      const span = this.#spans.get(pipeline);
      if (state === 'running' && span === undefined) {
        this.#spans.set(pipeline, { begin: this.#now(), end: undefined });
      } else if (span !== undefined) {
        span.end = FINAL_STATES.includes(state) ? this.#now() : undefined;
      }
    });
  }

  /** Milliseconds from a pipeline's first start to its end, or to now. */
  elapsed(pipeline: string): number {
    const span = this.#spans.get(pipeline);
    return span === undefined ? 0 : (span.end ?? this.#now()) - span.begin;
  }
}
