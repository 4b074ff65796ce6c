import {
  defer,
  finalize,
  map,
  type ObservableInput,
  type ObservedValueOf,
  type OperatorFunction,
} from 'rxjs';
import type { InFlightWindow } from './in-flight-window.ts';
import { mapInOrder } from './ordered-map.ts';
import {
  BOOLEAN,
  type Check,
  type Checks,
  checkOptions,
  checkValue,
  DEMAND,
  FROM_0,
  FUNCTION,
  hasMethods,
} from './support/check-options.ts';

export interface InFlightOptions<T> {
  /** Whether results are emitted in the order of their values. Default: true. */
  readonly ordered?: boolean | undefined;
  /** Returns how much of the window a value takes, for example the number of its lines. Default: 1. */
  readonly weigh?: ((value: T) => number) | undefined;
}

const WINDOW: Check = (value) =>
  (hasMethods(value, 'take', 'release') && DEMAND(value) === true) || 'an InFlightWindow';
const CHECKS: Checks<InFlightOptions<never>> = { ordered: BOOLEAN, weigh: FUNCTION };

/**
 * Maps each value to any number of results, with at most as many open values as the window allows. A value is open
 * from its arrival until all of its results have been emitted. Give the same window to the source, so that it emits
 * only while there is room: backpressure from end to end, with constant memory.
 *
 * `project` works as in {@link orderedMap}. If a source ignores the window, values beyond its size wait in memory, and
 * none is lost. An error or unsubscription closes all open values, so a window may be shared and reused after a
 * restart.
 *
 * Use it instead of `mergeMap` when the source can wait: memory stays constant however slow the work is.
 *
 * Errors: an error of the source, of an inner source, or thrown by `project` or `weigh`, at once; and a weight that
 * is not a finite number of at least 0.
 *
 * @throws TypeError for an argument or an option of the wrong type, and for an option that is unknown.
 *
 * @example
 * const rows = ['a', 'b', 'c', 'd'];
 * const save = (row) => timer(10).pipe(map(() => row));
 * const window = new InFlightWindow(2);
 * pullFrom(rows, window).pipe(inFlight(window, save)); // 'a' at 10 ms, 'b' at 10 ms, 'c' at 20 ms, 'd' at 20 ms
 */
export function inFlight<T, O extends ObservableInput<unknown>>(
  window: InFlightWindow,
  project: (value: T, index: number) => O,
  options: InFlightOptions<T> = {},
): OperatorFunction<T, ObservedValueOf<O>> {
  checkValue('inFlight', 'window', window, WINDOW);
  checkValue('inFlight', 'project', project, FUNCTION);
  checkOptions('inFlight', options, CHECKS);
  const { ordered, weigh } = options;
  return (source) =>
    defer(() => {
      let open = 0;
      return source.pipe(
        map((value) => {
          const weight = weigh === undefined ? 1 : weigh(value);
          if (weigh !== undefined) checkValue('inFlight', 'the result of weigh', weight, FROM_0);
          open += weight;
          window.take(weight);
          return { value, weight };
        }),
        mapInOrder(
          ({ value }, index) => project(value, index),
          { ordered, concurrency: window.size },
          // Where its results leave, not where its work ends: results that wait for their turn are open too.
          ({ weight }) => {
            open -= weight;
            window.release(weight);
          },
        ),
        // After the source has been told to stop, so that it does not take the room for more. Sums of fractional weights
        // are not exact, and may end below 0.
        finalize(() => window.release(Math.max(0, open))),
      );
    });
}
