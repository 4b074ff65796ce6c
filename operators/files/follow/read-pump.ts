import { isMissing } from '../../support/file-system.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { isShortage } from './file-system.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FollowedFile } from './followed-file.ts';
import { type BatchPlace, BlockMemory, type LineBatch, TakenLines } from './line-block.ts';

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
