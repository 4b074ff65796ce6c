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
 * {@link subscribeFor} for one inner source of several. `ended` is called when it has completed and its teardown has
 * run, so that the next one finds what this one has freed; and also when `subscriber` is closed.
 */
export function subscribeInner<T>(
  subscriber: Subscriber<T>,
  source: Observable<T>,
  next: (value: T) => void,
  ended: () => void,
): void {
  const inner = new InnerSubscriber<T>(
    { next, error: (error) => subscriber.error(error), complete() {} },
    ended,
  );
  subscriber.add(inner);
  source.subscribe(inner);
}

class InnerSubscriber<T> extends Subscriber<T> {
  readonly #ended: () => void;

  constructor(observer: Observer<T>, ended: () => void) {
    super(observer);
    this.#ended = ended;
  }

  // RxJS's own operators do this too: a teardown added with `add` would run before those that the source adds later.
  override unsubscribe(): void {
    if (this.closed) return;
    try {
      super.unsubscribe();
    } finally {
      this.#ended();
    }
  }
}
