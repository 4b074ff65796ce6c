import { asyncScheduler } from 'rxjs';

/**
 * Milliseconds since the call, by the scheduler's clock, that never run backwards: while the system's clock is set
 * back, no window stays open and no limit holds for an hour more.
 */
export function steadyClock(): () => number {
  let last = asyncScheduler.now();
  let elapsed = 0;
  return () => {
    const now = asyncScheduler.now();
    if (now > last) elapsed += now - last;
    last = now;
    return elapsed;
  };
}
