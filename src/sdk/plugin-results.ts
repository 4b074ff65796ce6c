import { concatMap, from, Observable, type ObservableInput, of } from 'rxjs';
import { type Demand, pullFrom } from '../../operators/index.ts';

/** Whether a plugin's return value is something to wait for: an Observable, a promise or an async iterable. */
export function isAsync(value: unknown): value is ObservableInput<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  if (typeof (value as { then?: unknown }).then === 'function') return true;
  if (Symbol.asyncIterator in value) return true;
  // An Observable, be it of another copy of rxjs or of another library. Workers ask too, and they load no RxJS.
  return typeof (value as { subscribe?: unknown }).subscribe === 'function';
}

/** A foreign Observable may lack `Symbol.observable`; then its `subscribe` is called with an observer. */
export function toObservable<T>(value: ObservableInput<T>): Observable<T> {
  if (value instanceof Observable) return value;
  const foreign = value as { subscribe?: (observer: unknown) => { unsubscribe?: () => void } | undefined };
  if (typeof foreign.subscribe !== 'function' || Symbol.asyncIterator in foreign) return from(value);
  return new Observable<T>((subscriber) => {
    const subscription = foreign.subscribe?.({
      next: (item: T) => subscriber.next(item),
      error: (error: unknown) => subscriber.error(error),
      complete: () => subscriber.complete(),
    });
    return () => subscription?.unsubscribe?.();
  });
}

/** Whether a value is an iterable of results rather than one result. A string is one. */
export function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

/**
 * The results that a plugin's return value stands for, when they are available: nothing, one, or an array of them.
 * `undefined` means that they must be waited for, or pulled: see {@link streamResults}.
 */
export function availableResults<T>(value: unknown): readonly T[] | undefined {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return [];
  return isAsync(value) || isIterable(value) ? undefined : [value as T];
}

/** Results of an iterable that are taken at once. Nearly all iterables have fewer, and then cost no Observable. */
const AT_ONCE = 16;

/** All results of an iterable if they are few; otherwise an iterable that goes on where this left off. */
export function takeIfFew<T>(iterable: Iterable<T>): readonly T[] | Iterable<T> {
  const iterator = iterable[Symbol.iterator]();
  const taken: T[] = [];
  while (taken.length < AT_ONCE) {
    const result = iterator.next();
    if (result.done === true) return taken;
    taken.push(result.value);
  }
  const next = (): IteratorResult<T> =>
    taken.length > 0 ? { done: false, value: taken.shift() as T } : iterator.next();
  const close = () => iterator.return?.() ?? { done: true, value: undefined };
  return { [Symbol.iterator]: () => ({ next, return: close }) };
}

const WITHOUT_BOUND: Demand = {
  room: Number.POSITIVE_INFINITY,
  room$: /* @__PURE__ */ of(Number.POSITIVE_INFINITY),
};

/**
 * The results of an Observable, an iterable, or a promise of any of what a plugin may return. Iterables are pulled by
 * demand: by default, to their end. Observables cannot be made to wait.
 */
export function streamResults<T>(value: unknown, demand: Demand = WITHOUT_BOUND): Observable<T> {
  if (isPulled(value)) return pullFrom(value as AsyncIterable<T>, demand);
  const results = toObservable(value as ObservableInput<unknown>);
  const isPromise = typeof (value as { then?: unknown }).then === 'function';
  if (!isPromise) return results as Observable<T>;
  return results.pipe(concatMap((result) => availableResults<T>(result) ?? streamResults<T>(result, demand)));
}

/** Some Observables are async iterables as well: they tell by themselves what comes. */
function isPulled(value: unknown): boolean {
  if (typeof (value as { subscribe?: unknown }).subscribe === 'function') return false;
  return isIterable(value) || Symbol.asyncIterator in (value as object);
}
