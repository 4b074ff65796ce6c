import fs from 'node:fs';
import type { Descriptors } from './descriptors.ts';
import type { FollowedFile } from './followed-file.ts';
import type { Foreign } from './foreign-format.ts';
import { OVERLAP_BYTES } from './overlap.ts';
import { closeFile, openFile } from './regular-file.ts';

/**
 * The bytes read, in memory that the next read overwrites; none at the end of the file. Undefined if the file is not
 * any more what was read before: it was truncated.
 */
type Read = (error: Error | null, chunk: Buffer | undefined) => void;

const NOTHING = Buffer.alloc(0);

/** Reads the next bytes of one file at a time, opening it if need be. */
export class ChunkReader {
  readonly #descriptors: Descriptors;
  readonly #buffer: Buffer;
  readonly #chunkBytes: number;
  readonly #recognised: (file: FollowedFile) => void;
  #isClosed = false;

  /** `recognised` is told of a file that was opened, and is the one it was taken for or begins anew. */
  constructor(descriptors: Descriptors, chunkBytes: number, recognised: (file: FollowedFile) => void) {
    this.#descriptors = descriptors;
    this.#buffer = Buffer.allocUnsafeSlow(OVERLAP_BYTES + chunkBytes);
    this.#chunkBytes = chunkBytes;
    this.#recognised = recognised;
  }

  /** Calls back later, always, unless closed meanwhile. */
  read(file: FollowedFile, callback: Read): void {
    file.isBusy = true;
    const done: Read = (error, chunk) => {
      file.isBusy = false;
      // The descriptor of a file that is gone is the only way to it.
      if (this.#isClosed || (error !== null && !file.isGone)) this.#descriptors.release(file);
      if (!this.#isClosed) callback(error, chunk);
    };
    if (file.fd === undefined) this.#open(file, done);
    else this.#read(file, file.fd, done);
  }

  /** A descriptor that is being read from now is closed when that is done: its number must not be reused before. */
  close(): void {
    this.#isClosed = true;
  }

  #open(file: FollowedFile, done: Read): void {
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

  #read(file: FollowedFile, fd: number, done: Read): void {
    this.#descriptors.touch(file);
    const position = file.lines.readOffset;
    // No chunk lies across the end of what was there at the start, so no batch does.
    const upTo = position < file.backfillEnd ? file.backfillEnd - position : Infinity;
    const overlap = file.overlap.length;
    const length = overlap + Math.min(this.#chunkBytes, upTo);
    fs.read(fd, this.#buffer, 0, length, position - overlap, (error, count) => {
      const read = this.#buffer.subarray(0, error === null ? count : 0);
      if (error !== null) {
        done(error, NOTHING);
        return;
      }
      const chunk = file.overlap.matches(read) ? read.subarray(overlap) : undefined;
      if (chunk !== undefined) file.head.add(chunk, position);
      const { foreign } = file.head;
      if (chunk !== undefined && foreign !== undefined) {
        file.refuse();
        done(notText(file, foreign), NOTHING);
      } else done(null, chunk);
    });
  }
}

function moved(file: FollowedFile): Error {
  return Object.assign(new Error('the path leads to another file now'), { code: 'MOVED', path: file.path });
}

/** What masks look for is not to be found in it, so it would pass. */
function notText({ path }: FollowedFile, { name, advice }: Foreign): Error {
  const message = `it looks like ${name}, in which masks find nothing; wanted UTF-8 text: ${advice}, or name it out of the paths`;
  return Object.assign(new Error(message), { code: 'NOT_TEXT', path });
}
