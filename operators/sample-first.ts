import { defer, filter, type MonoTypeOperatorFunction, type SchedulerLike } from 'rxjs';
import { ABOVE_0, type Checks, COUNT, checkOptions, FUNCTION, SCHEDULER } from './support/check-options.ts';
import { steadyClock } from './support/clock.ts';
import { DEFAULT_MAX_KEYS, LruMap } from './support/lru-map.ts';

export interface SampleFirstOptions<T> {
  /** Values of each key are counted apart: a string or a number. Default: all are counted together. */
  readonly key?: ((value: T) => unknown) | undefined;
  /** How many values of a window pass. Default: 1. */
  readonly first?: number | undefined;
  /** Of those after the first ones, every `every`-th passes as well. Default: none. */
  readonly every?: number | undefined;
  /** Milliseconds of a window, which starts with a key's first value. Default: one window without end. */
  readonly per?: number | undefined;
  /** Keys remembered at most; beyond it, the one unused for longest is forgotten and counts from the start. Default: 10,000. */
  readonly maxKeys?: number | undefined;
  /** What time is measured and waited by. Default: `asyncScheduler`. */
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
 * Samples by counting: the first values of every key in each window of time, then every so-manieth, as loggers do
 * against floods. What is rare is seen in full, what is frequent is thinned out. It sets no timer.
 *
 * Use it instead of `throttleTime` when the first few values of each key are to pass, and some of the others.
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
