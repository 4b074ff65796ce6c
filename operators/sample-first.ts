import { defer, filter, type MonoTypeOperatorFunction, type SchedulerLike } from 'rxjs';
import { ABOVE_0, type Checks, COUNT, checkOptions, FUNCTION, SCHEDULER } from './support/check-options.ts';
import { steadyClock } from './support/clock.ts';
import { DEFAULT_MAX_KEYS, LruMap } from './support/lru-map.ts';

export interface SampleFirstOptions<T> {
  /** Returns the key of a value, a string or a number. Each key is counted separately. Default: all values together. */
  readonly key?: ((value: T) => unknown) | undefined;
  /** The number of values that pass at the start of each window. Default: 1. */
  readonly first?: number | undefined;
  /** Of the values after the first ones, every `every`-th passes as well. Default: none. */
  readonly every?: number | undefined;
  /** The length of a window in milliseconds. It starts with the first value of a key. Default: one endless window. */
  readonly per?: number | undefined;
  /** The maximum number of remembered keys. Beyond it, the least recently used key is forgotten. Default: 10,000. */
  readonly maxKeys?: number | undefined;
  /** The scheduler that measures time and waits. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

const CHECKS: Checks<SampleFirstOptions<never>> = {
  key: FUNCTION,
  first: COUNT,
  every: COUNT,
  per: ABOVE_0,
  maxKeys: COUNT,
  scheduler: SCHEDULER,
};

interface Counted {
  readonly end: number;
  values: number;
}

/**
 * Samples by counting: passes the first values of every key in each time window, and then every nth value, as loggers do
 * against floods. Rare values all pass, and frequent values are thinned out. It sets no timer.
 *
 * Use it instead of `throttleTime` when the first few values of each key, and some of the others, must pass.
 *
 * Errors: what `key` throws.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws RangeError if `first`, `every` or `maxKeys` is not an integer of at least 1, or `per` not above 0.
 *
 * @example
 * range(1, 9).pipe(sampleFirst({ first: 2, every: 3 })); // 1, 2, 5, 8
 * of('a', 'a', 'b', 'a').pipe(sampleFirst({ key: (word) => word, first: 1, per: 1000 })); // 'a', 'b'
 */
export function sampleFirst<T>(options: SampleFirstOptions<T>): MonoTypeOperatorFunction<T> {
  checkOptions('sampleFirst', options, CHECKS);
  const { key = () => undefined, first = 1, every, per, maxKeys = DEFAULT_MAX_KEYS, scheduler } = options;
  return (source) =>
    defer(() => {
      const now = steadyClock(scheduler);
      const windows = new LruMap<unknown, Counted>(maxKeys);
      return source.pipe(
        filter((value) => {
          const id = key(value);
          let window = windows.get(id);
          if (window === undefined || (per !== undefined && window.end <= now())) {
            window = { end: per === undefined ? Number.POSITIVE_INFINITY : now() + per, values: 0 };
            windows.set(id, window);
          }
          const later = ++window.values - first;
          return later <= 0 || (every !== undefined && later % every === 0);
        }),
      );
    });
}
