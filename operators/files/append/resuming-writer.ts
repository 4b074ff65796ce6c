import type { Observable } from 'rxjs';
import { writeAll } from '../../support/file-system.ts';
import { SerialJobs } from './file-appender.ts';
import { writeError } from './write-error.ts';

/** Bytes of which some were written, while their writer was not told so. */
interface Unconfirmed {
  bytes: Buffer;
  written: number;
}

/** Bytes that were given up are never written again: of more, the oldest are forgotten. */
const MOST_UNCONFIRMED = 1000;

/**
 * Writes for several users to one descriptor whose file cannot be truncated: it may belong to another program, with an
 * offset of its own. What a failed write has started is remembered. The next writer first writes the rest of it, so that
 * no line is torn. When the same bytes come again, those that are in the file are not written twice.
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
    return this.#jobs.run(async (isCancelled) => {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      await this.#finishLast();
      const known = this.#take(bytes);
      const { written, error } = await writeAll(this.#fd, bytes.subarray(known));
      if (error !== undefined || isCancelled()) this.#remember(bytes, known + written);
      if (error !== undefined) throw writeError(this.#name, error);
    });
  }

  /** Writes the rest of what was started last. */
  async #finishLast(): Promise<void> {
    const last = this.#unconfirmed.at(-1);
    if (last === undefined || last.written === last.bytes.length) return;
    const { written, error } = await writeAll(this.#fd, last.bytes.subarray(last.written));
    last.written += written;
    if (error !== undefined) throw writeError(this.#name, error);
  }

  /** How much of `bytes` is in the file already; that is then forgotten. */
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

function isPrefix(start: Buffer, bytes: Buffer): boolean {
  return bytes.length >= start.length && bytes.compare(start, 0, start.length, 0, start.length) === 0;
}
