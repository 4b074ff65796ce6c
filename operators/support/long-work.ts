/*
 * A mask knows whether it has worked for long. The engine then lets the event loop have a turn before the next event, and
 * does not have to read the clock for each one.
 */
let isNoted = false;

/** Says that work on an event, or on some lines, has taken long. */
export function noteLongWork(): void {
  isNoted = true;
}

/** Whether that was said since {@link forgetLongWork}. */
export function hasLongWork(): boolean {
  return isNoted;
}

/** To be called when a turn of the event loop starts. */
export function forgetLongWork(): void {
  isNoted = false;
}
