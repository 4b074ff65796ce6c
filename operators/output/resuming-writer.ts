import { catchError, concat, defer, EMPTY, type Observable, tap, throwError } from 'rxjs';
import { SerialJobs } from '../serial-jobs.ts';
import { type BrokenWrite, writeAll } from './write-all.ts';
import { writeError } from './write-error.ts';

const LF = 0x0a;
const NOTHING = Buffer.alloc(0);

/**
 * Writes to a descriptor whose file cannot be cut: it may be anybody's, with an offset of its own. What a failed or
 * cancelled write has written is therefore remembered, and the next one, of the same text, goes on behind it.
 */
export class ResumingWriter {
  readonly #fd: number;
  readonly #name: string;
  readonly #jobs = new SerialJobs();
  /** Written, and not confirmed to anybody. */
  #unconfirmed: Buffer = NOTHING;

  /** `name` is what errors call it. */
  constructor(fd: number, name: string) {
    this.#fd = fd;
    this.#name = name;
  }

  /** Writes `text` on subscription, all of it. */
  write(text: string | Buffer): Observable<never> {
    return this.#jobs.runAll((isCancelled) =>
      defer(() => this.#write(typeof text === 'string' ? Buffer.from(text) : text, isCancelled)),
    );
  }

  #write(bytes: Buffer, isCancelled: () => boolean): Observable<never> {
    const before = this.#unconfirmed;
    if (isPrefix(bytes, before)) {
      this.#unconfirmed = before.subarray(bytes.length);
      return EMPTY;
    }
    const resumes = isPrefix(before, bytes);
    // Something else follows than what was begun: it must not be glued to half a line.
    const isTorn = !resumes && before[before.length - 1] !== LF;
    const start = resumes ? before : NOTHING;
    const rest = resumes ? bytes.subarray(before.length) : bytes;
    const written$ = writeAll(this.#fd, rest).pipe(
      catchError((error: BrokenWrite) => {
        this.#unconfirmed = Buffer.concat([start, rest.subarray(0, error.written)]);
        return throwError(() => writeError(this.#name, error.cause));
      }),
      tap({
        complete: () => {
          this.#unconfirmed = isCancelled() ? bytes : NOTHING;
        },
      }),
    );
    return isTorn ? concat(this.#endLine(), written$) : written$;
  }

  #endLine(): Observable<never> {
    return writeAll(this.#fd, Buffer.of(LF)).pipe(
      catchError((error: BrokenWrite) => throwError(() => writeError(this.#name, error.cause))),
      tap({
        complete: () => {
          this.#unconfirmed = NOTHING;
        },
      }),
    );
  }
}

/** Whether `text` begins with all of `start`. */
function isPrefix(start: Buffer, text: Buffer): boolean {
  return text.length >= start.length && text.compare(start, 0, start.length, 0, start.length) === 0;
}
