import type { Readable } from 'node:stream';
import { Observable } from 'rxjs';
import { Pump } from '../../operators/internal.ts';
import {
  BlockMemory,
  encodingOf,
  LineFramer,
  nonTextFormat,
  type TextEncoding,
} from '../../operators/internal-files.ts';
import { isoNow, type LineEnvelope, LineEvents, PluginError, safeReason } from '../../src/sdk/index.ts';
import type { BatchDemand } from './batch-demand.ts';
import { BATCH_LINES, type ReadLines } from './collect-lines.ts';

const KIB = 1024;
/**
 * While batches are in flight, fewer bytes than this do not make another batch: many small batches take a quarter more
 * processor time. A pipe gives as many at a time, and is filled again while they are worked on.
 */
const BLOCK_BYTES = 64 * KIB;
/** What is looked at to find out that the input is not text. */
const HEAD_BYTES = KIB;

export interface ReadSettings {
  readonly demand: BatchDemand;
  readonly skipEmptyLines: boolean;
  /** Told of the bytes that were taken from the input and wait to be emitted. */
  readonly onBacklog: (bytes: number) => void;
  /** Told of the NULs at the start of the input. */
  readonly onHole: (bytes: number) => void;
  /** Told the offset of the first byte that is not UTF-8. */
  readonly onInvalidByte: (offset: number) => void;
}

export interface LineInputSettings extends Pick<LineEnvelope, 'source' | 'fields'> {
  readonly maxLineBytes: number;
  /** The label of the encoding. */
  readonly encoding: string;
  /** What errors call the input: `standard input`, for example. */
  readonly name: string;
}

/** Another run would end with the same, so there is none. */
export function refusal(why: string): PluginError {
  return Object.assign(new PluginError(why, { permanent: true }), { fatal: true });
}

/** Cuts a stream into lines. What one reader leaves unread is there for the next one. */
export class LineInput {
  readonly #stream: Readable;
  readonly #settings: LineInputSettings;
  readonly #framer: LineFramer;
  readonly #encoding: TextEncoding;
  #onInvalidByte: ((offset: number) => void) | undefined;
  readonly #memory = new BlockMemory();
  /** What was read; `start` to `end` is not fed yet. The memory is reused, because new memory costs more than a copy. */
  #block = Buffer.alloc(0);
  #unread = { start: 0, end: 0 };
  #head = Buffer.alloc(0);
  /** Why the input cannot be read, by this reader and by every later one. */
  #refusal: Error | undefined;
  #isRead = false;

  constructor(stream: Readable, settings: LineInputSettings) {
    this.#stream = stream;
    this.#settings = settings;
    this.#encoding = encodingOf(settings.encoding);
    const onInvalidByte = (offset: number) => this.#onInvalidByte?.(offset);
    const { maxLineBytes } = settings;
    this.#framer = new LineFramer(0, { maxLineBytes, encoding: this.#encoding, onInvalidByte });
  }

