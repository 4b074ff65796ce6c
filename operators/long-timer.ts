import {
  asyncScheduler,
  concat,
  ignoreElements,
  type Observable,
  type SchedulerLike,
  take,
  timer,
} from 'rxjs';

/** The longest wait that Node's timers keep: `timer(2 ** 31)` fires at once. */
const LONGEST = 2 ** 31 - 1;

/**
 * `timer(ms)` for waits of any length: emits 0 after `ms` milliseconds and completes; with `Infinity`, never.
 *
 * Use it instead of `timer` when a wait can be longer than 24.8 days.
 *
 * @throws RangeError if `ms` is NaN.
 *
 * @example
 * longTimer(60 * 24 * 3600 * 1000); // 0 at 60 d
 */
export function longTimer(ms: number, scheduler: SchedulerLike = asyncScheduler): Observable<0> {
  if (Number.isNaN(ms)) throw new RangeError('longTimer: ms must be a number of milliseconds, not NaN');
  const last = timer(ms % LONGEST, scheduler) as Observable<0>;
  const full = Math.floor(ms / LONGEST);
  if (full === 0) return last;
  return concat(timer(LONGEST, LONGEST, scheduler).pipe(take(full), ignoreElements()), last);
}
