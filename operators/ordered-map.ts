import { from, Observable, type ObservableInput, type ObservedValueOf, type OperatorFunction } from 'rxjs';
import { BOOLEAN, type Checks, COUNT_OR_INFINITY, checkOptions } from './support/check-options.ts';
import { Fifo } from './support/fifo.ts';
import { subscribeFor, subscribeInner } from './support/subscribe-for.ts';

export interface OrderedMapOptions {
  /** Source values that are worked on, or whose results wait for their turn, at a time. Default: no limit. */
  readonly concurrency?: number | undefined;
  /** Whether results leave in the order in which their values came in. Default: true. */
  readonly ordered?: boolean | undefined;
}

const CHECKS: Checks<OrderedMapOptions> = { concurrency: COUNT_OR_INFINITY, ordered: BOOLEAN };

/** The results of one source value that wait until all before it have left. */
interface Slot<T, R> {
  readonly value: T;
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
 * Use it instead of `mergeMap` when the order matters or the concurrency is limited, and instead of `concatMap`
 * when values may be worked on at the same time.
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
  checkOptions('orderedMap', options, CHECKS);
  return mapInOrder(project, options);
}

/** {@link orderedMap} without checks. `left` is called with each value when all its results have left. */
export function mapInOrder<T, O extends ObservableInput<unknown>>(
  project: (value: T, index: number) => O,
  { concurrency = Number.POSITIVE_INFINITY, ordered = true }: OrderedMapOptions,
  left: (value: T) => void = () => {},
): OperatorFunction<T, ObservedValueOf<O>> {
  type R = ObservedValueOf<O>;
  return (source) =>
    new Observable<R>((subscriber) => {
      const waiting = new Fifo<T>();
      const slots = new Fifo<Slot<T, R>>();
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

      const leave = (value: T) => {
        if (subscriber.closed) return;
        try {
          left(value);
        } catch (error) {
          subscriber.error(error);
        }
      };

      /** Emits what is due. A value that arrives meanwhile joins its slot, and this loop finds it. */
      const drain = () => {
        if (emitting) return;
        emitting = true;
        for (let head = slots.peek(); head !== undefined && !subscriber.closed; head = slots.peek()) {
          if (head.values.length > 0) {
            for (let i = 0; i < head.values.length; i++) subscriber.next(head.values[i] as R);
            head.values.length = 0;
          }
          if (!head.done) break;
          slots.shift();
          leave(head.value);
        }
        emitting = false;
        pump();
      };

      const emitAtHand = (value: T, values: readonly R[]) => {
        if (ordered && (slots.size > 0 || emitting)) {
          slots.push({ value, values: [...values], done: true });
          drain();
          return;
        }
        emitting = ordered;
        for (let i = 0; i < values.length; i++) subscriber.next(values[i] as R);
        leave(value);
        emitting = false;
        if (ordered) drain();
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
          emitAtHand(value, result);
          return;
        }
        active++;
        const slot: Slot<T, R> | undefined = ordered ? { value, values: [], done: false } : undefined;
        if (slot !== undefined) slots.push(slot);
        const next = (item: R) => {
          if (slot === undefined) {
            subscriber.next(item);
          } else if (slot !== slots.peek() || emitting) {
            slot.values.push(item);
          } else {
            emitting = true;
            subscriber.next(item);
            emitting = false;
            drain();
          }
        };
        const ended = () => {
          active--;
          if (slot === undefined) {
            leave(value);
          } else {
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
