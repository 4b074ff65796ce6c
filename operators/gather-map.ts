import { from, Observable, type ObservableInput, type ObservedValueOf, type OperatorFunction } from 'rxjs';
import { type Checks, checkOptions, checkValue, FROM_0, FUNCTION } from './support/check-options.ts';
import { Fifo } from './support/fifo.ts';
import { Pump } from './support/pump.ts';
import { subscribeFor, subscribeInner } from './support/subscribe-for.ts';

export interface GatherMapOptions<T> {
  /** Returns the weight of a value. Default: 1. */
  readonly weigh?: ((value: T) => number) | undefined;
  /** The maximum total weight of a call; a single value may weigh more. Default: no limit. */
  readonly maxWeight?: number | undefined;
}

const CHECKS: Checks<GatherMapOptions<never>> = {
  weigh: FUNCTION,
  maxWeight: (value) =>
    value === Number.POSITIVE_INFINITY || FROM_0(value) === true || 'a number of at least 0, or Infinity',
};

/**
 * Calls `project` with all waiting values, one call at a time. Values wait while the result of the last call runs, and are
 * then passed to `project` together. A value never waits for later values.
 *
 * Use it instead of `concatMap` when one call can take many values, such as one write for many lines.
 *
 * A result runs until its teardown has run, so the next call finds its locks released.
 *
 * Errors: an error of the source, of an inner source or thrown by `project` or `weigh` ends the stream at once. So
 * does a weight that is not a finite number of at least 0.
 *
 * @throws TypeError for an argument or an option of the wrong type, and for an option that is unknown.
 * @throws RangeError if `maxWeight` is not at least 0.
 *
 * @example
 * const write = (lines) => timer(10).pipe(map(() => lines.join()));
 * of('a', 'b', 'c').pipe(gatherMap(write)); // 'a' at 10 ms, 'b,c' at 20 ms
 */
export function gatherMap<T, O extends ObservableInput<unknown>>(
  project: (values: readonly T[]) => O,
  options: GatherMapOptions<T> = {},
): OperatorFunction<T, ObservedValueOf<O>> {
  type R = ObservedValueOf<O>;
  checkValue('gatherMap', 'project', project, FUNCTION);
  checkOptions('gatherMap', options, CHECKS);
  const { weigh = () => 1, maxWeight = Number.POSITIVE_INFINITY } = options;
  return (source) =>
    new Observable<R>((subscriber) => {
      const waiting = new Fifo<T>();
      let running = false;
      let sourceDone = false;

      const weightOf = (value: T): number => {
        const weight = weigh(value);
        checkValue('gatherMap', 'the result of weigh', weight, FROM_0);
        return weight;
      };

      const gather = (): T[] => {
        const gathered = [waiting.shift() as T];
        let weight = weightOf(gathered[0] as T);
        while (waiting.size > 0) {
          weight += weightOf(waiting.peek() as T);
          if (weight > maxWeight) break;
          gathered.push(waiting.shift() as T);
        }
        return gathered;
      };

      const start = () => {
        const projected: ObservableInput<unknown> = project(gather());
        if (Array.isArray(projected)) {
          for (let i = 0; i < projected.length; i++) subscriber.next(projected[i] as R);
          return;
        }
        running = true;
        subscribeInner(
          subscriber,
          from(projected as ObservableInput<R>),
          (item) => subscriber.next(item),
          () => {
            running = false;
            pump.run();
          },
        );
      };

      const pump = new Pump(() => {
        if (running) return false;
        if (waiting.size > 0) start();
        else if (sourceDone) subscriber.complete();
        else return false;
        return true;
      }, subscriber);

      subscribeFor(subscriber, source, {
        next: (value) => {
          waiting.push(value);
          pump.run();
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          sourceDone = true;
          pump.run();
        },
      });
    });
}
