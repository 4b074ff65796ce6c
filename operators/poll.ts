import { concat, exhaustMap, type Observable, type ObservableInput, repeat, timer } from 'rxjs';
import { longTimer } from './long-timer.ts';

export interface PollOptions {
  /** Milliseconds from one call to the next. Below 1, which no timer keeps, it counts as 1. */
  readonly interval: number;
}

/**
 * Calls `fn` at once and then every `interval` ms, and emits what the results emit. Calls never overlap: a tick
 * that finds the last result unfinished is skipped, so a slow call delays the next one and leaves the cadence.
 * "At once" is a timer of 0 ms: all that subscribe to a shared poll in one turn see its first result.
 *
 * Never completes. Errors: what `fn` throws, and the first error of a result.
 *
 * @throws RangeError if `interval` is NaN.
 *
 * @example
 * poll(() => of('up'), { interval: 5000 }); // 'up' at 0 s, 'up' at 5 s, 'up' at 10 s, …
 */
export function poll<T>(fn: () => ObservableInput<T>, { interval }: PollOptions): Observable<T> {
  if (Number.isNaN(interval)) throw new RangeError('interval must be a number of milliseconds, not NaN');
  return concat(timer(0), longTimer(Math.max(1, interval)).pipe(repeat())).pipe(exhaustMap(() => fn()));
}
