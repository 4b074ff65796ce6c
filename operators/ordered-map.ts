import { from, Observable, type ObservableInput, type ObservedValueOf, type OperatorFunction } from 'rxjs';
import { BOOLEAN, type Checks, COUNT_OR_INFINITY, checkOptions } from './check-options.ts';
import { Fifo } from './fifo.ts';
import { subscribeFor, subscribeInner } from './subscribe-for.ts';

export interface OrderedMapOptions {
  /** Source values that are worked on, or whose results wait for their turn, at a time. Default: no limit. */
  readonly concurrency?: number | undefined;
  /** Whether results leave in the order in which their values came in. Default: true. */
  readonly ordered?: boolean | undefined;
}

const CHECKS: Checks<OrderedMapOptions> = { concurrency: COUNT_OR_INFINITY, ordered: BOOLEAN };

/** The results of one source value that wait until all before it have left. */
interface Slot<R> {
  readonly values: R[];
  done: boolean;
}

/**
 * Maps each value to any number of results, several at a time, in the order of the source.
 *
 * `project` may return an array, which costs no inner Observable, or any ObservableInput. Unlike `mergeMap` with
 * a limit (rxjs#7334) it loses nothing when inner sources complete synchronously, and unlike `concatMap` it does
 * not wait for one value before it starts the next. Values beyond `concurrency` wait in memory: bound them with
 * an {@link InFlightWindow} where the source can be made to wait.
 *
 * With a limit, the next inner source starts when one before it has completed and its teardown has run.
 *
 * Errors: an error of the source, of an inner source or thrown by `project` ends the stream at once.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws RangeError if `concurrency` is neither an integer of at least 1 nor `Infinity`.
 *
 * @example
 * of(30, 10, 20).pipe(orderedMap((ms) => timer(ms).pipe(map(() => ms)))); // 30 at 30 ms, 10 at 30 ms, 20 at 30 ms
 */
export function orderedMap<T, O extends ObservableInput<unknown>>(
  project: (value: T, index: number) => O,
  options: OrderedMapOptions = {},
): OperatorFunction<T, ObservedValueOf<O>> {
  type R = ObservedValueOf<O>;
  checkOptions('orderedMap', options, CHECKS);
  const { concurrency = Number.POSITIVE_INFINITY, ordered = true } = options;
  return (source) =>
    new Observable<R>((subscriber) => {
      const waiting = new Fifo<T>();
      const slots = new Fifo<Slot<R>>();
      let index = 0;
      let active = 0;
      let starting = false;
      let emitting = false;
      let sourceDone = false;

      const busy = () => (ordered ? slots.size : active);

      const completeIfDone = () => {
        if (sourceDone && active === 0 && waiting.size === 0 && slots.size === 0 && !emitting && !starting) {
          subscriber.complete();
        }
      };

      /** Emits what is due. A value that arrives meanwhile joins its slot, and this loop finds it. */
      const drain = () => {
        if (emitting) return;
        emitting = true;
        for (let head = slots.peek(); head !== undefined && !subscriber.closed; head = slots.peek()) {
          for (let i = 0; i < head.values.length; i++) subscriber.next(head.values[i] as R);
          head.values.length = 0;
          if (!head.done) break;
          slots.shift();
        }
        emitting = false;
        pump();
      };

      const emitAtHand = (values: readonly R[]) => {
        if (!ordered) {
          for (let i = 0; i < values.length; i++) subscriber.next(values[i] as R);
        } else if (slots.size > 0 || emitting) {
          slots.push({ values: [...values], done: true });
          drain();
        } else {
          emitting = true;
          for (let i = 0; i < values.length; i++) subscriber.next(values[i] as R);
          emitting = false;
          drain();
        }
      };

      const start = (value: T) => {
        let result: readonly R[] | Observable<R>;
        try {
          const projected: ObservableInput<unknown> = project(value, index++);
          result = (Array.isArray(projected) ? projected : from(projected)) as typeof result;
        } catch (error) {
          subscriber.error(error);
          return;
        }
        if (!(result instanceof Observable)) {
          emitAtHand(result);
          return;
        }
        active++;
        const slot: Slot<R> | undefined = ordered ? { values: [], done: false } : undefined;
        if (slot !== undefined) slots.push(slot);
        const next = (item: R) => {
          if (slot === undefined) {
            subscriber.next(item);
          } else {
            slot.values.push(item);
            if (slot === slots.peek()) drain();
          }
        };
        const ended = () => {
          active--;
          if (slot !== undefined) {
            slot.done = true;
            if (slot === slots.peek()) drain();
          }
          pump();
        };
        subscribeInner(subscriber, result, next, ended);
      };

      /** Starts what waits: a loop, so that inner sources that complete at once do not nest. */
      const pump = () => {
        if (starting) return;
        starting = true;
        while (waiting.size > 0 && busy() < concurrency && !subscriber.closed) start(waiting.shift() as T);
        starting = false;
        completeIfDone();
      };

      subscribeFor(subscriber, source, {
        next: (value) => {
          if (starting || waiting.size > 0 || busy() >= concurrency) {
            waiting.push(value);
            pump();
            return;
          }
          starting = true;
          start(value);
          starting = false;
          if (waiting.size > 0 || sourceDone) pump();
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          sourceDone = true;
          completeIfDone();
        },
      });
    });
}
