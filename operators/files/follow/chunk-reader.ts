import type fs from 'node:fs';
import { closeFile, fileSystem, fsCall } from '../../support/file-system.ts';
import type { Descriptors } from './descriptors.ts';
import { checksumOf, type NonTextFormat, STRETCH } from './file-fingerprint.ts';
import { openFile } from './file-system.ts';
import { findStart } from './find-start.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FollowedFile } from './followed-file.ts';
import type { StartPosition } from './start-position.ts';
import { encodingOf, type TextEncoding } from './text-encoding.ts';

/**
 * Called with a file that was opened, and is the expected one or starts over. `start`: the bytes before the offset where
 * reading resumes, once they were looked at.
 */
type Recognised = (file: FollowedFile, start?: Pick<StartPosition, 'offset' | 'tail'>) => void;

/** Where bytes lie in a file. */
interface Span {
  readonly start: number;
  readonly length: number;
}

/** A part of a file that is read before it is asked for. */
interface ReadAhead {
  readonly file: FollowedFile;
  readonly span: Span;
  /** Whether all of it was there. */
  readonly isFull: Promise<boolean>;
}

const NOTHING = Buffer.alloc(0);

type ChunkSettings = Pick<FollowSettings, 'chunkBytes' | 'maxLineBytes' | 'memory' | 'encoding'>;

/** Reads the next bytes of one file at a time, opening it if need be. */
export class ChunkReader {
  readonly #descriptors: Descriptors;
  readonly #settings: ChunkSettings;
  readonly #recognised: Recognised;
  #buffer: Buffer;
  /** The memory of what is read ahead, when the other one holds what was read last. */
  #spare: Buffer | undefined;
  #ahead: ReadAhead | undefined;
  #isReadingAhead = false;
  /** There was as much to read as was asked for: there may be more. */
  #wasFull = false;
  #isClosed = false;

  constructor(descriptors: Descriptors, settings: ChunkSettings, recognised: Recognised) {
    this.#descriptors = descriptors;
    this.#settings = settings;
    this.#recognised = recognised;
    this.#buffer = this.#takeMemory();
  }

