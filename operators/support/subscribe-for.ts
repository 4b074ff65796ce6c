import { type Observable, type Observer, Subscriber, type Subscription } from 'rxjs';

/**
 * Subscribes to `source` on behalf of `subscriber`, as RxJS's own operators do: a source that emits synchronously
 * notices the unsubscription while it emits. With `subscriber.add(source.subscribe(…))` it would not, and
 * `range(1, 1e9).pipe(operator, take(1))` would run to its end.
 */
export function subscribeFor<T>(
  subscriber: Subscription,
  source: Observable<T>,
  observer: Observer<T>,
): Subscription {
  // The constructor is marked as internal in RxJS 7 and deprecated in RxJS 8 (8.0.0-alpha.14), which has `operate`
  // instead. It works in both, and is the only way in RxJS 7 to be linked before the first value.
  const inner = new Subscriber<T>(observer);
  subscriber.add(inner);
  source.subscribe(inner);
  return inner;
}

/**
 * {@link subscribeFor} for one source of several. `ended` is called when it has completed and its teardown has run, so
 * that the next one finds what this one has freed; and also when `subscriber` is closed.
 *
 * @param completed called when it has completed, before its teardown runs
 */
export function subscribeInner<T>(
  subscriber: Pick<Subscriber<unknown>, 'add' | 'error'>,
  source: Observable<T>,
  next: (value: T) => void,
  ended: () => void,
  completed = (): void => {},
): void {
  const inner = new Subscriber<T>({
    next,
    error: (error: unknown) => subscriber.error(error),
    complete: completed,
  });
  const { unsubscribe } = inner;
  // RxJS's own operators do this too: a teardown added with `add` would run before those that the source adds later.
  inner.unsubscribe = () => {
    if (inner.closed) return;
    try {
      unsubscribe.call(inner);
    } finally {
      ended();
    }
  };
  subscriber.add(inner);
  source.subscribe(inner);
}
