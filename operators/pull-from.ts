import {
  asyncScheduler,
  Observable,
  type ObservedValueOf,
  type SchedulerLike,
  type Subscription,
} from 'rxjs';
import {
  type Check,
  type Checks,
  checkOptions,
  checkValue,
  DEMAND,
  SCHEDULER,
} from './support/check-options.ts';
import type { Demand } from './support/demand.ts';
import { Pump } from './support/pump.ts';

export interface PullOptions {
  /** The scheduler that lets other work of the process run. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

const ITERABLE: Check = (value) =>
  typeof (value as Iterable<unknown> | null)?.[Symbol.iterator] === 'function' ||
  typeof (value as AsyncIterable<unknown> | null)?.[Symbol.asyncIterator] === 'function' ||
  'an iterable or async iterable';
const CHECKS: Checks<PullOptions> = { scheduler: SCHEDULER };

/** Values pulled before other work of the process runs, because an endless iterable must not starve it. */
const SLICE = 16_384;

/**
 * Pulls an iterable by demand: one value at a time, and only while there is room. RxJS's `from` never stops pulling an
 * async generator, even if the consumer is slower (rxjs#2342).
 *
 * Unsubscription calls the iterator's `return`, so that a generator's `finally` runs.
 *
 * Use it instead of `from` when the consumer can be slower than the iterable.
 *
 * Errors: what the iterator throws or rejects with.
 *
 * @throws TypeError for an argument or an option of the wrong type, and for an option that is unknown.
 *
 * @example
 * const window = new InFlightWindow(2);
 * const pulled = [];
 * pullFrom(['a', 'b', 'c'], window).subscribe((row) => {
 *   window.take(1);
 *   pulled.push(row);
 * });
 * pulled; // ['a', 'b']
 * window.release(1);
 * pulled; // ['a', 'b', 'c']
 */
export function pullFrom<I extends Iterable<unknown> | AsyncIterable<unknown>>(
  iterable: I,
  demand: Demand,
  options: PullOptions = {},
): Observable<ObservedValueOf<I>> {
  type T = ObservedValueOf<I>;
  checkValue('pullFrom', 'iterable', iterable, ITERABLE);
  checkValue('pullFrom', 'demand', demand, DEMAND);
  checkOptions('pullFrom', options, CHECKS);
  const { scheduler = asyncScheduler } = options;
  return new Observable<T>((subscriber) => {
    const iterator = openIterator(iterable as Iterable<T> | AsyncIterable<T>);
    let awaiting = false;
    let ended = false;
    let pulled = 0;
    let pause: Subscription | undefined;

    const end = () => {
      ended = true;
      subscriber.complete();
    };
    const fail = (error: unknown) => {
      ended = true;
      subscriber.error(error);
    };

    /** Takes what the iterator gave. */
    const take = (result: IteratorResult<T>) => {
      if (result.done === true) end();
      else subscriber.next(result.value);
    };

    const pump = new Pump(
      () => {
        if (awaiting || pause !== undefined || demand.room === 0) return false;
        if (pulled === SLICE) {
          pauseSlice();
          return false;
        }
        pulled++;
        const result = iterator.next();
        if (isPromise(result)) {
          awaitResult(result);
          return false;
        }
        take(result);
        return true;
      },
      {
        get closed() {
          return subscriber.closed;
        },
        error: fail,
      },
    );

    /** Promises as well as loops keep the timers of the process waiting. */
    const pauseSlice = () => {
      pause = scheduler.schedule(() => {
        pause = undefined;
        pulled = 0;
        pump.run();
      });
    };

    // A promise, because an async iterator offers no other interface.
    const awaitResult = (result: PromiseLike<IteratorResult<T>>) => {
      awaiting = true;
      result.then((settled) => {
        awaiting = false;
        if (subscriber.closed) return;
        try {
          take(settled);
        } catch (error) {
          // Otherwise nothing would catch a result that is not an object, or whose getters throw.
          fail(error);
        }
        pump.run();
      }, fail);
    };

    subscriber.add(() => {
      pause?.unsubscribe();
      if (!ended) closeIterator(iterator);
    });
    subscriber.add(demand.room$.subscribe(() => pump.run()));
  });
}

/** Checks for `then`, because promises of another realm, such as those of Node's streams in a test, are none here. */
function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as Partial<PromiseLike<T>> | undefined)?.then === 'function';
}

function openIterator<T>(iterable: Iterable<T> | AsyncIterable<T>): Iterator<T> | AsyncIterator<T> {
  // Not `in`: a string is iterable too.
  const { [Symbol.asyncIterator]: openAsync } = iterable as Partial<AsyncIterable<T>>;
  return openAsync === undefined ? (iterable as Iterable<T>)[Symbol.iterator]() : openAsync.call(iterable);
}

/** Ignores what a generator's `finally` throws, because the consumer has left. */
function closeIterator<T>(iterator: Iterator<T> | AsyncIterator<T>): void {
  try {
    const closed: unknown = iterator.return?.();
    if (isPromise(closed)) closed.then(undefined, () => {});
  } catch {}
}
