import { type MonoTypeOperatorFunction, map, type Observable, type SchedulerLike } from 'rxjs';
import { longTimer } from './long-timer.ts';
import { orderedMap } from './ordered-map.ts';
import {
  BOOLEAN,
  type Checks,
  checkOptions,
  checkRequired,
  draw,
  FROM_0,
  FUNCTION,
  SCHEDULER,
} from './support/check-options.ts';

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
  /** What waits. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

const BOUNDS_CHECKS: Checks<DelayBounds> = { minimum: FROM_0, maximum: FROM_0 };
const CHECKS: Checks<DelayRangeOptions> = { random: FUNCTION, ordered: BOOLEAN, scheduler: SCHEDULER };

/** A random wait within the bounds, in milliseconds. */
export function drawDelay({ minimum, maximum }: DelayBounds, random: () => number): number {
  return minimum + draw('delayRange', random) * (maximum - minimum);
}

/** Emits once after so many milliseconds, rounded: timers keep no fractions, and marbles show none. */
export function wait(ms: number, scheduler?: SchedulerLike): Observable<unknown> {
  return longTimer(Math.round(ms), scheduler);
}

/**
 * Delays each value by a wait of its own, drawn from a range in milliseconds. Values wait at the same time and keep their
 * order; with `ordered: false`, one with a short wait may overtake one that came before it. The completion waits
 * for them; an error does not.
 *
 * Use it instead of `delay` when each value is to be late by a time of its own.
 *
 * Errors: what `random` throws, and a RangeError if it returns no number in [0, 1].
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws RangeError unless 0 ≤ minimum ≤ maximum.
 *
 * @example
 * const half = { random: () => 0.5 };
 * of('a', 'b').pipe(delayRange({ minimum: 100, maximum: 300 }, half)); // 'a' at 200 ms, 'b' at 200 ms
 */
export function delayRange<T>(
  bounds: DelayBounds,
  options: DelayRangeOptions = {},
): MonoTypeOperatorFunction<T> {
  checkRequired('delayRange', bounds, BOUNDS_CHECKS, ['minimum', 'maximum']);
  checkOptions('delayRange', options, CHECKS);
  const { minimum, maximum } = bounds;
  const { random = Math.random, ordered, scheduler } = options;
  if (minimum > maximum) {
    throw new RangeError(`delayRange: minimum must be at most maximum (${maximum}), not ${minimum}`);
  }
  return orderedMap((value: T) => wait(drawDelay(bounds, random), scheduler).pipe(map(() => value)), {
    ordered,
  });
}
