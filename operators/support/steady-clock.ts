import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** Virtual time counts from 0; clocks of the world are past this, September 2001. */
const VIRTUAL_BELOW = 1e12;

/**
 * Whole milliseconds since the call. Setting the system's clock does not change it, so no window or limit lasts a day too
 * long. In virtual time, and with any scheduler but the default, the time is the scheduler's.
 */
export function steadyClock(scheduler: SchedulerLike = asyncScheduler): () => number {
  const read = scheduler === asyncScheduler ? monotonicNow : () => scheduler.now();
  let last = read();
  let elapsed = 0;
  return () => {
    const now = read();
    if (now > last) elapsed += now - last;
    last = now;
    return elapsed;
  };
}

function monotonicNow(): number {
  const scheduled = asyncScheduler.now();
  return scheduled < VIRTUAL_BELOW ? scheduled : Math.floor(performance.now());
}
