import {
  concat,
  exhaustMap,
  type Observable,
  type ObservableInput,
  type ObservedValueOf,
  repeat,
  type SchedulerLike,
} from 'rxjs';
import { longTimer } from './long-timer.ts';
import {
  type Checks,
  checkRequired,
  checkValue,
  FINITE,
  FUNCTION,
  SCHEDULER,
} from './support/check-options.ts';

export interface PollOptions {
  /** Milliseconds from one call to the next. Timers cannot be faster than 1 ms, so a lower value counts as 1. */
  readonly interval: number;
  /** The scheduler that waits. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

const CHECKS: Checks<PollOptions> = { interval: FINITE, scheduler: SCHEDULER };

/**
 * Calls `fn` at once and then every `interval` ms, and emits the values of the results. Calls never overlap: a tick is
 * skipped while the last result is unfinished, so a slow call delays the next one and the cadence stays the same.
 * "At once" means a timer of 0 ms, so everyone who subscribes to a shared poll in the same turn sees the first result.
 *
 * Never completes. Errors: what `fn` throws, and the first error of a result.
 *
 * Use it instead of `interval` with `exhaustMap` when the first call must happen at once and calls must not overlap.
 *
 * @throws TypeError for an argument or an option of the wrong type, and for an option that is unknown.
 * @throws RangeError if `interval` is not a finite number.
 *
 * @example
 * poll(() => of('up'), { interval: 5000 }); // 'up' at 0 s, 'up' at 5 s, 'up' at 10 s, …
 */
export function poll<O extends ObservableInput<unknown>>(
  fn: () => O,
  options: PollOptions,
): Observable<ObservedValueOf<O>> {
  checkValue('poll', 'fn', fn, FUNCTION);
  checkRequired('poll', options, CHECKS, ['interval']);
  const { interval, scheduler } = options;
  const tick$ = concat(longTimer(0, scheduler), longTimer(Math.max(1, interval), scheduler).pipe(repeat()));
  return tick$.pipe(exhaustMap(() => fn()));
}
