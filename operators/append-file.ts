import fs from 'node:fs';
import { dirname } from 'node:path';
import type { Observable } from 'rxjs';
import { type Job, SerialJobs } from './serial-jobs.ts';

type Done = Parameters<Job>[0];

/**
 * Appends to one file, in order, through one descriptor. The file and its folder are made when first written to.
 *
 * A write is all or nothing: what a failed one left behind is cut off, so that trying again neither tears nor
 * doubles a line. Where that cannot be done (others write to the file as well), the next write begins a new line.
 *
 * @example
 * const appender = new FileAppender(`${folder}/out/events.jsonl`);
 * await lastValueFrom(appender.append('{"data":{}}\n'), { defaultValue: 'written' }); // 'written'
 * appender.close();
 * fs.readFileSync(`${folder}/out/events.jsonl`, 'utf8'); // '{"data":{}}\n'
 */
export class FileAppender {
  readonly #path: string;
  readonly #jobs = new SerialJobs(() => this.#closeIfDone());
  #fd: number | undefined;
  /** Bytes in the file, if nobody else writes to it. */
  #length = 0;
  /** The file ends in the middle of a line. */
  #isTorn = false;
  #isClosing = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Appends `text` on subscription; completes when the operating system has all of it, errors when it has none. */
  append(text: string): Observable<never> {
    return this.#jobs.run((done) => this.#open(text, done));
  }

  /** Closes the file when all writes are done. One that is asked for later opens and closes it again. */
  close(): void {
    this.#isClosing = true;
    this.#closeIfDone();
  }

  #open(text: string, done: Done): void {
    if (this.#fd !== undefined) {
      this.#write(this.#fd, text, done);
      return;
    }
    openToAppend(this.#path, (error, fd = -1) => {
      if (error !== null) {
        done(error);
        return;
      }
      this.#fd = fd;
      fs.fstat(fd, (failure, stats) => {
        if (failure !== null) {
          this.#fail(failure, done);
          return;
        }
        this.#length = stats.size;
        this.#write(fd, text, done);
      });
    });
  }

  #write(fd: number, text: string, done: Done): void {
    const bytes = Buffer.from(this.#isTorn ? `\n${text}` : text);
    let written = 0;
    const writeRest = () =>
      fs.write(fd, bytes, written, bytes.length - written, null, (error, count) => {
        if (error !== null) {
          this.#undo(fd, written, () => this.#fail(error, done));
          return;
        }
        written += count;
        if (written < bytes.length) {
          writeRest();
          return;
        }
        this.#length += written;
        this.#isTorn = false;
        done(null);
      });
    writeRest();
  }

  #undo(fd: number, written: number, next: () => void): void {
    if (written === 0) {
      next();
      return;
    }
    fs.fstat(fd, (error, stats) => {
      this.#isTorn = true;
      if (error !== null || stats.size !== this.#length + written) {
        next();
        return;
      }
      fs.ftruncate(fd, this.#length, (failure) => {
        if (failure === null) this.#isTorn = false;
        next();
      });
    });
  }

  /** Whatever is wrong with the descriptor, the next write gets another one. */
  #fail(error: Error, done: Done): void {
    this.#closeNow();
    done(error);
  }

  #closeIfDone(): void {
    if (this.#isClosing && !this.#jobs.isBusy) this.#closeNow();
  }

  #closeNow(): void {
    if (this.#fd === undefined) return;
    // All writes were confirmed, or reported as failed.
    fs.close(this.#fd, () => {});
    this.#fd = undefined;
  }
}

function openToAppend(path: string, callback: (error: Error | null, fd?: number) => void): void {
  fs.open(path, 'a', (error, fd) => {
    if (error?.code !== 'ENOENT') {
      callback(error, fd);
      return;
    }
    fs.mkdir(dirname(path), { recursive: true }, (failure) => {
      if (failure === null) fs.open(path, 'a', callback);
      else callback(failure);
    });
  });
}
