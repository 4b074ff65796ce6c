import { type MonoTypeOperatorFunction, map, type Observable } from 'rxjs';
import { longTimer } from './long-timer.ts';
import { orderedMap } from './ordered-map.ts';

/** Bounds of a wait in milliseconds, 0 ≤ minimum ≤ maximum. Equal bounds make a fixed wait. */
export interface DelayBounds {
  /** Milliseconds. */
  readonly minimum: number;
  /** Milliseconds. */
  readonly maximum: number;
}

export interface RandomOptions {
  /** A number in [0, 1). `Math.random` by default; a seeded one makes waits repeatable. */
  readonly random?: (() => number) | undefined;
}

export interface DelayRangeOptions extends RandomOptions {
  /** Whether values keep their order: one that is due waits for those before it. Default: true. */
  readonly ordered?: boolean | undefined;
}

/** A random wait within the bounds, in milliseconds. */
export function drawDelay({ minimum, maximum }: DelayBounds, random: () => number): number {
  return minimum + random() * (maximum - minimum);
}

/** Emits once after so many milliseconds, rounded: timers keep no fractions, and marbles show none. */
export function wait(ms: number): Observable<unknown> {
  return longTimer(Math.round(ms));
}

/**
 * Delays each value by a wait of its own, drawn from a range in milliseconds. Values wait at the same time and keep their
 * order; with `ordered: false`, one with a short wait may overtake one that came before it. The completion waits
 * for them; an error does not.
 *
 * Errors: what `random` throws.
 *
 * @throws RangeError unless 0 ≤ minimum ≤ maximum.
 *
 * @example
 * const half = { random: () => 0.5 };
 * of('a', 'b').pipe(delayRange({ minimum: 100, maximum: 300 }, half)); // 'a' at 200 ms, 'b' at 200 ms
 */
export function delayRange<T>(
  bounds: DelayBounds,
  { random = Math.random, ordered = true }: DelayRangeOptions = {},
): MonoTypeOperatorFunction<T> {
  const { minimum, maximum } = bounds;
  if (!(minimum >= 0 && minimum <= maximum)) {
    throw new RangeError(
      `delayRange wants 0 ≤ minimum ≤ maximum, in milliseconds; found ${minimum} and ${maximum}`,
    );
  }
  return orderedMap((value) => wait(drawDelay(bounds, random)).pipe(map(() => value)), { ordered });
}
