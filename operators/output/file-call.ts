import { Observable } from 'rxjs';

/**
 * A call of `fs` as an Observable: begins on subscription, emits what it is called back with and completes.
 * What has begun is not undone by unsubscribing.
 */
export function fileCall<T = void>(
  call: (done: (error: Error | null, result?: T) => void) => void,
): Observable<T> {
  return new Observable((subscriber) =>
    call((error, result) => {
      if (error !== null) {
        subscriber.error(error);
        return;
      }
      subscriber.next(result as T);
      subscriber.complete();
    }),
  );
}