  /**
   * The next bytes, in memory that the next read overwrites; none at the end of the file. Otherwise the file no longer
   * holds what was read before: `truncated` if it is shorter than that.
   */
  async read(file: FollowedFile): Promise<Buffer | 'truncated' | 'replaced'> {
    file.isBusy = true;
    this.#descriptors.touch(file);
    try {
      const fd = file.fd ?? (await this.#open(file));
      return fd === undefined ? 'replaced' : await this.#readOpen(file, fd);
    } catch (error) {
      // The descriptor of a file that is gone is the only way to it.
      if (!file.isGone) this.#descriptors.release(file);
      throw error;
    } finally {
      file.isBusy = false;
      if (this.#isClosed) this.#descriptors.release(file);
    }
  }

  /**
   * Starts to read what `read` will ask for next, if there seems to be more and `file` is the one read last: so the
   * disk and the rest of the pipeline work at the same time.
   */
  readAhead(file: FollowedFile): void {
    const { fd } = file;
    if (fd === undefined || !this.#wasFull || this.#isClosed || this.#isReadingAhead) return;
    if (this.#spare === undefined && !this.#settings.memory.hasRoomFor(this.#memoryBytes)) return;
    this.#spare ??= this.#takeMemory();
    const span = this.#spanOf(file);
    this.#ahead = { file, span, isFull: this.#fill(this.#spare, file, fd, span) };
  }

  /** A descriptor that is being read from now is closed when that is done: its number must not be reused before. */
  close(): void {
    if (!this.#isClosed) this.#settings.memory.give(this.#memoryBytes * (this.#spare === undefined ? 1 : 2));
    this.#isClosed = true;
  }

  async #fill(memory: Buffer, file: FollowedFile, fd: number, { start, length }: Span): Promise<boolean> {
    this.#isReadingAhead = true;
    file.isBusy = true;
    let count = 0;
    try {
      count = await fsCall<number>((done) => fileSystem.read(fd, memory, 0, length, start, done));
    } catch {
      // The read that asks for these bytes meets the same error.
    }
    this.#isReadingAhead = false;
    file.isBusy = false;
    if (this.#isClosed) this.#descriptors.release(file);
    return count === length;
  }

  /** The descriptor of the file at its path; undefined if that has other content than was read. */
  async #open(file: FollowedFile): Promise<number | undefined> {
    // It was closed after that read, and may have been truncated since.
    if (this.#ahead?.file === file) this.#ahead = undefined;
    const opened = await openFile(file.path, file);
    if (opened.id !== file.id || this.#isClosed) {
      closeFile(opened.fd);
      throw movedError(file);
    }
    this.#descriptors.attach(file, opened.fd);
    if (!file.head.accept(opened.head)) return undefined;
    this.#recognised(file);
    return opened.fd;
  }

  async #readOpen(file: FollowedFile, fd: number): Promise<Buffer | 'truncated' | 'replaced'> {
    const ahead = this.#ahead;
    if (ahead?.file === file) {
      const isFull = await ahead.isFull;
      file.isBusy = true;
      this.#ahead = undefined;
      if (isFull && isSame(ahead.span, this.#spanOf(file))) {
        [this.#buffer, this.#spare] = [this.#spare as Buffer, this.#buffer];
        return this.#take(file, ahead.span, ahead.span.length);
      }
    }
    const { start } = file;
    if (start !== undefined) {
      // The bytes before the start come first.
      const { maxLineBytes, encoding } = this.#settings;
      const found = await findStart(fd, start, maxLineBytes, encodingOf(encoding));
      if (found === undefined || this.#isClosed) return 'replaced';
      this.#recognised(file, { offset: start.offset, tail: found.tail });
      file.begin(found);
    }
    if (file.predecessor !== undefined && file.lines.readOffset >= file.readableEnd) {
      // How far the file may be read once its predecessor is read to its end; nothing new is read for now.
      const { size } = await fsCall<fs.Stats>((done) => fileSystem.fstat(fd, done));
      file.readableEnd = size;
      if (size > file.lines.readOffset) return NOTHING;
    }
    const span = this.#spanOf(file);
    const { length } = span;
    const count = await fsCall<number>((done) =>
      fileSystem.read(fd, this.#buffer, 0, length, span.start, done),
    );
    return this.#take(file, span, count);
  }

  #take(file: FollowedFile, { start, length }: Span, count: number): Buffer | 'truncated' | 'replaced' {
    this.#wasFull = count === length;
    const read = this.#buffer.subarray(0, count);
    const known = file.lines.readOffset - start;
    if (count < known) return 'truncated';
    if (!file.agreesWith({ bytes: read, start })) return 'replaced';
    const chunk = read.subarray(known);
    file.head.add(chunk, start + known);
    const { nonTextFormat } = file.head;
    if (nonTextFormat === undefined) {
      if (chunk.length > 0) file.readTail = checksumOf(read, start + count);
      return chunk;
    }
    file.refuse();
    throw notTextError(file, nonTextFormat, encodingOf(this.#settings.encoding));
  }

  /** What is read next, with the bytes before it that are to be compared. */
  #spanOf({ lines, backfillEnd, readTail, predecessor, readableEnd }: FollowedFile): Span {
    const position = lines.readOffset;
    const start = readTail?.from ?? position;
    // No chunk lies across the end of what was there at the start, so no batch does.
    const upTo = position < backfillEnd ? backfillEnd : Infinity;
    const end = predecessor === undefined ? upTo : Math.min(upTo, readableEnd);
    return {
      start,
      length: position - start + Math.min(this.#settings.chunkBytes, Math.max(0, end - position)),
    };
  }

  #takeMemory(): Buffer {
    this.#settings.memory.take(this.#memoryBytes);
    return Buffer.allocUnsafeSlow(this.#memoryBytes);
  }

  get #memoryBytes(): number {
    return STRETCH + this.#settings.chunkBytes;
  }
}

function isSame(one: Span, other: Span): boolean {
  return one.start === other.start && one.length === other.length;
}

function movedError({ path }: FollowedFile): Error {
  return Object.assign(new Error('the path leads to another file now'), { code: 'MOVED', path });
}

/** Masks cannot find secrets in it, so they would pass. */
function notTextError(
  { path }: FollowedFile,
  { name, advice }: NonTextFormat,
  encoding: TextEncoding,
): Error {
  const message = `it looks like ${name}, in which masks find nothing; expected ${encoding.name.toUpperCase()} text: ${advice}, or leave it out of \`paths\``;
  return Object.assign(new Error(message), { code: 'NOT_TEXT', path });
}
