import fs from 'node:fs';
import { basename, dirname } from 'node:path';
import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type Observable,
  of,
  tap,
  throwError,
} from 'rxjs';
import { counted } from '../../support/counted.ts';
import { fileCall, readAt } from './file-call.ts';
import { mendTail } from './mend-tail.ts';
import {
  closeOutput,
  type OpenOutput,
  type OutputId,
  openOutput,
  openStatus,
  syncFolder,
} from './open-output.ts';
import { type BrokenWrite, writeAll } from './write-all.ts';

/** Where the next write to a file goes. */
export interface OutputPlace {
  readonly id: OutputId;
  /** Bytes from the begin of the file. */
  readonly length: number;
}

/** What a failed write left at the end of a file, and could not be cut off yet. */
export interface Leftover extends OutputPlace {
  readonly end: number;
}

export interface OutputLog {
  warn(message: string): void;
}

export interface OpenFileOptions {
  /** What the last write to this path left behind. */
  readonly leftover: Leftover | undefined;
  readonly log: OutputLog;
  /** The permissions of a file that is created. */
  readonly mode: number;
}

const NEWLINE = Buffer.from('\n');

/** A file open for appending, that keeps no more than what was confirmed. One operation at a time, beside `sync`. */
export class OutputFile {
  readonly path: string;
  readonly id: OutputId;
  leftover: Leftover | undefined;
  readonly #fd: number;
  /** Bytes, if nobody else writes to it. */
  #length: number;
  #lengthBefore: number;
  /** What was done to it that has to be forced to the disk, and how much of that was. */
  #changes = 0;
  #synced = 0;
  /** Its entry in the folder was not forced to the disk. */
  #isNew: boolean;

  private constructor(path: string, { fd, id, size, isNew }: OpenOutput) {
    this.path = path;
    this.id = id;
    this.#fd = fd;
    this.#length = size;
    this.#lengthBefore = size;
    this.#isNew = isNew;
    this.#changes = isNew ? 1 : 0;
  }

  /** Opens and mends a file. */
  static open(path: string, { leftover, log, mode }: OpenFileOptions): Observable<OutputFile> {
    return openOutput(path, mode).pipe(
      concatMap((opened) => {
        const file = new OutputFile(path, opened);
        return concat(
          defer(() => file.#cut(leftover)),
          defer(() => file.#mend(log)),
          of(file),
        ).pipe(
          catchError((error) =>
            concat(
              file.close(),
              throwError(() => error),
            ),
          ),
        );
      }),
    );
  }

  get place(): OutputPlace {
    return { id: this.id, length: this.#length };
  }

  /** Appends all of `bytes`. When it errors, the file has none of it, or `leftover` tells what it still has. */
  append(bytes: Buffer): Observable<never> {
    this.#lengthBefore = this.#length;
    return writeAll(this.#fd, bytes).pipe(
      tap({
        complete: () => {
          this.#length += bytes.length;
          // Not before: a `sync` that begins beside the write would count what the disk may not have.
          this.#changes++;
        },
      }),
      catchError((error: BrokenWrite) => {
        this.#length += error.written;
        return concat(
          this.undo(),
          throwError(() => error.cause),
        );
      }),
    );
  }

  /**
   * Cuts off what the last `append` has written, unless somebody else has written since. Never errors. What a file
   * holds that somebody emptied right before is that write alone.
   */
  undo(): Observable<never> {
    const length = this.#lengthBefore;
    const end = this.#length;
    if (end <= length) return EMPTY;
    return openStatus(this.#fd).pipe(
      concatMap(({ size }) => {
        if (size === end) return this.#truncate(length);
        return size === end - length ? this.#truncate(0) : EMPTY;
      }),
      catchError(() => {
        this.leftover = { id: this.id, length, end };
        return EMPTY;
      }),
    );
  }

  /**
   * Whether it was removed under the name it was opened by. One that was renamed before, as logrotate does it, was read
   * in full by whoever compressed it. Never errors.
   */
  wasRemoved(): Observable<boolean> {
    return fileCall<fs.Stats>((done) => fs.fstat(this.#fd, done)).pipe(
      concatMap(({ nlink }) => (nlink > 0 ? of(false) : this.#keptItsName())),
      catchError(() => of(true)),
    );
  }

  /** Up to `length` bytes from its begin. */
  read(length: number): Observable<Buffer> {
    return readAt(this.#fd, 0, length);
  }

  /** Forces what was written until now to the disk. It may be written to meanwhile, not closed. */
  sync(): Observable<never> {
    const upTo = this.#changes;
    if (upTo === this.#synced) return EMPTY;
    const folder$ = defer(() => (this.#isNew ? syncFolder(dirname(this.path)) : EMPTY));
    return concat(
      fileCall((done) => fs.fdatasync(this.#fd, done)),
      folder$,
    ).pipe(
      ignoreElements(),
      tap({
        complete: () => {
          this.#synced = Math.max(this.#synced, upTo);
          this.#isNew = false;
        },
      }),
    );
  }

  /** Takes note of what others did to it: `size` is that of the file now. */
  resized(size: number): void {
    this.#length = size;
  }

  close(): Observable<never> {
    return closeOutput(this.#fd);
  }

  /** Linux tells the last name of a file that has none any more. */
  #keptItsName(): Observable<boolean> {
    return fileCall<string>((done) => fs.readlink(`/proc/self/fd/${this.#fd}`, done)).pipe(
      map((name) => basename(name) === `${basename(this.path)} (deleted)`),
    );
  }

  #cut(leftover: Leftover | undefined): Observable<never> {
    const isThere = leftover?.id === this.id && leftover.end === this.#length;
    return isThere ? this.#truncate(leftover.length) : EMPTY;
  }

  #mend(log: OutputLog): Observable<never> {
    return mendTail(this.#fd, this.#length).pipe(
      concatMap(({ length, isTerminated }) => {
        const torn = this.#length - length;
        this.#length = length;
        if (torn > 0) {
          log.warn(
            `${this.path} ended with ${counted(torn, 'byte')} of a write that was never confirmed; that was cut off`,
          );
        }
        if (isTerminated) return EMPTY;
        const text = `${this.path} ended in the middle of a line that is not ours; it got a newline`;
        return this.append(NEWLINE).pipe(tap({ complete: () => log.warn(text) }));
      }),
    );
  }

  #truncate(length: number): Observable<never> {
    return fileCall((done) => fs.ftruncate(this.#fd, length, done)).pipe(
      tap(() => {
        this.#length = length;
      }),
      ignoreElements(),
    );
  }
}
