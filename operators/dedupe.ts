import { defer, filter, type MonoTypeOperatorFunction, type SchedulerLike } from 'rxjs';
import {
  ABOVE_0,
  BOOLEAN,
  type Checks,
  COUNT,
  checkRequired,
  FUNCTION,
  SCHEDULER,
} from './support/check-options.ts';
import { steadyClock } from './support/clock.ts';
import { DEFAULT_MAX_KEYS, LruMap } from './support/lru-map.ts';

export interface DedupeOptions<T> {
  /** Returns the key of a value, a string or a number, compared as by a `Map`. Default: the value itself. */
  readonly key?: ((value: T) => unknown) | undefined;
  /** Milliseconds for which a key is remembered. */
  readonly within: number;
  /**
   * Whether a duplicate restarts the time, so that a key without pauses passes only once. By default the time runs
   * from the value that passed, so that a key passes once per `within`.
   */
  readonly sliding?: boolean | undefined;
  /** The maximum number of remembered keys. Beyond it, the key whose time ends first is forgotten. Default: 10,000. */
  readonly maxKeys?: number | undefined;
  /** Called with each duplicate. */
  readonly onDuplicate?: ((value: T) => void) | undefined;
  /** The scheduler that measures time and waits. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

const CHECKS: Checks<DedupeOptions<never>> = {
  key: FUNCTION,
  within: ABOVE_0,
  sliding: BOOLEAN,
  maxKeys: COUNT,
  onDuplicate: FUNCTION,
  scheduler: SCHEDULER,
};

/**
 * Drops values whose key has passed within the last `within` milliseconds. RxJS's `distinct` remembers every key
 * forever; `dedupe` forgets keys after that time, and remembers at most `maxKeys` keys. It sets no timer.
 *
 * Use it instead of `distinct` when the stream does not end, and instead of `distinctUntilChanged` when other values
 * come between duplicates.
 *
 * Errors: what `key` or `onDuplicate` throws.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws RangeError if `within` is not above 0, or `maxKeys` is not an integer of at least 1.
 *
 * @example
 * const line$ = timer(0, 400).pipe(take(4), map((n) => ({ host: 'a', n })));
 * line$.pipe(dedupe({ key: ({ host }) => host, within: 1000 }));
 * // { host: 'a', n: 0 } at 0 ms,
 * // { host: 'a', n: 3 } at 1.2 s
 */
export function dedupe<T>(options: DedupeOptions<T>): MonoTypeOperatorFunction<T> {
  checkRequired('dedupe', options, CHECKS, ['within']);
  const {
    key = (value) => value,
    within,
    sliding,
    maxKeys = DEFAULT_MAX_KEYS,
    onDuplicate,
    scheduler,
  } = options;
  return (source) =>
    defer(() => {
      const now = steadyClock(scheduler);
      /** When each key may pass again, in that order. Keys whose time is over stay until they are replaced. */
      const ends = new LruMap<unknown, number>(maxKeys);

      return source.pipe(
        filter((value) => {
          const id = key(value);
          const time = now();
          const isDuplicate = (ends.peek(id) as number) > time;
          if (!isDuplicate || sliding) ends.set(id, time + within);
          if (isDuplicate) onDuplicate?.(value);
          return !isDuplicate;
        }),
      );
    });
}
