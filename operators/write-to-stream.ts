import type { Writable } from 'node:stream';
import { Observable } from 'rxjs';

/** Streams whose errors are reported by the write that met them. */
const guarded = new WeakSet<Writable>();

/**
 * Writes `text` on subscription; completes when the stream has handed it on, which is its back-pressure, or errors.
 * The stream's `error` events are taken care of from then on: without a listener they would end the process.
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
