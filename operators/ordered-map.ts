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
  { concurrency = Infinity, ordered = true }: OrderedMapOptions,
  left?: (value: T) => void,
): OperatorFunction<T, ObservedValueOf<O>> {
  type R = ObservedValueOf<O>;
  return (source) =>
    new Observable<R>((subscriber) => {
      const waiting = new Fifo<T>();
      /** In order: one for each value that has started and not left, but for those whose results leave at once. */
      const slots = new Fifo<Slot<T, R>>();
      let index = 0;
      let active = 0;
      let starting = false;
      let emitting = false;
      let sourceDone = false;

      const emit = (values: readonly R[]) => {
        for (let i = 0; i < values.length; i++) subscriber.next(values[i] as R);
      };

      const leave = (value: T) => {
        try {
          if (!subscriber.closed) left?.(value);
        } catch (error) {
          subscriber.error(error);
        }
      };

      /** Emits what is due, and starts what waits: loops, so that neither nests. */
      const advance = () => {
        if (!emitting) {
          emitting = true;
          for (let head = slots.peek(); head && !subscriber.closed; head = slots.peek()) {
            // Results that come meanwhile join them, and are emitted by this loop.
            emit(head.values);
            head.values.length = 0;
            if (!head.done) break;
            slots.shift();
            leave(head.value);
          }
          emitting = false;
        }
        if (starting) return;
        starting = true;
        while (waiting.size > 0 && (ordered ? slots.size : active) < concurrency && !subscriber.closed) {
          start(waiting.shift() as T);
        }
        starting = false;
        if (sourceDone && !emitting && active + waiting.size + slots.size === 0) subscriber.complete();
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
        const isStream = result instanceof Observable;
        if (!isStream && !(ordered && (emitting || slots.size > 0))) {
          emitting = ordered;
          emit(result as readonly R[]);
          leave(value);
          emitting = false;
          if (slots.size > 0) advance();
          return;
        }
        const slot: Slot<T, R> = {
          value,
          values: isStream ? [] : [...(result as readonly R[])],
          done: !isStream,
        };
        if (ordered) slots.push(slot);
        if (!isStream) return;
        active++;
        const next = (item: R) => {
          if (ordered && (emitting || slot !== slots.peek())) {
            slot.values.push(item);
            return;
          }
          emitting = ordered;
          subscriber.next(item);
          emitting = false;
          if (ordered) advance();
        };
        subscribeInner(subscriber, result as Observable<R>, next, () => {
          active--;
          slot.done = true;
          if (!ordered) leave(value);
          advance();
        });
      };

      subscribeFor(subscriber, source, {
        next: (value) => {
          waiting.push(value);
          advance();
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          sourceDone = true;
          advance();
        },
      });
    });
}
