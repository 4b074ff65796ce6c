import { type MonoTypeOperatorFunction, map, type Observable, type SchedulerLike } from 'rxjs';
import { longTimer } from './long-timer.ts';
import { orderedMap } from './ordered-map.ts';
import {
  argumentError,
  BOOLEAN,
  type Checks,
  checkOptions,
  checkRequired,
  draw,
  FROM_0,
  FUNCTION,
  SCHEDULER,
} from './support/check-options.ts';

/** The bounds of a wait in milliseconds, 0 ≤ minimum ≤ maximum. Equal bounds give a fixed wait. */
export interface DelayBounds {
  /** Milliseconds. */
  readonly minimum: number;
  /** Milliseconds. */
  readonly maximum: number;
}

export interface RandomOptions {
  /** Returns a number in [0, 1). `Math.random` by default. A seeded function makes waits repeatable. */
  readonly random?: (() => number) | undefined;
}

export interface DelayRangeOptions extends RandomOptions {
  /** Whether values keep their order: a value that is due waits for earlier values. Default: true. */
  readonly ordered?: boolean | undefined;
  /** The scheduler that waits. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

const BOUNDS_CHECKS: Checks<DelayBounds> = { minimum: FROM_0, maximum: FROM_0 };
const CHECKS: Checks<DelayRangeOptions> = { random: FUNCTION, ordered: BOOLEAN, scheduler: SCHEDULER };

/** A random wait within the bounds, in milliseconds. */
export function drawDelay({ minimum, maximum }: DelayBounds, random: () => number): number {
  return minimum + draw('delayRange', random) * (maximum - minimum);
}

/** Emits once after a number of milliseconds, rounded, because timers and marbles have no fractions. */
export function wait(ms: number, scheduler?: SchedulerLike): Observable<unknown> {
  return longTimer(Math.round(ms), scheduler);
}

/**
 * Delays each value by its own random wait within a range. Values wait at the same time and keep their order; with
 * `ordered: false`, a value with a short wait may overtake earlier values. The completion waits for them; an error does
 * not.
 *
 * Use it instead of `delay` when each value needs its own delay.
 *
 * Errors: what `random` throws, and a RangeError if it does not return a number in [0, 1].
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
    throw argumentError(
      RangeError,
      `delayRange: minimum must be at most maximum (${maximum}), not ${minimum}`,
    );
  }
  return orderedMap((value: T) => wait(drawDelay(bounds, random), scheduler).pipe(map(() => value)), {
    ordered,
  });
}
