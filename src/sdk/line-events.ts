import type { CollectedEvent, CollectedLineEvent } from './events.ts';
import { writeJsonLines } from './json-lines/json-lines.ts';

/** What the events of consecutive lines of one file have in common. */
export interface LineEnvelope {
  readonly timestamp: string;
  readonly source: string;
  readonly backfill: boolean;
  /** The line is the start of a longer one: see `file`. */
  readonly isTruncated: boolean;
}

/** Consecutive lines. */
export interface LineTexts {
  readonly lines: readonly string[];
  /** The number of lines. */
  readonly size: number;
  /** The lines as one text, LF between them; undefined if one of them holds an LF itself. */
  readonly text: string | undefined;
  /** The lines in UTF-8, each with its terminator, if they are available: then the texts may not be, until asked for. */
  readonly bytes?: Uint8Array | undefined;
  /** The same if all of them are plain. */
  readonly plain?: PlainLines | undefined;
}

/** Lines of ASCII, each with an LF behind it. */
export interface PlainLines extends LineTexts {
  readonly bytes: Uint8Array;
  /** No line is longer, in bytes with its LF. */
  readonly longest: number;
  /** The lines from `start` to before `end`, in the same memory. */
  slice(start: number, end: number): PlainLines;
  /** Memory for so many bytes, which is there as long as that of these lines. */
  room(bytes: number): Uint8Array;
  /** Other lines, in memory that `room` returned. `longest` is as above, if it is known. */
  withPlain(bytes: Uint8Array, size: number, longest?: number): PlainLines;
}

/** Events that are counted and written without being created. */
export interface LazyEvents {
  readonly size: number;
  /** Created on first access. */
  readonly events: readonly CollectedEvent[];
  /** The only one is of a line that is the start of a longer one. */
  readonly isTruncated: boolean;
  /**
   * The events as `serialise` writes them, each with a newline behind it, in UTF-8: at the start of `into` if they
   * have room there, or elsewhere.
   */
  toJsonLines(into?: Buffer): Buffer;
}

/**
 * The events of consecutive lines of one file. They differ only in their lines, so they are created on first access, and
 * written as JSON without being created.
 *
 * @example
 * const envelope = { timestamp: '2026-01-01T00:00:00.000Z', source: 'a.log', backfill: true, isTruncated: false };
 * const two = LineEvents.of(['GET /', 'GET /about'], envelope);
 * two.size; // 2
 * two.events[1].data; // { line: 'GET /about', source: 'a.log' }
 */
export class LineEvents implements LazyEvents {
  readonly texts: LineTexts;
  readonly envelope: LineEnvelope;
  #events: readonly CollectedLineEvent[] | undefined;

  constructor(texts: LineTexts, envelope: LineEnvelope) {
    this.texts = texts;
    this.envelope = envelope;
  }

  static of(lines: readonly string[], envelope: LineEnvelope): LineEvents {
    return new LineEvents(textsOf(lines), envelope);
  }

  get size(): number {
    return this.texts.size;
  }

  get isTruncated(): boolean {
    return this.envelope.isTruncated;
  }

  get events(): readonly CollectedLineEvent[] {
    this.#events ??= this.texts.lines.map((line) => eventOf(line, this.envelope));
    return this.#events;
  }

  /** Other lines in the same envelope. */
  with(texts: LineTexts): LineEvents {
    return new LineEvents(texts, this.envelope);
  }

  toJsonLines(into: Buffer = NOTHING): Buffer {
    const { size, plain } = this.texts;
    const { timestamp, source, backfill, isTruncated } = this.envelope;
    const truncated = isTruncated ? ',"truncated":true' : '';
    const before = `{"timestamp":${JSON.stringify(timestamp)},"data":{"line":"`;
    const after = `","source":${JSON.stringify(source)}},"backfill":${backfill}${truncated}}\n`;
    if (size > 0 && plain !== undefined && plain.bytes.length > SHORTEST_TEXT) {
      const written = writeJsonLines(plain.bytes.subarray(0, -1), before, after, into);
      if (written !== undefined) return written;
    }
    const { text } = this.texts;
    // Half of a character, which an expression may leave, has an escape that UTF-8 cannot say.
    const canBeBytes = size > 0 && text !== undefined && text.length >= SHORTEST_TEXT && text.isWellFormed();
    const written = canBeBytes ? writeJsonLines(text, before, after, into) : undefined;
    if (written !== undefined) return written;
    const documents = this.texts.lines
      .map((line) => before + JSON.stringify(line).slice(1, -1) + after)
      .join('');
    if (Buffer.byteLength(documents) > into.length) return Buffer.from(documents);
    return into.subarray(0, into.write(documents));
  }
}

const NOTHING = Buffer.alloc(0);
/** Characters: for shorter texts, waiting some milliseconds for WebAssembly to start does not pay. */
const SHORTEST_TEXT = 8192;

/** Lines as one string, which costs far less than a string for each. */
export class JoinedLines implements LineTexts {
  /** LF stands between the lines, and in none of them. */
  readonly text: string;
  readonly size: number;
  #lines: readonly string[] | undefined;

  constructor(text: string, size: number) {
    this.text = text;
    this.size = size;
  }

  get lines(): readonly string[] {
    this.#lines ??= this.size === 0 ? [] : this.text.split('\n');
    return this.#lines;
  }
}

/** Lines that may hold anything. */
export function textsOf(lines: readonly string[]): LineTexts {
  const areLines = !lines.some((line) => line.includes('\n'));
  return { lines, size: lines.length, text: areLines ? lines.join('\n') : undefined };
}

function eventOf(
  line: string,
  { timestamp, source, backfill, isTruncated }: LineEnvelope,
): CollectedLineEvent {
  const data = { line, source };
  const event: CollectedLineEvent & { readonly truncated?: true } = isTruncated
    ? { timestamp, data, backfill, truncated: true }
    : { timestamp, data, backfill };
  return event;
}
