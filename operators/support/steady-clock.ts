import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** Virtual time counts from 0; clocks of the world are past this, September 2001. */
const VIRTUAL_BELOW = 1e12;

/**
 * Whole milliseconds since the call, unmoved by whoever sets the system's clock: no window stays open and no limit
 * holds for a day more, or less. In virtual time, and with any other scheduler than the default, it is the scheduler's.
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
