import { PluginError } from '../../src/sdk/index.ts';

let lastTimestamp = '';
let lastTime = 0;

/**
 * The milliseconds since 1970 of a timestamp; NaN if it is not a date. Events that were read together have the same one, which
 * is parsed once.
 */
export function parseTimestamp(timestamp: string): number {
  if (timestamp !== lastTimestamp) {
    lastTimestamp = timestamp;
    lastTime = Date.parse(timestamp);
  }
  return lastTime;
}

/** {@link parseTimestamp}. @throws PluginError, permanent, if it is not a date. */
export function millisecondsOf(timestamp: unknown): number {
  const time = typeof timestamp === 'string' ? parseTimestamp(timestamp) : Number.NaN;
  if (!(time >= 0)) throw new PluginError('the event has no timestamp after 1970', { permanent: true });
  return time;
}
