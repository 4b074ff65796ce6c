import fs from 'node:fs';
import { Observable } from 'rxjs';

/** Bytes that are in memory at a time. */
const CHUNK = 256 * 1024;

/** Looks at a part of a file. Returns true to end the reading. `bytes` are used again for the next part. */
type Look = (bytes: Buffer, position: number) => boolean;

/** Reads a part of a file from its start to its end, chunk by chunk. Emits nothing. */
export function readForwards(fd: number, start: number, end: number, look: Look): Observable<never> {
  return readChunks(fd, look, (done) => {
    const from = start + done;
    return { from, length: Math.min(CHUNK, end - from) };
  });
}

/** Reads a part of a file from its end to its start, chunk by chunk. Emits nothing. */
export function readBackwards(fd: number, start: number, end: number, look: Look): Observable<never> {
  return readChunks(fd, look, (done) => {
    const length = Math.min(CHUNK, end - done - start);
    return { from: end - done - length, length };
  });
}

function readChunks(
  fd: number,
  look: Look,
  chunkAt: (done: number) => { readonly from: number; readonly length: number },
): Observable<never> {
  return new Observable((subscriber) => {
    const memory = Buffer.allocUnsafe(CHUNK);
    let done = 0;
    let read = 0;
    const next = () => {
      const { from, length } = chunkAt(done);
      if (length <= 0) {
        subscriber.complete();
        return;
      }
      fs.read(fd, memory, read, length - read, from + read, (error, count) => {
        if (error !== null) {
          subscriber.error(error);
          return;
        }
        read += count;
        // Somebody has cut the file off meanwhile.
        if (count === 0) subscriber.complete();
        else if (read < length) next();
        else if (look(memory.subarray(0, length), from)) subscriber.complete();
        else {
          done += length;
          read = 0;
          next();
        }
      });
    };
    next();
  });
}
