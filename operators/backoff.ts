import { type Checks, checkRequired, draw, FROM_0, FUNCTION } from './support/check-options.ts';

/** Exponential backoff with full jitter: a random wait up to `base · 2^(failures − 1)`, never above `cap`. */
export interface Backoff {
  /** Milliseconds: the longest wait after the first failure. */
  readonly base: number;
  /** Milliseconds: the longest wait after any failure. */
  readonly cap: number;
  /** A number in [0, 1). Default: Math.random. */
  readonly random?: (() => number) | undefined;
}

const CHECKS: Checks<Backoff> = { base: FROM_0, cap: FROM_0, random: FUNCTION };

/**
 * The wait after the given number of consecutive failures, in whole milliseconds.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws RangeError if `base` or `cap` is not a finite number of at least 0, or `random` does not return a number in [0, 1].
 *
 * @example
 * backoffDelay(3, { base: 1000, cap: 60_000, random: () => 0.5 }); // 2000
 */
export function backoffDelay(failures: number, backoff: Backoff): number {
  checkRequired('backoffDelay', backoff, CHECKS, ['base', 'cap']);
  const { base, cap, random = Math.random } = backoff;
  // 2 ** 52 is beyond any cap, and keeps a base of 0 at 0.
  return Math.round(draw('backoffDelay', random) * Math.min(cap, base * 2 ** Math.min(failures - 1, 52)));
}
