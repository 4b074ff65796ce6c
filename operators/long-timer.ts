import {
  asyncScheduler,
  concat,
  ignoreElements,
  NEVER,
  type Observable,
  type SchedulerLike,
  take,
  timer,
} from 'rxjs';
import { type Check, checkValue, SCHEDULER } from './support/check-options.ts';

/** The longest wait that Node's timers support: `timer(2 ** 31)` fires at once. */
const LONGEST = 2 ** 31 - 1;

const MILLISECONDS: Check = (value) =>
  (typeof value === 'number' && value > -Infinity) || 'a number of milliseconds';

/**
 * `timer(ms)` for waits of any length: emits 0 after `ms` milliseconds and completes. With `Infinity`, it never emits.
 *
 * Use it instead of `timer` when a wait can be longer than 24.8 days.
 *
 * @throws TypeError if `ms` is not a number, or `scheduler` is not a scheduler of RxJS.
 * @throws RangeError if `ms` is NaN or -Infinity.
 *
 * @example
 * longTimer(60 * 24 * 3600 * 1000); // 0 at 60 d
 */
export function longTimer(ms: number, scheduler: SchedulerLike = asyncScheduler): Observable<0> {
  checkValue('longTimer', 'ms', ms, MILLISECONDS);
  checkValue('longTimer', 'scheduler', scheduler, SCHEDULER);
  // A timer that repeats forever would keep a TestScheduler from ending.
  if (ms === Infinity) return NEVER;
  const last = timer(ms % LONGEST, scheduler) as Observable<0>;
  const full = Math.floor(ms / LONGEST);
  if (full <= 0) return last;
  return concat(timer(LONGEST, LONGEST, scheduler).pipe(take(full), ignoreElements()), last);
}
