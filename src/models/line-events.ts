import type { CollectedLineEvent } from './events.ts';

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

/**
 * The events of consecutive lines of one file. They differ in their lines alone, so that they are made only if
 * somebody asks for them, and written as JSON without being made.
 *
 * @example
 * const envelope = { timestamp: '2026-01-01T00:00:00.000Z', source: 'a.log', backfill: true, isTruncated: false };
 * const two = new LineEvents(['GET /', 'GET /about'], envelope);
 * two.size; // 2
 * two.events[1].data; // { line: 'GET /about', source: 'a.log' }
 */
export class LineEvents {
  readonly lines: readonly string[];
  readonly envelope: LineEnvelope;
  /** JSON holds every line as it stands; false if that is not known. */
  readonly areVerbatim: boolean;
  #events: readonly CollectedLineEvent[] | undefined;

  constructor(lines: readonly string[], envelope: LineEnvelope, areVerbatim = false) {
    this.lines = lines;
    this.envelope = envelope;
    this.areVerbatim = areVerbatim;
  }

  get size(): number {
    return this.lines.length;
  }

  get events(): readonly CollectedLineEvent[] {
    this.#events ??= this.lines.map((line) => eventOf(line, this.envelope));
    return this.#events;
  }

  eventAt(index: number): CollectedLineEvent {
    return this.events[index] as CollectedLineEvent;
  }

  /** Other lines in the same envelope. */
  with(lines: readonly string[], areVerbatim: boolean): LineEvents {
    return new LineEvents(lines, this.envelope, areVerbatim);
  }

  /** The events as `serialise` writes them, each with a newline behind it, in UTF-8. */
  toJsonLines(): Buffer {
    const { timestamp, source, backfill, isTruncated } = this.envelope;
    const first = `{"timestamp":${JSON.stringify(timestamp)},"data":{"line":"`;
    const truncated = isTruncated ? ',"truncated":true' : '';
    const last = `","source":${JSON.stringify(source)}},"backfill":${backfill}${truncated}}\n`;
    const lines = this.areVerbatim ? this.lines : this.#escaped();
    // What is known to be ASCII is copied, anything else encoded. A path may be anything.
    const encoding = this.areVerbatim && isAscii(first + last) ? 'latin1' : 'utf8';
    const parts: Buffer[] = [];
    for (let i = 0; i < lines.length; i += JOINED) {
      const text = first + lines.slice(i, i + JOINED).join(last + first) + last;
      parts.push(Buffer.from(text, encoding));
    }
    return Buffer.concat(parts);
  }

  /** Escaped together: one call for each line would cost twice as much. */
  #escaped(): readonly string[] {
    const { lines } = this;
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
