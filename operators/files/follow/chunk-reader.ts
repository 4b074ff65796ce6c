import fs from 'node:fs';
import type { Descriptors } from './descriptors.ts';
import { findStart } from './find-start.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FollowedFile, StartPosition } from './followed-file.ts';
import type { Foreign } from './foreign-format.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { OVERLAP_BYTES } from './overlap.ts';
import { isSame, ReadAhead, type Span } from './read-ahead.ts';
import { closeFile, openFile } from './regular-file.ts';

/**
 * The bytes read, in memory that the next read overwrites; none at the end of the file. Undefined if the file is not
 * any more what was read before: it was truncated.
 */
type Read = (error: Error | null, chunk: Buffer | undefined) => void;

/**
 * Told of a file that was opened, and is the one it was taken for or begins anew. `start`: what stands before the offset
 * where it is to be read on, once that was looked at.
 */
type Recognised = (file: FollowedFile, start?: Pick<StartPosition, 'offset' | 'tail'>) => void;

const NOTHING = Buffer.alloc(0);

/** Reads the next bytes of one file at a time, opening it if need be. */
export class ChunkReader {
  readonly #descriptors: Descriptors;
  readonly #chunkBytes: number;
  readonly #maxLineBytes: number;
  readonly #budget: MemoryBudget;
  readonly #recognised: Recognised;
  #buffer: Buffer;
  /** The memory of what is read ahead, when the other one holds what was read last. */
  #spare: Buffer | undefined;
  #ahead: ReadAhead | undefined;
  /** There was as much to read as was asked for: there may be more. */
  #wasFull = false;
  #isClosed = false;

  constructor(
    descriptors: Descriptors,
    { chunkBytes, maxLineBytes, memory }: Pick<FollowSettings, 'chunkBytes' | 'maxLineBytes' | 'memory'>,
    recognised: Recognised,
  ) {
    this.#descriptors = descriptors;
    this.#chunkBytes = chunkBytes;
    this.#maxLineBytes = maxLineBytes;
    this.#budget = memory;
    this.#buffer = this.#memory();
    this.#recognised = recognised;
  }

