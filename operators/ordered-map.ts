import { from, Observable, type ObservableInput, type ObservedValueOf, type OperatorFunction } from 'rxjs';
import { BOOLEAN, COUNT_OR_INFINITY, checkOptions } from './support/check-options.ts';
import { Fifo } from './support/fifo.ts';
import { subscribeInner } from './support/subscribe-for.ts';

export interface OrderedMapOptions {
  /** The maximum number of values in progress, including those whose results wait for their turn. Default: no limit. */
  readonly concurrency?: number | undefined;
  /** Whether results are emitted in the order of their values. Default: true. */
  readonly ordered?: boolean | undefined;
}

/** A source value in progress, with the results that wait until all earlier values have left. */
interface Slot<T, R> {
  readonly value: T;
  readonly results: R[];
  done: boolean;
}

/**
 * Maps each value to any number of results, several values at a time, in the order of the source.
 *
 * `project` may return an array, which needs no inner Observable, or any ObservableInput. Unlike `mergeMap` with
 * a limit (rxjs#7334), it loses no values when inner sources complete synchronously. Unlike `concatMap`, it does not wait
 * for one value before it starts the next. Values beyond `concurrency` wait in memory: bound them with an
 * {@link InFlightWindow} if the source can wait.
 *
 * Without a limit, it subscribes to each inner source at once. With a limit, it subscribes to the next inner source when
 * an earlier one has completed and its teardown has run. A hot inner source, such as a group of `groupBy`, loses the
 * values that it emits before, as in `mergeMap` and `concatMap`.
 *
 * Use it instead of `mergeMap` when the order matters or the concurrency is limited, and instead of `concatMap`
 * when several values may be in progress at the same time.
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
  checkOptions('orderedMap', options, { concurrency: COUNT_OR_INFINITY, ordered: BOOLEAN });
  return mapInOrder(project, options);
}

/** {@link orderedMap} without checks. `left` is called with each value when all its results have left. */
export function mapInOrder<T, O extends ObservableInput<unknown>>(
  project: (value: T, index: number) => O,
  { concurrency = Infinity, ordered = true }: OrderedMapOptions,
  left?: (value: T) => void,
): OperatorFunction<T, ObservedValueOf<O>> {
  type R = ObservedValueOf<O>;
  return (source) =>
    new Observable<R>((subscriber) => {
      const waiting = new Fifo<T>();
      /** With `ordered`, the values in progress, in their order; otherwise those that have ended. */
      const slots = new Fifo<Slot<T, R>>();
      let index = 0;
      /** The number of values in progress. */
      let active = 0;
      let advancing = false;
      let emitting = false;
      let sourceDone = false;

      /** Results that arrive in the meantime wait in their slots. */
      const emit = (results: readonly R[]) => {
        emitting = true;
        for (const result of results) subscriber.next(result);
        emitting = false;
      };

      /**
       * Does what is due, one step after the other, so that nothing nests. It is not a `Pump`, because an inner source that
       * emits while a step subscribes to it has to notice at once that the consumer has left.
       */
      const advance = () => {
        if (advancing || emitting) return;
        advancing = true;
        try {
          while (!subscriber.closed) {
            const head = slots.peek();
            if (head?.results.length) emit(head.results.splice(0));
            else if (head?.done) {
              slots.shift();
              active--;
              left?.(head.value);
            } else if (waiting.size && active < concurrency) start(waiting.shift() as T);
            else break;
          }
        } catch (error) {
          subscriber.error(error);
        }
        advancing = false;
        if (sourceDone && !active && !waiting.size) subscriber.complete();
      };

      const start = (value: T) => {
        const result: ObservableInput<unknown> = project(value, index++);
        const isArray = Array.isArray(result);
        if (isArray && !slots.peek()) {
          emit(result);
          if (!subscriber.closed) left?.(value);
          return;
        }
        active++;
        const slot: Slot<T, R> = { value, results: isArray ? [...result] : [], done: isArray };
        if (ordered || isArray) slots.push(slot);
        if (isArray) return;
        subscribeInner(
          subscriber,
          from(result as ObservableInput<R>),
          (item) => {
            if (!ordered) return subscriber.next(item);
            slot.results.push(item);
            if (!emitting && slot === slots.peek()) {
              emit(slot.results.splice(0));
              advance();
            }
          },
          () => {
            slot.done = true;
            if (!ordered) slots.push(slot);
            advance();
          },
        );
      };

      subscribeInner(
        subscriber,
        source,
        (value) => {
          waiting.push(value);
          advance();
        },
        () => {},
        () => {
          sourceDone = true;
          advance();
        },
      );
    });
}
