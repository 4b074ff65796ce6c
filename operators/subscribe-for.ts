import { type Observable, type Observer, Subscriber, type Subscription } from 'rxjs';

/**
 * Subscribes to `source` on behalf of `subscriber`, as RxJS's own operators do: a source that emits synchronously
 * hears of the unsubscription while it emits. With `subscriber.add(source.subscribe(…))` it would not, and
 * `range(1, 1e9).pipe(operator, take(1))` would run to its end.
 */
export function subscribeFor<T>(
  subscriber: Subscription,
  source: Observable<T>,
  observer: Observer<T>,
): Subscription {
  // Marked as internal in RxJS 7, but the only way to be linked before the first value.
  const inner = new Subscriber<T>(observer);
  subscriber.add(inner);
  source.subscribe(inner);
  return inner;
}
