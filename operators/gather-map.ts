import { from, Observable, type ObservableInput, type OperatorFunction } from 'rxjs';
import { Fifo } from './fifo.ts';
import { subscribeFor } from './subscribe-for.ts';

export interface GatherMapOptions<T> {
  /** What a value counts. Default: 1. */
  readonly weigh?: (value: T) => number;
  /** The most that is gathered; a single value may weigh more. Default: no limit. */
  readonly maxWeight?: number;
}

/**
 * One piece of work at a time, on everything that has arrived since the last began: values wait while `project`'s
 * result runs, and are then handed over together. A value is never held back for others to come.
 *
 * Errors: an error of the source, of an inner source or thrown by `project` or `weigh` ends the stream at once.
 *
 * @example
 * const write = (lines) => timer(10).pipe(map(() => lines.join()));
 * of('a', 'b', 'c').pipe(gatherMap(write)); // 'a' at 10 ms, 'b,c' at 20 ms
 */
export function gatherMap<T, R>(
  project: (values: readonly T[]) => readonly R[] | ObservableInput<R>,
  options: GatherMapOptions<T> = {},
): OperatorFunction<T, R> {
  const { weigh = () => 1, maxWeight = Number.POSITIVE_INFINITY } = options;
  return (source) =>
    new Observable<R>((subscriber) => {
      const waiting = new Fifo<T>();
      let running = false;
      let looping = false;
      let sourceDone = false;

      const gather = (): T[] => {
        const gathered = [waiting.shift() as T];
        let weight = weigh(gathered[0] as T);
        for (let next = waiting.peek(); next !== undefined; next = waiting.peek()) {
          weight += weigh(next);
          if (weight > maxWeight) break;
          gathered.push(waiting.shift() as T);
        }
        return gathered;
      };

      const start = () => {
        let result: readonly R[] | ObservableInput<R>;
        try {
          result = project(gather());
          if (!Array.isArray(result)) result = from(result as ObservableInput<R>);
        } catch (error) {
          subscriber.error(error);
          return;
        }
        if (Array.isArray(result)) {
          for (let i = 0; i < result.length; i++) subscriber.next(result[i] as R);
          return;
        }
        running = true;
        subscribeFor(subscriber, result as Observable<R>, {
          next: (item) => subscriber.next(item),
          error: (error) => subscriber.error(error),
          complete: () => {
            running = false;
            loop();
          },
        });
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