  /** Errors if the stream fails, if it is not text, or if another run reads it. */
  read({ demand, skipEmptyLines, onBacklog, onHole, onInvalidByte }: ReadSettings): Observable<ReadLines> {
    const { name } = this.#settings;
    return new Observable((subscriber) => {
      if (this.#isRead) {
        subscriber.error(new PluginError(`${name} is already read by another collector`));
        return;
      }
      this.#isRead = true;
      this.#onInvalidByte = onInvalidByte;

      /** One step; false if there is nothing to do but wait, or the end is reached. */
      const step = (): boolean => {
        if (this.#framer.hasLines) {
          const { room } = demand;
          if (room <= 0) return false;
          const lines = this.#take(Math.min(room, BATCH_LINES), skipEmptyLines);
          if (lines !== undefined) subscriber.next(lines);
          return true;
        }
        if (this.#refusal !== undefined) throw this.#refusal;
        const chunk = this.#nextChunk(demand);
        if (chunk !== undefined) {
          this.#feed(chunk);
          const hole = this.#framer.takeHoleBytes();
          if (hole > 0) onHole(hole);
        } else if (!this.#stream.readableEnded) return false;
        else if (this.#framer.isHolding) this.#framer.end();
        else {
          subscriber.complete();
          return false;
        }
        return true;
      };
      const pump = new Pump(step, subscriber);
      const go = () => {
        const isNested = pump.isRunning;
        pump.run();
        if (!isNested) onBacklog(this.#waitingBytes);
      };
      const fail = (cause: unknown) =>
        subscriber.error(new PluginError(`${name} cannot be read: ${safeReason(cause)}`, { cause }));

      this.#stream.on('readable', go).on('end', go).on('error', fail);
      subscriber.add(() => {
        this.#isRead = false;
        this.#stream.off('readable', go).off('end', go).off('error', fail).pause();
        onBacklog(this.#waitingBytes);
      });
      subscriber.add(demand.room$.subscribe(go));
      if (this.#stream.errored) fail(this.#stream.errored);
      else go();
    });
  }

  get #waitingBytes(): number {
    const { start, end } = this.#unread;
    return this.#stream.readableLength + end - start + this.#framer.readOffset - this.#framer.offset;
  }

  /** What there is to read, if it is worth a batch now: at most so much that no line in it is too long. */
  #nextChunk(demand: BatchDemand): Buffer | undefined {
    const isWorthABatch = () => {
      const bytes = this.#unread.end - this.#unread.start;
      return bytes >= BLOCK_BYTES || (bytes > 0 && (this.#stream.readableEnded || !demand.shouldWait()));
    };
    while (!isWorthABatch()) {
      const chunk: Buffer | null = this.#stream.read();
      if (chunk === null) return undefined;
      this.#hold(chunk);
    }
    const { start, end } = this.#unread;
    const to = Math.min(end, start + this.#settings.maxLineBytes);
    this.#unread = to === end ? { start: 0, end: 0 } : { start: to, end };
    return this.#block.subarray(start, to);
  }

  /** Copies a chunk after what is held. Nothing that was fed is needed: all its lines are taken. */
  #hold(chunk: Buffer): void {
    const { start, end } = this.#unread;
    if (end + chunk.length > this.#block.length) {
      const held = this.#block.subarray(start, end);
      const needed = held.length + chunk.length;
      if (needed > this.#block.length)
        this.#block = Buffer.allocUnsafeSlow(Math.max(needed, 2 * BLOCK_BYTES));
      this.#block.set(held);
      this.#unread = { start: 0, end: held.length };
    }
    this.#block.set(chunk, this.#unread.end);
    this.#unread.end += chunk.length;
  }

  #feed(chunk: Buffer): void {
    if (this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, HEAD_BYTES - this.#head.length)]);
      const format = nonTextFormat(this.#head, this.#encoding);
      if (format !== undefined) {
        const why = `${this.#settings.name} is ${format.name}, in which masks would find nothing; expected ${this.#encoding.name.toUpperCase()} text: ${format.advice}`;
        this.#refusal = refusal(why);
      }
    }
    if (this.#refusal === undefined) this.#framer.feed(chunk);
  }

  /** The next lines; undefined if all of them are empty and left out. */
  #take(max: number, skipEmptyLines: boolean): ReadLines | undefined {
    const startOffset = this.#framer.offset;
    const all = this.#framer.take(max, this.#memory);
    const texts = skipEmptyLines ? all.withoutEmpty : all;
    if (texts.size === 0) {
      texts.release();
      return undefined;
    }
    const { isTruncated, offset: endOffset } = this.#framer;
    const { source, fields } = this.#settings;
    const envelope = { timestamp: isoNow(), source, fields, backfill: false, isTruncated };
    return {
      lines: new LineEvents(texts, envelope),
      origin: { path: source, startOffset, endOffset },
      release: () => texts.release(),
    };
  }
}
