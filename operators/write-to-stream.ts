import type { Writable } from 'node:stream';
import { Observable } from 'rxjs';

/** Streams whose errors the failed write reports. */
const guarded = new WeakSet<Writable>();

/**
 * Writes `text` on subscription, and completes when the stream has passed it on, which gives backpressure. From then on,
 * it handles the `error` events of the stream, which would end the process without a listener.
 *
 * @example
 * const stream = fs.createWriteStream(`${folder}/log`);
 * await lastValueFrom(writeToStream(stream, 'line\n'), { defaultValue: 'written' }); // 'written'
 * stream.end();
 */
export function writeToStream(stream: Writable, text: string | Buffer): Observable<never> {
  return new Observable((subscriber) => {
    if (!guarded.has(stream)) {
      guarded.add(stream);
      stream.on('error', () => {});
    }
    stream.write(text, (error) => {
      if (error) subscriber.error(error);
      else subscriber.complete();
    });
  });
}
