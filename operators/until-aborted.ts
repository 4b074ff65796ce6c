import { defer, EMPTY, fromEvent, type MonoTypeOperatorFunction, takeUntil } from 'rxjs';
import { type Check, checkValue, hasMethods } from './support/check-options.ts';

const SIGNAL: Check = (value) =>
  hasMethods(value, 'addEventListener', 'removeEventListener') || 'an AbortSignal';

/**
 * Completes, and unsubscribes from the source, when `signal` is aborted. If the signal is already aborted, it does not
 * subscribe to the source.
 *
 * Use it instead of `takeUntil` when an `AbortSignal` determines when to stop.
 *
 * @throws TypeError if `signal` is not an AbortSignal.
 *
 * @example
 * const stop = new AbortController();
 * interval(1000).pipe(untilAborted(stop.signal)); // 0 at 1 s, 1 at 2 s, …
 * stop.abort();
 * interval(1000).pipe(untilAborted(stop.signal)); // nothing
 */
export function untilAborted<T>(signal: AbortSignal): MonoTypeOperatorFunction<T> {
  checkValue('untilAborted', 'signal', signal, SIGNAL);
  return (source) =>
    defer(() => (signal.aborted ? EMPTY : source.pipe(takeUntil(fromEvent(signal, 'abort')))));
}
