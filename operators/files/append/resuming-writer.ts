import { catchError, concat, defer, EMPTY, type Observable, tap, throwError } from 'rxjs';
import { SerialJobs } from '../../support/serial-jobs.ts';
import { type BrokenWrite, writeAll } from './write-all.ts';
import { writeError } from './write-error.ts';

/** A text that was begun, and that nobody was told is written. */
interface Unconfirmed {
  bytes: Buffer;
  /** How many of the bytes are in the file. */
  written: number;
}

/** Texts that are given up are never asked for again: the oldest are forgotten. */
const MOST_UNCONFIRMED = 1000;

/**
 * Writes for several users to one descriptor whose file cannot be cut: it may be anybody's, with an offset of its own.
 * What a failed write has begun is remembered. Whoever writes next first writes the rest of it, so that no line is torn,
 * and when the same text comes again it is taken for written as far as it is, so that no line comes twice.
 */
export class ResumingWriter {
  readonly #fd: number;
  readonly #name: string;
  readonly #jobs = new SerialJobs();
  /** Only the last of them can lack a part. */
  readonly #unconfirmed: Unconfirmed[] = [];

  /** `name` is what errors call it. */
  constructor(fd: number, name: string) {
    this.#fd = fd;
    this.#name = name;
  }

  /** Writes `text` on subscription, all of it. */
  write(text: string | Buffer): Observable<never> {
    return this.#jobs.runAll((isCancelled) => {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      return concat(
        this.#finish(),
        defer(() => this.#write(bytes, isCancelled)),
      ).pipe(catchError(({ cause }: BrokenWrite) => throwError(() => writeError(this.#name, cause))));
    });
  }

  /** Writes the rest of what was begun last. */
  #finish(): Observable<never> {
    const begun = this.#unconfirmed.at(-1);
    if (begun === undefined || begun.written === begun.bytes.length) return EMPTY;
    return writeAll(this.#fd, begun.bytes.subarray(begun.written)).pipe(
      tap({
        complete: () => {
          begun.written = begun.bytes.length;
        },
        error: ({ written }: BrokenWrite) => {
          begun.written += written;
        },
      }),
    );
  }

  #write(bytes: Buffer, isCancelled: () => boolean): Observable<never> {
    const known = this.#take(bytes);
    return writeAll(this.#fd, bytes.subarray(known)).pipe(
      tap({
        complete: () => {
          if (isCancelled()) this.#remember(bytes, bytes.length);
        },
        error: ({ written }: BrokenWrite) => this.#remember(bytes, known + written),
      }),
    );
  }

  /** How much of `bytes` is in the file already; that is not remembered any more. */
  #take(bytes: Buffer): number {
    const index = this.#unconfirmed.findIndex(
      (begun) => isPrefix(begun.bytes, bytes) || isPrefix(bytes, begun.bytes),
    );
    const begun = this.#unconfirmed[index];
    if (begun === undefined) return 0;
    const length = Math.min(begun.bytes.length, bytes.length);
    if (length === begun.bytes.length) this.#unconfirmed.splice(index, 1);
    else this.#unconfirmed[index] = { bytes: begun.bytes.subarray(length), written: begun.written - length };
    return length;
  }

  #remember(bytes: Buffer, written: number): void {
    if (written === 0) return;
    // A copy: the memory of `bytes` may be used again.
    this.#unconfirmed.push({ bytes: Buffer.from(bytes), written });
    if (this.#unconfirmed.length > MOST_UNCONFIRMED) this.#unconfirmed.shift();
  }
}

/** Whether `text` begins with all of `start`. */
function isPrefix(start: Buffer, text: Buffer): boolean {
  return text.length >= start.length && text.compare(start, 0, start.length, 0, start.length) === 0;
}
