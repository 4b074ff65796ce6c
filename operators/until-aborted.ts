import { EMPTY, fromEvent, type MonoTypeOperatorFunction, takeUntil } from 'rxjs';

/**
 * Completes, and unsubscribes from the source, when `signal` is aborted. A signal that is aborted already never
 * subscribes.
 *
 * @example
 * interval(1000).pipe(untilAborted(ctx.signal));
 */
export function untilAborted<T>(signal: AbortSignal): MonoTypeOperatorFunction<T> {
  return (source) => (signal.aborted ? EMPTY : source.pipe(takeUntil(fromEvent(signal, 'abort'))));
}
