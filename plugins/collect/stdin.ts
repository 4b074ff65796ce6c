import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { Observable } from 'rxjs';
import * as z from 'zod';
import { BlockMemory } from '../../operators/files/follow/block-memory.ts';
import { nonTextFormat } from '../../operators/files/follow/file-head.ts';
import { LineBlock } from '../../operators/files/follow/line-block.ts';
import { LineFramer } from '../../operators/files/follow/line-framer.ts';
import { untilAborted } from '../../operators/until-aborted.ts';
import {
  CollectConfigBase,
  defineCollector,
  EventBatch,
  type EventOrigin,
  isoNow,
  LineEvents,
  PluginError,
  safeReason,
} from '../../src/sdk/index.ts';
import { BatchDemand } from '../batch-demand.ts';

/** `source` of the events, and how logs name where a line lies. */
const SOURCE = 'stdin';
const KIB = 1024;
const MIB = 1024 * KIB;
const BATCH_LINES = 1024;
/** Fewer lines are not worth a batch of their own while others are in flight. */
const WORTHWHILE_LINES = 256;
/** What is looked at to find out that the input is not text. */
const HEAD_BYTES = KIB;

const schema = CollectConfigBase.extend({
  max_line_bytes: z
    .number()
    .int()
    .min(128 * KIB)
    .max(256 * MIB)
    .default(16 * MIB)
    .describe('A longer line is cut there, and its event is marked `truncated: true`.'),
  skip_empty_lines: z.boolean().default(false).describe('Emit no event for a line without characters.'),
});

export default defineCollector({
  description: 'Reads the lines of standard input, from a pipe, a file or a terminal, until it ends.',
  example: `
piped:
  plugin: stdin
`,
  schema,
  shownSettings: {},
  usesState: false,
  heedsDemand: true,
  emitsLines: true,
  readsStdin: true,
  /**
   * Emits one event for each line, in batches, and completes at the end of the input. The input is paused while there
   * is no room in the window. A run that follows a failed one first emits what that one had in flight: standard input
   * cannot be read again.
   */
  collect({ ctx }) {
    const { max_line_bytes: maxLineBytes, skip_empty_lines: skipEmptyLines } = ctx.config;
    const input = inputOf(process.stdin, maxLineBytes);
    const batchLines = ctx.blockLines ?? BATCH_LINES;
    const demand = new BatchDemand(ctx.demand, ctx.state, ctx.blockLines ?? WORTHWHILE_LINES);
    const onBytes = (count: number) => ctx.stats.bytes(count);
    return input.read({ demand, batchLines, skipEmptyLines, onBytes }).pipe(untilAborted(ctx.signal));
  },
});

interface ReadSettings {
  readonly demand: BatchDemand;
  readonly batchLines: number;
  readonly skipEmptyLines: boolean;
  /** Told of the bytes of the lines that are emitted. */
  readonly onBytes: (count: number) => void;
}

/** Lines that were emitted and are not acknowledged yet. */
interface InFlight {
  readonly lines: LineEvents;
  readonly origin: EventOrigin;
}

/** One for each stream: what a run leaves unread, or has in flight when it fails, is there for the next one. */
const inputs = new WeakMap<Readable, LineInput>();

function inputOf(stream: Readable, maxLineBytes: number): LineInput {
  let input = inputs.get(stream);
  if (input === undefined) {
    input = new LineInput(stream, maxLineBytes);
    inputs.set(stream, input);
  }
  return input;
}

/** Node.js reads a folder as an input without lines. */
function isFolder(stream: Readable): boolean {
  const { fd } = stream as Readable & { readonly fd?: unknown };
  return typeof fd === 'number' && fstatSync(fd).isDirectory();
}

/** Cuts a stream into lines, for one run after the other. */
class LineInput {
  readonly #stream: Readable;
  readonly #framer: LineFramer;
  readonly #maxLineBytes: number;
  readonly #memory = new BlockMemory();
  readonly #inFlight = new Set<InFlight>();
  /** The rest of a chunk that was fed in part. */
  #unread: Buffer | undefined;
  #head = Buffer.alloc(0);
  /** Why the input cannot be read, in this run and in every later one. */
  #refusal: Error | undefined;
  #isRead = false;
  #runs = 0;

  constructor(stream: Readable, maxLineBytes: number) {
    this.#stream = stream;
    this.#maxLineBytes = maxLineBytes;
    this.#framer = new LineFramer(0, { maxLineBytes });
    if (isFolder(stream)) {
      const why =
        'standard input is a folder; expected a file or a pipe. To read the files of a folder, use a `file` collector';
      this.#refusal = Object.assign(new PluginError(why), { fatal: true });
    }
  }

