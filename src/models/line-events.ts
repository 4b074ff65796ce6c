import type { CollectedEvent, CollectedLineEvent } from './events.ts';

/** What the events of consecutive lines of one file have in common. */
export interface LineEnvelope {
  readonly timestamp: string;
  readonly source: string;
  readonly backfill: boolean;
  /** The line is the begin of a longer one: see `file`. */
  readonly isTruncated: boolean;
}

/** Not escaped by JSON, and rare in logs: where it stands, one line ends. */
const SEPARATOR = '\x7f';
/** Lines that become one text at a time: larger texts leave the caches of the processor. */
const JOINED = 64;

/** Consecutive lines. */
export interface LineTexts {
  readonly lines: readonly string[];
  /** The number of lines. */
  readonly size: number;
  /** JSON holds every line as it stands; false if that is not known. */
  readonly areVerbatim: boolean;
  /** The lines in UTF-8, each with its terminator, if they are at hand: then the texts may not be, until asked for. */
  readonly bytes?: Uint8Array | undefined;
}

/** Events that need not be made to be counted and written. */
export interface UnmadeEvents {
  readonly size: number;
  /** Made when first asked for. */
  readonly events: readonly CollectedEvent[];
  /** The only one is of a line that is the begin of a longer one. */
  readonly isTruncated: boolean;
  /** The events as `serialise` writes them, each with a newline behind it, in UTF-8. */
  toJsonLines(): Buffer;
}

/**
 * The events of consecutive lines of one file. They differ in their lines alone, so that they are made only if
 * somebody asks for them, and written as JSON without being made.
 *
 * @example
 * const envelope = { timestamp: '2026-01-01T00:00:00.000Z', source: 'a.log', backfill: true, isTruncated: false };
 * const two = LineEvents.of(['GET /', 'GET /about'], envelope);
 * two.size; // 2
 * two.events[1].data; // { line: 'GET /about', source: 'a.log' }
 */
export class LineEvents implements UnmadeEvents {
  readonly texts: LineTexts;
  readonly envelope: LineEnvelope;
  #events: readonly CollectedLineEvent[] | undefined;

  constructor(texts: LineTexts, envelope: LineEnvelope) {
    this.texts = texts;
    this.envelope = envelope;
  }

  static of(lines: readonly string[], envelope: LineEnvelope, areVerbatim = false): LineEvents {
    return new LineEvents({ lines, size: lines.length, areVerbatim }, envelope);
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
  with(lines: readonly string[], areVerbatim: boolean): LineEvents {
    return LineEvents.of(lines, this.envelope, areVerbatim);
  }

  /** The events as `serialise` writes them, each with a newline behind it, in UTF-8. */
  toJsonLines(): Buffer {
    const { timestamp, source, backfill, isTruncated } = this.envelope;
    const first = `{"timestamp":${JSON.stringify(timestamp)},"data":{"line":"`;
    const truncated = isTruncated ? ',"truncated":true' : '';
    const last = `","source":${JSON.stringify(source)}},"backfill":${backfill}${truncated}}\n`;
    const { areVerbatim } = this.texts;
    const lines = areVerbatim ? this.texts.lines : this.#escaped();
    // What is known to be ASCII is copied, anything else encoded. A path may be anything.
    const encoding = areVerbatim && isAscii(first + last) ? 'latin1' : 'utf8';
    const texts: string[] = [];
    let bytes = 0;
    for (let i = 0; i < lines.length; i += JOINED) {
      const text = first + lines.slice(i, i + JOINED).join(last + first) + last;
      bytes += Buffer.byteLength(text, encoding);
      texts.push(text);
    }
    const documents = Buffer.allocUnsafeSlow(bytes);
    let end = 0;
    for (const text of texts) end += documents.write(text, end, encoding);
    return documents;
  }

  /** Escaped together: one call for each line would cost twice as much. */
  #escaped(): readonly string[] {
    const { lines } = this.texts;
    const escaped = JSON.stringify(lines.join(SEPARATOR)).slice(1, -1).split(SEPARATOR);
    if (escaped.length === lines.length) return escaped;
    return lines.map((line) => JSON.stringify(line).slice(1, -1));
  }
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

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}
