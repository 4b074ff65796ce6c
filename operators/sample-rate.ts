import { filter, type MonoTypeOperatorFunction } from 'rxjs';
import type { RandomOptions } from './delay-range.ts';
import { type Checks, checkRequired, draw, FUNCTION, INTEGER, UNIT } from './support/check-options.ts';
import { hashToUnit } from './support/hash-to-unit.ts';

export interface SampleRateOptions<T> extends RandomOptions {
  /** The share of values that pass, in [0, 1]. Without a key, `random` decides for each value. */
  readonly rate: number;
  /** Returns the key of a value. The share then applies to keys: all values of a key pass, or none, and no key is stored. */
  readonly key?: ((value: T) => string | number) | undefined;
  /** An integer that selects the keys: the same seed selects the same keys on all machines. Default: 0. */
  readonly seed?: number | undefined;
}

const CHECKS: Checks<SampleRateOptions<never>> = {
  random: FUNCTION,
  rate: UNIT,
  key: FUNCTION,
  seed: INTEGER,
};

/**
 * Samples a share of the values. With a key, such as a trace or a user, it samples a share of the keys with all of their
 * values. It selects keys by their hash, so it needs no memory, and several services select the same keys.
 *
 * Use it instead of `filter` with `Math.random` when either all values of a key or none must pass.
 *
 * Errors: what `key` or `random` throws, and a RangeError if `random` does not return a number in [0, 1].
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws RangeError if `rate` is not in [0, 1], or `seed` is not an integer.
 *
 * @example
 * const draws = [0.7, 0.1];
 * of('a', 'b').pipe(sampleRate({ rate: 0.5, random: () => draws.shift() })); // 'b'
 * of('req-1', 'req-2', 'req-4', 'req-1').pipe(sampleRate({ rate: 0.5, key: (id) => id })); // 'req-1', 'req-1'
 */
export function sampleRate<T>(options: SampleRateOptions<T>): MonoTypeOperatorFunction<T> {
  checkRequired('sampleRate', options, CHECKS, ['rate']);
  const { rate, key, random = Math.random, seed = 0 } = options;
  const unitOf = (value: T) =>
    key === undefined ? draw('sampleRate', random) : hashToUnit(String(key(value)), seed);
  return filter((value) => unitOf(value) < rate);
}