  /** Errors if the stream fails, if it is not text, or if another run reads it. */
  read({ demand, batchLines, skipEmptyLines, onBytes }: ReadSettings): Observable<EventBatch> {
    return new Observable((subscriber) => {
      if (this.#isRead) {
        subscriber.error(new PluginError('standard input is already read by another collector'));
        return;
      }
      this.#isRead = true;
      const run = ++this.#runs;
      const left = [...this.#inFlight];
      let isRunning = false;

      const emit = (entry: InFlight) => {
        const { size } = entry.lines;
        demand.emitted(size);
        onBytes(entry.origin.endOffset - entry.origin.startOffset);
        const acknowledge = () => {
          // An earlier run: what it had in flight is emitted again by this one.
          if (run !== this.#runs) return;
          this.#inFlight.delete(entry);
          demand.acknowledged(size);
          if (entry.lines.texts instanceof LineBlock) entry.lines.texts.release();
        };
        subscriber.next(new EventBatch(entry.lines, acknowledge, entry.origin));
      };
      /** One step; false if there is nothing to do but wait, or the end is reached. */
      const step = (): boolean => {
        const [first] = left;
        const { room } = demand;
        if (first !== undefined || this.#framer.hasLines) {
          if (room <= 0) return false;
          const entry = left.shift() ?? this.#take(Math.min(room, batchLines), skipEmptyLines);
          if (entry !== undefined) emit(entry);
          return true;
        }
        if (this.#refusal !== undefined) throw this.#refusal;
        const chunk = this.#nextChunk();
        if (chunk !== undefined) this.#feed(chunk);
        else if (!this.#stream.readableEnded) return false;
        else if (this.#framer.isHolding) this.#framer.end();
        else {
          subscriber.complete();
          return false;
        }
        return true;
      };
      const go = () => {
        // What is acknowledged while it is emitted makes room: that is used by the loop, not by recursion.
        if (isRunning) return;
        isRunning = true;
        try {
          while (!subscriber.closed && step()) {}
        } catch (error) {
          subscriber.error(error);
        }
        isRunning = false;
      };
      const fail = (cause: unknown) =>
        subscriber.error(new PluginError(`standard input cannot be read: ${safeReason(cause)}`, { cause }));

      this.#stream.on('readable', go).on('end', go).on('error', fail);
      subscriber.add(() => {
        this.#isRead = false;
        this.#stream.off('readable', go).off('end', go).off('error', fail).pause();
      });
      subscriber.add(demand.room$.subscribe(go));
      if (this.#stream.errored) fail(this.#stream.errored);
      else go();
    });
  }

  /** What there is to read now, at most so much that no line in it is too long. */
  #nextChunk(): Buffer | undefined {
    const chunk: Buffer | null = this.#unread ?? this.#stream.read();
    if (chunk === null) return undefined;
    this.#unread = chunk.length > this.#maxLineBytes ? chunk.subarray(this.#maxLineBytes) : undefined;
    return this.#unread === undefined ? chunk : chunk.subarray(0, this.#maxLineBytes);
  }

  #feed(chunk: Buffer): void {
    if (this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, HEAD_BYTES - this.#head.length)]);
      const format = nonTextFormat(this.#head);
      if (format !== undefined) {
        const why = `standard input is ${format.name}, in which masks would find nothing; ${format.advice} first`;
        this.#refusal = Object.assign(new PluginError(why), { fatal: true });
      }
    }
    if (this.#refusal === undefined) this.#framer.feed(chunk);
  }

  /** The next lines; undefined if all of them are empty and left out. */
  #take(max: number, skipEmptyLines: boolean): InFlight | undefined {
    const startOffset = this.#framer.offset;
    const all = this.#framer.takeBlock(max, this.#memory) ?? this.#framer.take(max);
    const texts = skipEmptyLines ? all.withoutEmpty : all;
    if (texts.size === 0) {
      if (texts instanceof LineBlock) texts.release();
      return undefined;
    }
    const { isTruncated, offset: endOffset } = this.#framer;
    const envelope = { timestamp: isoNow(), source: SOURCE, backfill: false, isTruncated };
    const entry = {
      lines: new LineEvents(texts, envelope),
      origin: { path: SOURCE, startOffset, endOffset },
    };
    this.#inFlight.add(entry);
    return entry;
  }
}
