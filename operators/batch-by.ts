import { Observable, type OperatorFunction, type SchedulerLike, type Subscription } from 'rxjs';
import { longTimer } from './long-timer.ts';
import { byteLength } from './support/byte-length.ts';
import {
  ABOVE_0,
  argumentError,
  type Checks,
  COUNT,
  checkOptions,
  checkValue,
  FROM_0,
  FUNCTION,
  SCHEDULER,
} from './support/check-options.ts';
import { subscribeFor } from './support/subscribe-for.ts';

export interface BatchOptions<T> {
  /** The maximum number of values in a batch. */
  readonly count?: number | undefined;
  /** The maximum number of bytes in a batch. A larger value is emitted in its own batch. */
  readonly bytes?: number | undefined;
  /** The maximum time in milliseconds from the first value of a batch to its emission. */
  readonly within?: number | undefined;
  /** Returns the bytes of a value, for `bytes`. Default: those of a string in UTF-8, or of any other value as JSON. */
  readonly sizeOf?: ((value: T) => number) | undefined;
  /** The scheduler that measures time and waits. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

const CHECKS: Checks<BatchOptions<never>> = {
  count: COUNT,
  bytes: ABOVE_0,
  within: ABOVE_0,
  sizeOf: FUNCTION,
  scheduler: SCHEDULER,
};

/**
 * Gathers values into arrays. A batch is emitted as soon as it reaches any of its bounds, and is never empty. The last
 * batch is emitted before the completion or the error, so no value is lost.
 *
 * Values in a batch count as open: after an {@link InFlightWindow} that is smaller than `count` and `bytes` allow,
 * only `within` causes a batch to be emitted.
 *
 * Use it instead of `bufferTime` when you do not need empty batches, when bytes count, or when an error must not
 * lose earlier values.
 *
 * Errors: what `sizeOf` throws, and a RangeError if it does not return a number of at least 0, after the values before it.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws TypeError without any bound.
 * @throws RangeError if `count` is not an integer of at least 1, or `bytes` or `within` is
 * not above 0.
 *
 * @example
 * range(1, 5).pipe(batchBy({ count: 2 })); // [1, 2], [3, 4], [5]
 * of('ab', 'cd', 'e').pipe(batchBy({ bytes: 3 })); // ['ab'], ['cd', 'e']
 * interval(400).pipe(batchBy({ count: 100, within: 1000 })); // [0, 1, 2] at 1.4 s, [3, 4, 5] at 2.6 s, …
 */
export function batchBy<T>(options: BatchOptions<T>): OperatorFunction<T, T[]> {
  checkOptions('batchBy', options, CHECKS);
  const { count, bytes, within, sizeOf = byteLength, scheduler } = options;
  if (count === undefined && bytes === undefined && within === undefined) {
    throw argumentError(TypeError, 'batchBy: it needs a bound: count, bytes or within');
  }
  return (source) =>
    new Observable<T[]>((subscriber) => {
      let batch: T[] = [];
      let batchBytes = 0;
      let deadline: Subscription | undefined;

      const isFull = () => batch.length === count || (bytes !== undefined && batchBytes >= bytes);

      const cut = (): T[] => {
        deadline?.unsubscribe();
        const cutOff = batch;
        batch = [];
        batchBytes = 0;
        return cutOff;
      };

      const leave = () => {
        if (batch.length > 0) subscriber.next(cut());
      };

      const fail = (error: unknown) => {
        leave();
        subscriber.error(error);
      };

      const add = (value: T, size: number) => {
        const hasRoom = !isFull() && (bytes === undefined || batchBytes + size <= bytes);
        const before = hasRoom || batch.length === 0 ? undefined : cut();
        batch.push(value);
        batchBytes += size;
        if (batch.length === 1 && within !== undefined && !isFull()) {
          deadline = longTimer(within, scheduler).subscribe(leave);
          subscriber.add(deadline);
        }
        // Not before the value has its place: the consumer may make the source emit again.
        if (before !== undefined) subscriber.next(before);
        if (isFull()) leave();
      };

      subscribeFor(subscriber, source, {
        next: (value) => {
          let size = 0;
          try {
            if (bytes !== undefined) {
              size = sizeOf(value);
              checkValue('batchBy', 'the result of sizeOf', size, FROM_0);
            }
          } catch (error) {
            fail(error);
            return;
          }
          add(value, size);
        },
        error: fail,
        complete: () => {
          leave();
          subscriber.complete();
        },
      });
    });
}
