import type fs from 'node:fs';
import { closeFile, fileSystem, fsCall, isMissing } from '../../support/file-system.ts';
import { checksumOf, type NonTextFormat, STRETCH } from './file-fingerprint.ts';
import { isShortage, openFile } from './file-system.ts';
import { findStart } from './find-start.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FollowedFile, StartPosition } from './followed-files.ts';
import { type BatchPlace, BlockMemory, type LineBatch, TakenLines } from './line-block.ts';
import type { Descriptors } from './process-limits.ts';
import { encodingOf, type TextEncoding } from './text-encoding.ts';

/** What the pump tells its owner. */
interface PumpEvents {
  batch(batch: LineBatch): void;
  /** `file` was read from, or starts over. */
  progress(file: FollowedFile): void;
  /** `file` is shorter than what was read of it. */
  truncated(file: FollowedFile): void;
  /** `file` no longer holds what was read of it. */
  replaced(file: FollowedFile): void;
  /** `file` cannot be read now. */
  failed(file: FollowedFile, error: Error): void;
  /** All of `file` is read, and it will not grow: it no longer has to be followed. */
  finished(file: FollowedFile): void;
  /** Nothing is left to read, for now. */
  idle(): void;
}

/**
 * Reads the files that are ready, a chunk of each in turn, and emits their lines as the demand allows.
 *
 * Lines of one chunk are emitted at a time; of a file that is alone the next chunk is read meanwhile. Whatever happens
 * (demand that returns while a batch is being emitted, a read that is done) ends up in one loop, never in recursion.
 */
export class ReadPump {
  readonly #settings: FollowSettings;
  readonly #reader: ChunkReader;
  readonly #events: PumpEvents;
  readonly #memory: BlockMemory;
  readonly #ready = new Set<FollowedFile>();
  /** The file whose lines are being emitted. */
  #current: FollowedFile | undefined;
  #isReading = false;
  #isRunning = false;
  #isClosed = false;

  constructor(settings: FollowSettings, reader: ChunkReader, events: PumpEvents) {
    this.#settings = settings;
    this.#memory = new BlockMemory(settings.memory);
    this.#reader = reader;
    this.#events = events;
  }

  get isIdle(): boolean {
    return this.#current === undefined && !this.#isReading && this.#ready.size === 0;
  }

  /** There may be something to read in `file`. */
  add(file: FollowedFile): void {
    if (file.isHeldBack) return;
    file.isAtEnd = false;
    this.#ready.add(file);
    this.run();
  }

  /**
   * The lines of `file` come after those of `predecessor`, whose path it took: a program that had that file open may go
   * on writing to it before it writes to `file`.
   */
  putBehind(file: FollowedFile, predecessor: FollowedFile): void {
    file.predecessor = predecessor;
    predecessor.successors.push(file);
    predecessor.quietPolls = 0;
    this.#holdBack(file, predecessor);
  }

  /** Nothing more is expected in `file`: its successors are read without looking at it. */
  freeSuccessors(file: FollowedFile): void {
    const successors = file.successors.splice(0);
    for (const successor of successors) successor.predecessor = undefined;
    this.#release(successors);
  }

  remove(file: FollowedFile): void {
    this.#ready.delete(file);
    this.freeSuccessors(file);
  }

