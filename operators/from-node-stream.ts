import type { Readable } from 'node:stream';
import { Observable } from 'rxjs';
import { type Check, checkValue, DEMAND, hasMethods } from './support/check-options.ts';
import type { Demand } from './support/demand.ts';
import { Pump } from './support/pump.ts';

const STREAM: Check = (value) => hasMethods(value, 'read', 'on', 'destroy') || 'a readable stream of Node';

/**
 * Emits the chunks or objects of a readable stream of Node.js by demand. Chunks without room stay in the buffer of
 * the stream, which reads no more than its `highWaterMark`; `readableLength` counts them. Nothing is dropped.
 *
 * Unsubscribing destroys the stream.
 *
 * Use it instead of `from(stream)` when the consumer can be slower than the stream: `from` does not stop reading.
 *
 * Errors: the error of the stream, or an error that reports that the stream was destroyed before its end.
 *
 * @throws TypeError for an argument of the wrong type.
 *
 * @example
 * const window = new InFlightWindow(2);
 * const pulled = [];
 * const stream = Readable.from(['a', 'b', 'c']);
 * const row$ = fromNodeStream(stream, window).pipe(tap((row) => pulled.push(row)));
 * await firstValueFrom(row$.pipe(tap(() => window.take(1)), take(2), toArray())); // ['a', 'b']
 */
export function fromNodeStream<T>(stream: Readable, demand: Demand): Observable<T> {
  checkValue('fromNodeStream', 'stream', stream, STREAM);
  checkValue('fromNodeStream', 'demand', demand, DEMAND);
  return new Observable<T>((subscriber) => {
    const pump = new Pump(() => {
      const chunk: T | null = demand.room > 0 ? stream.read() : null;
      if (chunk !== null) subscriber.next(chunk);
      return chunk !== null;
    }, subscriber);
    const read = () => pump.run();
    const complete = () => subscriber.complete();
    const fail = (error: unknown) => subscriber.error(error);
    const close = () => fail(stream.errored ?? new Error('the stream was closed before its end'));

    stream.on('readable', read).on('end', complete).on('error', fail).on('close', close);
    subscriber.add(() => {
      stream.off('readable', read).off('end', complete).off('close', close);
      stream.destroy();
    });
    subscriber.add(demand.room$.subscribe(read));
    // One that has ended or failed already emits nothing more.
    if (stream.readableEnded) complete();
    else if (stream.destroyed) close();
  });
}
