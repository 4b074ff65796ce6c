import fs from 'node:fs';
import { concatMap, Observable, of } from 'rxjs';

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

/** Up to `length` bytes; less if the file ends before. */
export function readAt(fd: number, position: number, length: number): Observable<Buffer> {
  const bytes = Buffer.alloc(length);
  const rest = (read: number): Observable<Buffer> =>
    fileCall<number>((done) => fs.read(fd, bytes, read, length - read, position + read, done)).pipe(
      concatMap((count) =>
        count === 0 || read + count === length ? of(bytes.subarray(0, read + count)) : rest(read + count),
      ),
    );
  return rest(0);
}
