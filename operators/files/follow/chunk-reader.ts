import type fs from 'node:fs';
import { closeFile, fileSystem, fsCall } from '../../support/file-system.ts';
import type { Descriptors } from './descriptors.ts';
import { type NonTextFormat, STRETCH } from './file-fingerprint.ts';
import type { Span } from './file-reading.ts';
import { openFile } from './file-status.ts';
import { findStart } from './find-start.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FollowedFile } from './followed-file.ts';
import type { Verdict } from './same-file.ts';
import type { StartPosition } from './start-position.ts';
import { encodingOf, type TextEncoding } from './text-encoding.ts';

/**
 * Called with a file that was opened, and is the expected one or starts over. `start`: the bytes before the offset where
 * reading resumes, once they were looked at.
 */
type Recognised = (file: FollowedFile, start?: Pick<StartPosition, 'offset' | 'tail'>) => void;

/** A part of a file that is read before it is asked for. */
interface ReadAhead {
  readonly file: FollowedFile;
  readonly span: Span;
  /** Whether all of it was there. */
  readonly isFull: Promise<boolean>;
}

/** Why the bytes that a file has now do not follow those that were read. */
type Broken = Exclude<Verdict, 'same'>;

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
   * The next bytes up to the offset `end`, in memory that the next read overwrites; none at the end of the file. Otherwise the
   * file no longer holds what was read before.
   */
  read(file: FollowedFile, end = Number.POSITIVE_INFINITY): Promise<Buffer | Broken> {
    return this.#whileOpen(file, (fd) => this.#readOpen(file, fd, end));
  }

  /** How long the file is now, in bytes. Otherwise it no longer holds what was read before. */
  measure(file: FollowedFile): Promise<number | Broken> {
    return this.#whileOpen(file, async (fd) => {
      const { size } = await fsCall<fs.Stats>((done) => fileSystem.fstat(fd, done));
      return size;
    });
  }

  /**
   * Starts to read what `read` will ask for next, if there seems to be more and `file` is the one read last: so the
   * disk and the rest of the pipeline work at the same time.
   */
  readAhead(file: FollowedFile): void {
    const fd = this.#descriptors.of(file);
    if (fd === undefined || !this.#wasFull || this.#isClosed || this.#isReadingAhead) return;
    if (this.#spare === undefined && !this.#settings.memory.hasRoomFor(this.#memoryBytes)) return;
    this.#spare ??= this.#takeMemory();
    const span = this.#next(file);
    this.#ahead = { file, span, isFull: this.#fill(this.#spare, file, fd, span) };
  }

  /** A descriptor that is being read from now is closed when that is done: its number must not be reused before. */
  close(): void {
    if (!this.#isClosed) this.#settings.memory.give(this.#memoryBytes * (this.#spare === undefined ? 1 : 2));
    this.#isClosed = true;
  }

  async #fill(memory: Buffer, file: FollowedFile, fd: number, { start, length }: Span): Promise<boolean> {
    this.#isReadingAhead = true;
    this.#descriptors.hold(file);
    let count = 0;
    try {
      count = await fsCall<number>((done) => fileSystem.read(fd, memory, 0, length, start, done));
    } catch {
      // The read that asks for these bytes meets the same error.
    }
    this.#isReadingAhead = false;
    this.#descriptors.letGo(file);
    return count === length;
  }

  /** Calls `use` with the descriptor of the file, opened and compared if need be, which stays open meanwhile. */
  async #whileOpen<T>(file: FollowedFile, use: (fd: number) => Promise<T | Broken>): Promise<T | Broken> {
    this.#descriptors.hold(file);
    this.#descriptors.touch(file);
    try {
      const fd = this.#descriptors.of(file) ?? (await this.#open(file));
      if (fd === undefined) return 'replaced';
      const { start } = file.reading;
      if (start !== undefined && !(await this.#begin(file, fd, start))) return 'replaced';
      return await use(fd);
    } catch (error) {
      // The descriptor of a file that is gone is the only way to it.
      if (!file.isGone) this.#descriptors.release(file);
      throw error;
    } finally {
      this.#descriptors.letGo(file);
    }
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
    if (file.reading.opened(opened.head) !== 'same') return undefined;
    this.#recognised(file);
    return opened.fd;
  }

  /** Looks at the bytes before the start, which come first. False if they are others. */
  async #begin(file: FollowedFile, fd: number, start: StartPosition): Promise<boolean> {
    const { maxLineBytes, encoding } = this.#settings;
    const found = await findStart(fd, start, maxLineBytes, encodingOf(encoding));
    if (found === undefined || this.#isClosed) return false;
    this.#recognised(file, { offset: start.offset, tail: found.tail });
    file.reading.begin(found);
    return true;
  }

  async #readOpen(file: FollowedFile, fd: number, end: number): Promise<Buffer | Broken> {
    const ahead = this.#ahead;
    if (ahead?.file === file) {
      const isFull = await ahead.isFull;
      this.#ahead = undefined;
      if (isFull && isSame(ahead.span, this.#next(file, end))) {
        [this.#buffer, this.#spare] = [this.#spare as Buffer, this.#buffer];
        return this.#take(file, ahead.span, ahead.span.length);
      }
    }
    const span = this.#next(file, end);
    const { start, length } = span;
    const count = await fsCall<number>((done) => fileSystem.read(fd, this.#buffer, 0, length, start, done));
    return this.#take(file, span, count);
  }

  #take(file: FollowedFile, { start, length }: Span, count: number): Buffer | Broken {
    this.#wasFull = count === length;
    const chunk = file.reading.read(this.#buffer.subarray(0, count), start);
    const { nonTextFormat } = file.reading;
    if (typeof chunk === 'string' || nonTextFormat === undefined) return chunk;
    throw notTextError(file, nonTextFormat, encodingOf(this.#settings.encoding));
  }

  #next({ reading }: FollowedFile, end = Number.POSITIVE_INFINITY): Span {
    return reading.next(this.#settings.chunkBytes, end);
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
