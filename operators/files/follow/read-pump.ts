import { isMissing } from '../../support/file-system.ts';
import { Pump } from '../../support/pump.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { isShortage } from './file-status.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FollowedFile } from './followed-file.ts';
import { type BatchPlace, BlockMemory, type LineBatch, TakenLines } from './line-block.ts';
import type { Verdict } from './same-file.ts';
import { Succession } from './succession.ts';

/** What the pump tells its owner. */
interface PumpEvents {
  batch(batch: LineBatch): void;
  /** `file` was read from, or starts over. */
  progress(file: FollowedFile): void;
  /** `file` no longer holds what was read of it, or is shorter. */
  startsOver(file: FollowedFile, verdict: Exclude<Verdict, 'same'>): void;
  /** `file` cannot be read now. */
  failed(file: FollowedFile, error: Error): void;
  /** All of `file` is read, and it will not grow: it no longer has to be followed. */
  finished(file: FollowedFile): void;
  /** Nothing is left to read, for now. */
  idle(): void;
}

/** What a read gave. */
type Chunk = Buffer | 'held back' | Exclude<Verdict, 'same'>;

/**
 * Reads the files that are ready, a chunk of each in turn, and emits their lines as the demand allows.
 *
 * Lines of one chunk are emitted at a time; of a file that is alone the next chunk is read meanwhile. Whatever happens
 * (demand that returns while a batch is being emitted, a read that is done) ends up in one {@link Pump}, never in recursion.
 */
export class ReadPump {
  readonly #settings: FollowSettings;
  readonly #reader: ChunkReader;
  readonly #events: PumpEvents;
  readonly #memory: BlockMemory;
  readonly #ready = new Set<FollowedFile>();
  readonly #succession = new Succession();
  /** The file whose lines are being emitted. */
  #current: FollowedFile | undefined;
  readonly #pump = new Pump(() => this.#step());
  #isReading = false;
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
    if (this.#succession.isHeldBack(file)) return;
    file.end.reopen();
    this.#ready.add(file);
    this.run();
  }

  /**
   * The lines of `file` come after those of `predecessor`, whose path it took: a program that had that file open may go
   * on writing to it before it writes to `file`.
   */
  putBehind(file: FollowedFile, predecessor: FollowedFile): void {
    this.#succession.add(file, predecessor);
    predecessor.end.expectGrowth();
    this.#holdBack(file);
  }

  /** A poll is over: what has been quiet for long enough is complete. */
  polled(file: FollowedFile): void {
    const { end, isGone, reading } = file;
    const { quietPolls, flushPolls } = this.#settings;
    end.polled();
    // Nothing more is expected in it: its successors are read without looking at it.
    if (end.isReached && end.quietPolls >= quietPolls) this.#addAll(this.#succession.end(file));
    const isQuiet = end.quietPolls >= (isGone ? quietPolls : flushPolls);
    end.setFinal(isQuiet && (isGone || reading.isHolding));
    // A program that wrote to a file that was rotated away may go on for a while.
    if (isGone || end.isFinal) this.add(file);
  }

  remove(file: FollowedFile): void {
    this.#ready.delete(file);
    this.#addAll(this.#succession.remove(file));
  }

  run(): void {
    this.#pump.run();
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
    if (file.reading.lines.hasLines) return this.#emit(file);
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
    if (file.reading.startsOver) {
      this.#current = file;
      return true;
    }
    this.#isReading = true;
    this.#read(file);
    return false;
  }

  async #read(file: FollowedFile): Promise<void> {
    let error: NodeJS.ErrnoException | undefined;
    let chunk: Chunk = 'replaced';
    try {
      chunk = await this.#nextChunk(file);
    } catch (thrown) {
      error = thrown as NodeJS.ErrnoException;
    }
    if (this.#isClosed) return;
    this.#isReading = false;
    this.#current = file;
    if (error !== undefined) this.#fail(file, error);
    else if (chunk === 'held back') {
      this.#current = undefined;
      this.#holdBack(file);
    } else if (typeof chunk === 'string') this.#events.startsOver(file, chunk);
    else if (chunk.length > 0) this.#feed(file, chunk);
    else this.#reachEnd(file);
    this.run();
  }