  /** Calls back, at once if the bytes were read ahead; not if closed meanwhile. */
  read(file: FollowedFile, callback: Read): void {
    file.isBusy = true;
    const done: Read = (error, chunk) => {
      file.isBusy = false;
      // The descriptor of a file that is gone is the only way to it.
      if (this.#isClosed || (error !== null && !file.isGone)) this.#descriptors.release(file);
      if (!this.#isClosed) callback(error, chunk);
    };
    const { fd } = file;
    this.#descriptors.touch(file);
    if (fd === undefined) this.#open(file, done);
    else if (this.#ahead?.file === file) this.#takeAhead(this.#ahead, fd, done);
    else this.#read(file, fd, done);
  }

  /**
   * Begins to read what `read` will ask for next, if there seems to be more and `file` is the one read last: so the
   * disk and the rest of the pipeline work at a time.
   */
  readAhead(file: FollowedFile): void {
    const { fd } = file;
    if (fd === undefined || !this.#wasFull || this.#isClosed || this.#ahead?.isUnderWay) return;
    if (this.#spare === undefined && !this.#budget.hasRoomFor(this.#memoryBytes)) return;
    this.#spare ??= this.#memory();
    const span = this.#spanOf(file);
    const ahead = new ReadAhead(file, span);
    this.#ahead = ahead;
    file.isBusy = true;
    fs.read(fd, this.#spare, 0, span.length, span.start, (error, count) => {
      file.isBusy = false;
      if (this.#isClosed) this.#descriptors.release(file);
      // Less is read again: there may be more by then.
      else ahead.end(error === null && count === span.length);
    });
  }

  /** A descriptor that is being read from now is closed when that is done: its number must not be reused before. */
  close(): void {
    if (!this.#isClosed) this.#budget.give(this.#memoryBytes * (this.#spare === undefined ? 1 : 2));
    this.#isClosed = true;
  }

  #open(file: FollowedFile, done: Read): void {
    // It was closed behind that, and may have begun anew since.
    if (this.#ahead?.file === file) this.#ahead = undefined;
    openFile(file.path, file, (error, opened) => {
      if (opened === undefined) {
        done(error, NOTHING);
      } else if (opened.id === file.id && !this.#isClosed) {
        this.#descriptors.attach(file, opened.fd);
        if (!file.recognise(opened.head)) {
          done(null, undefined);
          return;
        }
        this.#recognised(file);
        this.#read(file, opened.fd, done);
      } else {
        closeFile(opened.fd);
        done(moved(file), NOTHING);
      }
    });
  }

  #takeAhead(ahead: ReadAhead, fd: number, done: Read): void {
    const { file, span } = ahead;
    ahead.whenEnded((isFull) => {
      this.#ahead = undefined;
      if (!isFull || !isSame(span, this.#spanOf(file))) {
        this.#read(file, fd, done);
        return;
      }
      [this.#buffer, this.#spare] = [this.#spare as Buffer, this.#buffer];
      this.#give(file, span, span.length, done);
    });
  }

  #read(file: FollowedFile, fd: number, done: Read): void {
    file.isBusy = true;
    if (file.start !== undefined) {
      this.#begin(file, file.start, fd, done);
      return;
    }
    if (file.predecessor !== undefined && file.lines.readOffset >= file.readableEnd) {
      this.#look(file, fd, done);
    } else this.#readChunk(file, fd, done);
  }

  #readChunk(file: FollowedFile, fd: number, done: Read): void {
    const span = this.#spanOf(file);
    fs.read(fd, this.#buffer, 0, span.length, span.start, (error, count) => {
      if (error === null) this.#give(file, span, count, done);
      else done(error, NOTHING);
    });
  }

  /** Sees how far the file may be read once its predecessor is read to its end, and reads nothing new. */
  #look(file: FollowedFile, fd: number, done: Read): void {
    fs.fstat(fd, (error, stats) => {
      if (error !== null) {
        done(error, NOTHING);
        return;
      }
      file.readableEnd = stats.size;
      if (stats.size > file.lines.readOffset) done(null, NOTHING);
      else this.#readChunk(file, fd, done);
    });
  }

  /** Looks at the bytes before the start first. */
  #begin(file: FollowedFile, start: StartPosition, fd: number, done: Read): void {
    findStart(fd, start, this.#maxLineBytes, (error, found) => {
      if (error !== null || this.#isClosed) done(error, NOTHING);
      else if (found === undefined) done(null, undefined);
      else {
        this.#recognised(file, { offset: start.offset, tail: found.tail });
        file.begin(found);
        this.#read(file, fd, done);
      }
    });
  }

  #give(file: FollowedFile, { start, length }: Span, count: number, done: Read): void {
    this.#wasFull = count === length;
    const read = this.#buffer.subarray(0, count);
    const overlap = file.overlap.length;
    const chunk = file.overlap.matches(read) ? read.subarray(overlap) : undefined;
    if (chunk !== undefined) file.head.add(chunk, start + overlap);
    const { foreign } = file.head;
    if (chunk !== undefined && foreign !== undefined) {
      file.refuse();
      done(notText(file, foreign), NOTHING);
    } else done(null, chunk);
  }

  #spanOf({ lines, backfillEnd, overlap, predecessor, readableEnd }: FollowedFile): Span {
    const position = lines.readOffset;
    // No chunk lies across the end of what was there at the start, so no batch does.
    const upTo = position < backfillEnd ? backfillEnd : Infinity;
    const end = predecessor === undefined ? upTo : Math.min(upTo, readableEnd);
    return {
      start: position - overlap.length,
      length: overlap.length + Math.min(this.#chunkBytes, Math.max(0, end - position)),
    };
  }

  #memory(): Buffer {
    this.#budget.take(this.#memoryBytes);
    return Buffer.allocUnsafeSlow(this.#memoryBytes);
  }

  get #memoryBytes(): number {
    return OVERLAP_BYTES + this.#chunkBytes;
  }
}

function moved(file: FollowedFile): Error {
  return Object.assign(new Error('the path leads to another file now'), { code: 'MOVED', path: file.path });
}

/** What masks look for is not to be found in it, so it would pass. */
function notText({ path }: FollowedFile, { name, advice }: Foreign): Error {
  const message = `it looks like ${name}, in which masks find nothing; wanted UTF-8 text: ${advice}, or leave it out of \`paths\``;
  return Object.assign(new Error(message), { code: 'NOT_TEXT', path });
}
