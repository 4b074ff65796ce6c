import { concat, ignoreElements, type Observable, take, timer } from 'rxjs';

/** The longest wait that Node's timers keep: `timer(2 ** 31)` fires at once. */
const LONGEST = 2 ** 31 - 1;

/**
 * `timer(ms)` for waits of any length: emits 0 after `ms` milliseconds and completes.
 *
 * @example
 * longTimer(60 * 24 * 3600 * 1000); // 0 at 60 d
 */
export function longTimer(ms: number): Observable<0> {
  const last = timer(ms % LONGEST) as Observable<0>;
  const full = Math.floor(ms / LONGEST);
  if (full === 0) return last;
  return concat(timer(LONGEST, LONGEST).pipe(take(full), ignoreElements()), last);
}