  /** What is read next. A file that has grown since its predecessor was read to its end waits for that to be done again. */
  async #nextChunk(file: FollowedFile): Promise<Chunk> {
    const { lines } = file.reading;
    const end = this.#succession.readableEndOf(file);
    if (end === undefined || lines.readOffset < end) return this.#reader.read(file, end);
    const size = await this.#reader.measure(file);
    if (typeof size === 'string') return size;
    this.#succession.measured(file, size);
    return size > lines.readOffset ? 'held back' : this.#reader.read(file, size);
  }

  #emit(file: FollowedFile): boolean {
    const { demand, batchLines, skipEmptyLines } = this.#settings;
    const { room } = demand;
    if (room <= 0) return false;
    const { lines } = file.reading;
    const startOffset = lines.offset;
    const all = lines.take(Math.min(room, batchLines), this.#memory);
    const taken = skipEmptyLines ? all.withoutEmpty : all;
    if (taken.size > 0) this.#events.batch(new TakenLines(taken, placeOf(file, startOffset), lines));
    else taken.release();
    return true;
  }

  #feed(file: FollowedFile, chunk: Buffer): void {
    file.end.grew({ isFinal: this.#settings.once });
    file.reading.lines.feed(chunk);
    const hasPredecessor = this.#succession.readableEndOf(file) !== undefined;
    if (this.#ready.size === 0 && !hasPredecessor) this.#reader.readAhead(file);
    this.#events.progress(file);
  }

  #reachEnd(file: FollowedFile): void {
    file.end.reach();
    if (file.end.isFinal && this.#mayEndLine(file)) file.reading.lines.end();
  }

  /** Another run may read what follows of a line that this one leaves unfinished. */
  #mayEndLine(file: FollowedFile): boolean {
    const { once, flushPolls } = this.#settings;
    return file.reading.isHolding && (!once || flushPolls !== Infinity);
  }

  #fail(file: FollowedFile, error: NodeJS.ErrnoException): void {
    this.#events.failed(file, error);
    // Its owner adds it again, when there is a descriptor for it, or when it is found by its new path.
    const isElsewhere = error.code === 'MOVED' || isMissing(error);
    if (isShortage(error) || (isElsewhere && !this.#settings.once)) {
      this.#current = undefined;
      return;
    }
    file.end.reach();
    // A file that a later run may read keeps its unfinished line; a file that is gone never completes it.
    if (file.isGone && !this.#settings.once && file.reading.isHolding)
      file.reading.lines.end({ isCut: true });
  }

  /** All lines of the chunk are emitted. */
  #leave(file: FollowedFile): void {
    const { reading, end } = file;
    if (reading.startsOver && reading.isHolding) {
      // Even if everything was read: the truncation may have cut off the end of this line before it was read.
      reading.lines.end({ isCut: true });
      this.#current = file;
      return;
    }
    if (reading.startsOver) {
      reading.restart();
      end.reopen();
      this.#succession.measured(file, 0);
      this.#events.progress(file);
    }
    if (end.isReached) this.#endFile(file);
    else this.#ready.add(file);
  }

  #endFile(file: FollowedFile): void {
    this.#addAll(this.#succession.release(file));
    if (!file.end.isFinal) return;
    if (file.isGone || this.#settings.once) {
      this.#addAll(this.#succession.end(file));
      this.#events.finished(file);
    } else file.end.setFinal(false);
  }

  #holdBack(file: FollowedFile): void {
    const predecessor = this.#succession.holdBack(file);
    this.#ready.delete(file);
    // The predecessor may have ended meanwhile.
    this.add(predecessor ?? file);
  }

  #addAll(files: readonly FollowedFile[]): void {
    for (const file of files) this.add(file);
  }
}

function placeOf({ id, path, reading }: FollowedFile, startOffset: number): BatchPlace {
  const { lines, fingerprint, backfillEnd, startsOver } = reading;
  const endOffset = lines.offset;
  return {
    id,
    path,
    startOffset,
    endOffset,
    backfill: endOffset <= backfillEnd,
    fingerprint,
    tail: lines.tail,
    isCutOff: startsOver,
  };
}