  run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#step()) {}
    this.#isRunning = false;
  }

  close(): void {
    this.#isClosed = true;
    this.#reader.close();
    this.#memory.close();
  }

  /** One step; false when there is nothing to do but wait. */
  #step(): boolean {
    if (this.#isClosed || this.#isReading) return false;
    const file = this.#current;
    if (file === undefined) return this.#turn();
    if (file.lines.hasLines) return this.#emit(file);
    this.#current = undefined;
    this.#leave(file);
    return true;
  }

  #turn(): boolean {
    const [file] = this.#ready;
    if (file === undefined) {
      this.#events.idle();
      return false;
    }
    this.#ready.delete(file);
    if (file.isTruncated) {
      this.#current = file;
      return true;
    }
    this.#isReading = true;
    this.#read(file);
    return false;
  }

  async #read(file: FollowedFile): Promise<void> {
    let error: NodeJS.ErrnoException | undefined;
    let chunk: Buffer | 'truncated' | 'replaced' = 'replaced';
    try {
      chunk = await this.#reader.read(file);
    } catch (thrown) {
      error = thrown as NodeJS.ErrnoException;
    }
    if (this.#isClosed) return;
    this.#isReading = false;
    this.#current = file;
    if (error !== undefined) this.#fail(file, error);
    else if (typeof chunk === 'string') this.#events[chunk](file);
    else if (chunk.length > 0) this.#feed(file, chunk);
    else if (file.predecessor !== undefined && file.readableEnd > file.lines.readOffset) {
      this.#current = undefined;
      this.#holdBack(file, file.predecessor);
    } else this.#reachEnd(file);
    this.run();
  }

  #emit(file: FollowedFile): boolean {
    const { demand, batchLines, skipEmptyLines } = this.#settings;
    const { room } = demand;
    if (room <= 0) return false;
    const startOffset = file.lines.offset;
    const all = file.lines.take(Math.min(room, batchLines), this.#memory);
    const taken = skipEmptyLines ? all.withoutEmpty : all;
    if (taken.size > 0) this.#events.batch(new TakenLines(taken, placeOf(file, startOffset), file.lines));
    else taken.release();
    return true;
  }

  #feed(file: FollowedFile, chunk: Buffer): void {
    file.isFinishing = this.#settings.once;
    file.feed(chunk);
    if (this.#ready.size === 0 && file.predecessor === undefined) this.#reader.readAhead(file);
    this.#events.progress(file);
  }

  #reachEnd(file: FollowedFile): void {
    file.isAtEnd = true;
    if (file.isFinishing && this.#mayEndLine(file)) file.lines.end();
  }

  /** Another run may read what follows of a line that this one leaves unfinished. */
  #mayEndLine(file: FollowedFile): boolean {
    const { once, flushPolls } = this.#settings;
    return file.isHolding && (!once || flushPolls !== Infinity);
  }

  #fail(file: FollowedFile, error: NodeJS.ErrnoException): void {
    this.#events.failed(file, error);
    // Its owner adds it again, when there is a descriptor for it, or when it is found by its new path.
    const isElsewhere = error.code === 'MOVED' || isMissing(error);
    if (isShortage(error) || (isElsewhere && !this.#settings.once)) {
      this.#current = undefined;
      return;
    }
    file.isAtEnd = true;
    // A file that a later run may read keeps its unfinished line; a file that is gone never completes it.
    if (file.isGone && !this.#settings.once && file.isHolding) file.lines.end({ isCut: true });
  }

  /** All lines of the chunk are emitted. */
  #leave(file: FollowedFile): void {
    if (file.isTruncated && file.isHolding) {
      // Even if everything was read: the truncation may have cut off the end of this line before it was read.
      file.lines.end({ isCut: true });
      this.#current = file;
      return;
    }
    if (file.isTruncated) {
      file.restart();
      this.#events.progress(file);
    }
    if (file.isAtEnd) this.#endFile(file);
    else this.#ready.add(file);
  }

  #endFile(file: FollowedFile): void {
    this.#release(file.successors);
    if (!file.isFinishing) return;
    if (file.isGone || this.#settings.once) {
      this.freeSuccessors(file);
      this.#events.finished(file);
    } else file.isFinishing = false;
  }

  #holdBack(file: FollowedFile, predecessor: FollowedFile): void {
    file.isHeldBack = true;
    this.#ready.delete(file);
    this.add(predecessor);
  }

  #release(successors: readonly FollowedFile[]): void {
    for (const file of successors.filter(({ isHeldBack }) => isHeldBack)) {
      file.isHeldBack = false;
      this.add(file);
    }
  }
}

function placeOf(file: FollowedFile, startOffset: number): BatchPlace {
  const { id, path, head, lines, backfillEnd, isTruncated } = file;
  const endOffset = lines.offset;
  return {
    id,
    path,
    startOffset,
    endOffset,
    backfill: endOffset <= backfillEnd,
    fingerprint: head.fingerprint,
    tail: lines.tail,
    isCutOff: isTruncated,
  };
}

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
