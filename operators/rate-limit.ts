import { type MonoTypeOperatorFunction, Observable, type SchedulerLike } from 'rxjs';
import { longTimer } from './long-timer.ts';
import { ABOVE_0, type Checks, COUNT, checkRequired, FUNCTION, SCHEDULER } from './support/check-options.ts';
import { steadyClock } from './support/clock.ts';
import { Fifo } from './support/fifo.ts';
import { DEFAULT_MAX_KEYS, LruMap } from './support/lru-map.ts';
import { subscribeFor } from './support/subscribe-for.ts';
import { TokenBucket } from './support/token-bucket.ts';

export interface RateLimitOptions<T> {
  /** Returns the key of a value, a string or a number. Each key has its own limit. Default: one limit for all values. */
  readonly key?: ((value: T) => unknown) | undefined;
  /** The number of values that may pass in each period … */
  readonly count: number;
  /** … of this many milliseconds, on average. */
  readonly per: number;
  /** The number of values that may pass at once after a pause. Default: `count`. */
  readonly burst?: number | undefined;
  /** `drop` values beyond the limit, or `delay` them until they may pass. Default: `drop`. */
  readonly onExceeded?: 'drop' | 'delay' | undefined;
  /** With `delay`: the maximum number of waiting values of all keys. Further values are dropped. Default: 1,000. */
  readonly maxWaiting?: number | undefined;
  /** The maximum number of remembered keys. Beyond it, the least recently used key starts with a full burst. Default: 10,000. */
  readonly maxKeys?: number | undefined;
  /** Called with each dropped value. */
  readonly onDrop?: ((value: T) => void) | undefined;
  /** The scheduler that measures time and waits. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

interface Lane<T> {
  readonly bucket: TokenBucket;
  readonly waiting: Fifo<T>;
}

const DEFAULT_MAX_WAITING = 1000;

const CHECKS: Checks<RateLimitOptions<never>> = {
  key: FUNCTION,
  count: COUNT,
  per: ABOVE_0,
  burst: COUNT,
  onExceeded: (value) => value === 'drop' || value === 'delay' || "'drop' or 'delay'",
  maxWaiting: COUNT,
  maxKeys: COUNT,
  onDrop: FUNCTION,
  scheduler: SCHEDULER,
};

/**
 * Lets `count` values pass every `per` milliseconds, by a token bucket for each key: `burst` values may pass at
 * once, and then one more for each token, evenly spaced. Values of one key keep their order, and a waiting key does not
 * delay other keys. A key with waiting values is never forgotten, and counts only towards `maxWaiting`.
 *
 * Completion waits for delayed values; an error does not.
 *
 * Use it instead of `throttleTime` when several values may pass at once, or each key has its own limit.
 *
 * Errors: what `key` or `onDrop` throws.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws RangeError if `count`, `burst`, `maxKeys` or `maxWaiting` is not an integer of at least 1, or `per` is
 * not above 0.
 *
 * @example
 * of('a', 'b', 'c').pipe(rateLimit({ count: 2, per: 1000 })); // 'a', 'b'
 * of('a', 'b', 'c').pipe(rateLimit({ count: 2, per: 1000, burst: 1, onExceeded: 'delay' }));
 * // 'a' at 0 ms, 'b' at 500 ms, 'c' at 1 s
 */
export function rateLimit<T>(options: RateLimitOptions<T>): MonoTypeOperatorFunction<T> {
  checkRequired('rateLimit', options, CHECKS, ['count', 'per']);
  const {
    key = () => undefined,
    count,
    per,
    burst = count,
    onExceeded = 'drop',
    maxWaiting = DEFAULT_MAX_WAITING,
    maxKeys = DEFAULT_MAX_KEYS,
    onDrop,
    scheduler,
  } = options;
  return (source) =>
    new Observable<T>((subscriber) => {
      const now = steadyClock(scheduler);
      const idle = new LruMap<unknown, Lane<T>>(maxKeys);
      const busy = new Map<unknown, Lane<T>>();
      const newLane = (): Lane<T> => ({
        bucket: new TokenBucket({ count, per, burst }),
        waiting: new Fifo(),
      });
      let waitingValues = 0;
      let sourceDone = false;

      const admit = (value: T) => {
        const id = key(value);
        const lane = busy.get(id) ?? idle.get(id) ?? newLane();
        if (!busy.has(id)) idle.set(id, lane);
        if (lane.waiting.size === 0 && lane.bucket.take(now())) {
          subscriber.next(value);
        } else if (onExceeded === 'drop' || waitingValues >= maxWaiting) {
          onDrop?.(value);
        } else {
          lane.waiting.push(value);
          waitingValues++;
          if (!busy.has(id)) delay(id, lane);
        }
      };

      const delay = (id: unknown, lane: Lane<T>) => {
        idle.delete(id);
        busy.set(id, lane);
        subscriber.add(longTimer(lane.bucket.wait(now()), scheduler).subscribe(() => advance(id, lane)));
      };

      const advance = (id: unknown, lane: Lane<T>) => {
        while (lane.waiting.size > 0 && lane.bucket.take(now()) && !subscriber.closed) {
          waitingValues--;
          subscriber.next(lane.waiting.shift() as T);
        }
        if (lane.waiting.size > 0) {
          delay(id, lane);
        } else {
          busy.delete(id);
          idle.set(id, lane);
        }
        if (sourceDone && waitingValues === 0) subscriber.complete();
      };

      subscribeFor(subscriber, source, {
        next: (value) => {
          try {
            admit(value);
          } catch (error) {
            subscriber.error(error);
          }
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          sourceDone = true;
          if (waitingValues === 0) subscriber.complete();
        },
      });
    });
}
