import { concatMap, from, Observable, type ObservableInput } from 'rxjs';

/** Whether a plugin's return value is something to wait for: an Observable, a promise or an async iterable. */
export function isAsync(value: unknown): value is ObservableInput<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Observable) return true;
  if (typeof (value as { then?: unknown }).then === 'function') return true;
  if (Symbol.asyncIterator in value) return true;
  // An Observable of another copy of rxjs, or of another library.
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
 * The results that a plugin's return value stands for, when they are at hand: nothing, one, or an iterable of
 * them. `undefined` means that they must be waited for: see {@link eventually}.
 */
export function atHand<T>(value: unknown): readonly T[] | undefined {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return [];
  if (isAsync(value)) return undefined;
  return isIterable(value) ? ([...value] as T[]) : [value as T];
}

/** The results of an Observable, an async iterable, or a promise of any of what a plugin may return. */
export function eventually<T>(value: ObservableInput<unknown>): Observable<T> {
  const isPromise = typeof (value as { then?: unknown }).then === 'function';
  const results = toObservable(value);
  if (!isPromise) return results as Observable<T>;
  return results.pipe(
    concatMap((result) => atHand<T>(result) ?? eventually<T>(result as ObservableInput<unknown>)),
  );
}
