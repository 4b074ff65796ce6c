/** Exponential backoff with full jitter: a random wait up to `base · 2^(failures − 1)`, never above `cap`. */
export interface Backoff {
  /** Milliseconds: the longest wait after the first failure. */
  readonly base: number;
  /** Milliseconds: the longest wait at all. */
  readonly cap: number;
  /** A number in [0, 1). Default: Math.random. */
  readonly random?: () => number;
}

/**
 * The wait after the given number of consecutive failures, in whole milliseconds.
 *
 * @example
 * backoffDelay(3, { base: 1000, cap: 60_000, random: () => 0.5 }); // 2000
 */
export function backoffDelay(failures: number, { base, cap, random = Math.random }: Backoff): number {
  // 2 ** 52 is beyond any cap, and keeps a base of 0 at 0.
  return Math.round(random() * Math.min(cap, base * 2 ** Math.min(failures - 1, 52)));
}
