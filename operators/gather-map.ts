import { from, Observable, type ObservableInput, type ObservedValueOf, type OperatorFunction } from 'rxjs';
import { type Checks, checkOptions, checkValue, FROM_0, FUNCTION } from './support/check-options.ts';
import { Fifo } from './support/fifo.ts';
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
      let looping = false;
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

      const next = (item: R) => subscriber.next(item);

      const ended = () => {
        running = false;
        loop();
      };

      const start = () => {
        let result: readonly R[] | Observable<R>;
        try {
          const projected: ObservableInput<unknown> = project(gather());
          result = (Array.isArray(projected) ? projected : from(projected)) as typeof result;
        } catch (error) {
          subscriber.error(error);
          return;
        }
        if (!(result instanceof Observable)) {
          for (let i = 0; i < result.length; i++) subscriber.next(result[i] as R);
          return;
        }
        running = true;
        subscribeInner(subscriber, result, next, ended);
      };

      /** A loop, so that work that completes at once does not nest. */
      const loop = () => {
        if (looping) return;
        looping = true;
        while (!running && waiting.size > 0 && !subscriber.closed) start();
        looping = false;
        if (sourceDone && !running && waiting.size === 0) subscriber.complete();
      };

      subscribeFor(subscriber, source, {
        next: (value) => {
          waiting.push(value);
          loop();
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          sourceDone = true;
          loop();
        },
      });
    });
}
