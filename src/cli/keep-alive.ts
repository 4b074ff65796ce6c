import { interval, type Subscription } from 'rxjs';

/** The longest that Node's timers wait. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Keeps the process until it is unsubscribed. Node ends when no handle is left, and a promise of a plugin that is
 * never settled holds none.
 */
export function keepAlive(): Subscription {
  return interval(LONGEST_MS).subscribe();
}
