import { Observable, type OperatorFunction, type SchedulerLike, type Subscription } from 'rxjs';
import { longTimer } from './long-timer.ts';
import { ABOVE_0, type Checks, COUNT, checkRequired, SCHEDULER } from './support/check-options.ts';
import { subscribeFor } from './support/subscribe-for.ts';

export interface BufferUntilIdleOptions {
  /** Milliseconds without a value after which a buffer is emitted. */
  readonly idle: number;
  /** The maximum number of values in a buffer. A full buffer is emitted at once. Default: 1,000. */
  readonly count?: number | undefined;
  /** The scheduler that waits. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

const CHECKS: Checks<BufferUntilIdleOptions> = { idle: ABOVE_0, count: COUNT, scheduler: SCHEDULER };

/**
 * Gathers values until none arrives for a while, and emits them together, such as the lines of one stack trace or the
 * changes of one save. A buffer is never empty. The last buffer is emitted before the completion or the error.
 *
 * Use it instead of `buffer(source.pipe(debounceTime(idle)))` when a source that never pauses must not fill the memory.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws RangeError if `idle` is not above 0, or `count` is not an integer of at least 1.
 *
 * @example
 * const line$ = merge(timer(0), timer(20), timer(300)).pipe(map((_, n) => n));
 * line$.pipe(bufferUntilIdle({ idle: 100 })); // [0, 1] at 120 ms, [2] at 300 ms
 */
export function bufferUntilIdle<T>(options: BufferUntilIdleOptions): OperatorFunction<T, T[]> {
  checkRequired('bufferUntilIdle', options, CHECKS, ['idle']);
  const { idle, count = 1000, scheduler } = options;
  return (source) =>
    new Observable<T[]>((subscriber) => {
      let values: T[] = [];
      let pause: Subscription | undefined;

      const flush = () => {
        pause?.unsubscribe();
        const buffer = values;
        values = [];
        if (buffer.length > 0) subscriber.next(buffer);
      };

      subscriber.add(() => pause?.unsubscribe());
      subscribeFor(subscriber, source, {
        next: (value) => {
          values.push(value);
          pause?.unsubscribe();
          if (values.length >= count) flush();
          else pause = longTimer(idle, scheduler).subscribe(flush);
        },
        error: (error) => {
          flush();
          subscriber.error(error);
        },
        complete: () => {
          flush();
          subscriber.complete();
        },
      });
    });
}
