import type { CollectedEvent, CollectedLineEvent } from './events.ts';
import { writeJsonLines } from './json-lines/write-json-lines.ts';
import { LazyRows, type Rows } from './rows.ts';

/** What the events of consecutive lines of one file have in common. */
export interface LineEnvelope {
  readonly timestamp: string;
  readonly source: string;
  /** What `data` has beside `line` and `source`. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
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
  /** `text`, if bytes are there, with those that are not UTF-8 as lone surrogates, U+DC80 to U+DCFF. Never to be emitted. */
  readonly escapedText?: string | undefined;
  /** The lines in UTF-8, each with its terminator, if they are available: then the texts may not be, until asked for. */
  readonly bytes?: Uint8Array | undefined;
  /** The lines as bytes, if all of them are plain. */
  readonly plain?: PlainLines | undefined;
  /** What `text` is in UTF-8, with an LF after it, if that is available. */
  readonly utf8?: Uint8Array | undefined;
}

/** Lines of ASCII, each with an LF after it. */
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
export class LineEvents extends LazyRows {
  readonly texts: LineTexts;
  readonly envelope: LineEnvelope;

  constructor(texts: LineTexts, envelope: LineEnvelope, events?: readonly CollectedEvent[]) {
    super(events);
    this.texts = texts;
    this.envelope = envelope;
  }

  static of(lines: readonly string[], envelope: LineEnvelope): LineEvents {
    return new LineEvents(textsOf(lines), envelope);
  }

  get size(): number {
    return this.texts.size;
  }

  override get lines(): LineEvents {
    return this;
  }

  /** A line that was cut has a batch of its own. */
  override get truncated(): Rows['truncated'] {
    return this.envelope.isTruncated ? 'all' : 'none';
  }

  override get events(): readonly CollectedLineEvent[] {
    return super.events as readonly CollectedLineEvent[];
  }

  protected createEvents(): readonly CollectedLineEvent[] {
    return this.texts.lines.map((line) => eventOf(line, this.envelope));
  }

  override select(keep: (position: number) => boolean): LineEvents {
    const kept = Array.from({ length: this.size }, (_, position) => keep(position));
    if (!kept.includes(false)) return this;
    const isKept = (_: unknown, position: number) => kept[position] as boolean;
    const lines = this.texts.lines.filter(isKept);
    return new LineEvents(textsOf(lines), this.envelope, this.created?.filter(isKept));
  }

  /** Plain lines stay bytes, and are written only when they are sent, into memory that is used again. */
  override slice(start: number, end: number): Rows {
    const { plain } = this.texts;
    return plain === undefined || this.isWritten
      ? super.slice(start, end)
      : this.with(plain.slice(start, end));
  }

  /** Other lines in the same envelope. */
  with(texts: LineTexts): LineEvents {
    return new LineEvents(texts, this.envelope);
  }

  toJsonLines(into: Buffer = NOTHING): Buffer {
    const { size } = this.texts;
    const bytes = this.texts.plain?.bytes ?? this.texts.utf8;
    const { timestamp, source, fields, backfill, isTruncated } = this.envelope;
    const more = fields === undefined ? '' : JSON.stringify(fields).slice(1, -1);
    const truncated = isTruncated ? ',"truncated":true' : '';
    const before = `{"timestamp":${JSON.stringify(timestamp)},"data":{"line":"`;
    const after = `","source":${JSON.stringify(source)}${more && ','}${more}},"backfill":${backfill}${truncated}}\n`;
    /** For lines of so many bytes. New memory that is too small is copied to memory that is twice as large. */
    const room = (length: number) => {
      const withoutEscapes = length + size * (before.length + after.length);
      return withoutEscapes <= into.length
        ? into
        : Buffer.allocUnsafeSlow(Math.ceil(withoutEscapes * WITH_ESCAPES));
    };
    if (size > 0 && bytes !== undefined && bytes.length > SHORTEST_TEXT) {
      const written = writeJsonLines(bytes.subarray(0, -1), before, after, room(bytes.length));
      if (written !== undefined) return written;
    }
    const { text } = this.texts;
    // Half of a character, which an expression may leave, has an escape that UTF-8 cannot say.
    const canBeBytes = size > 0 && text !== undefined && text.length >= SHORTEST_TEXT && text.isWellFormed();
    const written = canBeBytes ? writeJsonLines(text, before, after, room(text.length)) : undefined;
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
/** Bytes of most lines as JSON, for each byte without escapes. */
const WITH_ESCAPES = 1.125;

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
  { timestamp, source, fields, backfill, isTruncated }: LineEnvelope,
): CollectedLineEvent {
  const data = fields === undefined ? { line, source } : { line, source, ...fields };
  const event: CollectedLineEvent & { readonly truncated?: true } = isTruncated
    ? { timestamp, data, backfill, truncated: true }
    : { timestamp, data, backfill };
  return event;
}
