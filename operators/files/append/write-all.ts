import fs from 'node:fs';
import { Observable } from 'rxjs';

/** A write that failed after some of it was written. */
export class BrokenWrite {
  readonly cause: NodeJS.ErrnoException;
  /** Bytes. */
  readonly written: number;

  constructor(cause: NodeJS.ErrnoException, written: number) {
    this.cause = cause;
    this.written = written;
  }
}

/** Appends all of `bytes`, in as many writes as it takes. Errors with a {@link BrokenWrite}. */
export function writeAll(fd: number, bytes: Uint8Array): Observable<never> {
  return new Observable((subscriber) => {
    let written = 0;
    const writeRest = () =>
      fs.write(fd, bytes, written, bytes.length - written, null, (error, count) => {
        if (error !== null) {
          subscriber.error(new BrokenWrite(error, written));
          return;
        }
        written += count;
        if (written < bytes.length) writeRest();
        else subscriber.complete();
      });
    writeRest();
  });
}
