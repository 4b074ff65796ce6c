import { asyncScheduler } from 'rxjs';

let lastTime = Number.NaN;
let lastText = '';

/**
 * The time now as the start of a `CallId`, such as `20261126T143000.123Z`: ids sort by it as texts. Calls of one millisecond
 * share the text, because each event may be a call of its own.
 */
export function callTime(): string {
  const time = asyncScheduler.now();
  if (time !== lastTime) {
    lastTime = time;
    lastText = new Date(time).toISOString().replaceAll(/[-:]/g, '');
  }
  return lastText;
}
