import { isUtf8 } from 'node:buffer';
import { toUtc } from '../../operators/internal.ts';
import type { CollectedEvent } from './events.ts';
import { countWrittenEvents } from './json-lines/written-lines.ts';
import type { LineEvents } from './line-events.ts';
import { parseJson } from './parse-json.ts';
import { toJsonLine } from './serialise.ts';

/**
 * What travels through a pipeline: events that came together, in the form in which they came. {@link EventRows} holds
 * objects, `LineEvents` lines of a file, and {@link WrittenEvents} JSON. Rows are converted when another form is asked
 * for, and at most once. Nothing outside of this interface depends on the form.
 */
export interface Rows {
  /** The number of events. */
  readonly size: number;
  /** Created on first access, if the rows hold something else. */
  readonly events: readonly CollectedEvent[];
  /** The rows as lines with one envelope, if they are lines: a processor may change them without creating events. */
  readonly lines: LineEvents | undefined;
  /** Which events come of a line that was cut. */
  readonly truncated: 'none' | 'some' | 'all';
  /** Whether each row is known to be an event. Otherwise what a collector emits has to be checked. */
  readonly areEvents: boolean;
  /** Whether writing them as JSON costs less than creating events. */
  readonly prefersJson: boolean;
  /**
   * The rows at the positions for which `keep` returns true, in their form; these rows themselves if all are kept. `keep`
   * is called once for each position, in order.
   */
  select(keep: (position: number) => boolean): Rows;
  /** The rows from `start` on, without the one at `end`. */
  slice(start: number, end: number): Rows;
  /** These rows in the form that costs least to measure and to cut into small pieces. */
  written(): Rows;
  /** The name of an event, if it comes from a buffer on disk: see `EventIds`. */
  idAt?(position: number): string;
  /** The bytes of one event as a line of JSON; 0 if it cannot be written, which the forwarder reports. */
  bytesAt(position: number): number;
  /**
   * The events as `serialise` writes them, each with a newline after it, in UTF-8: at the start of `into` if they have
   * room there, or elsewhere.
   */
  toJsonLines(into?: Buffer): Buffer;
}

/** What a collector may give as the content of a batch. */
export function rowsOf(content: readonly CollectedEvent[] | Rows): Rows {
  return content instanceof LazyRows || content instanceof EventRows
    ? content
    : new EventRows(content as readonly CollectedEvent[]);
}

/** Events that are objects. */
export class EventRows implements Rows {
  readonly events: readonly CollectedEvent[];
  #truncated: Rows['truncated'] | undefined;

  constructor(events: readonly CollectedEvent[]) {
    this.events = events;
  }

  get size(): number {
    return this.events.length;
  }

  get lines(): undefined {
    return undefined;
  }

  get truncated(): Rows['truncated'] {
    const { events } = this;
    this.#truncated ??= !events.some(isTruncated) ? 'none' : events.every(isTruncated) ? 'all' : 'some';
    return this.#truncated;
  }

  get areEvents(): boolean {
    return false;
  }

  get prefersJson(): boolean {
    return false;
  }

  select(keep: (position: number) => boolean): Rows {
    const kept = this.events.filter((_, position) => keep(position));
    return kept.length === this.size ? this : new EventRows(kept);
  }

  slice(start: number, end: number): Rows {
    return new EventRows(this.events.slice(start, end));
  }

  written(): Rows {
    return this;
  }

  bytesAt(position: number): number {
    try {
      return Buffer.byteLength(toJsonLine(this.events[position] as CollectedEvent));
    } catch {
      return 0;
    }
  }

  toJsonLines(): Buffer {
    return Buffer.from(this.events.map((event) => toJsonLine(event)).join(''));
  }
}

export function isTruncated(event: CollectedEvent): boolean {
  return (event as { truncated?: unknown }).truncated === true;
}

/**
 * Rows whose events are created on first access. A form of its own has to count its rows, to create events and to write
 * JSON; everything else follows, and can be replaced where the form has a faster way.
 */
export abstract class LazyRows implements Rows {
  #events: readonly CollectedEvent[] | undefined;
  #written: WrittenEvents | undefined;

  /** `events`: the events, if they have been created. */
  constructor(events?: readonly CollectedEvent[]) {
    this.#events = events;
  }

  abstract readonly size: number;

  /** Called at most once. */
  protected abstract createEvents(): readonly CollectedEvent[];

  abstract toJsonLines(into?: Buffer): Buffer;

  get events(): readonly CollectedEvent[] {
    this.#events ??= this.createEvents();
    return this.#events;
  }

  get lines(): LineEvents | undefined {
    return undefined;
  }

  get truncated(): Rows['truncated'] {
    return 'none';
  }

  get areEvents(): boolean {
    return true;
  }

  get prefersJson(): boolean {
    return true;
  }

  /** The events, if they have been created. */
  protected get created(): readonly CollectedEvent[] | undefined {
    return this.#events;
  }

  /** Whether the JSON of all rows is there. */
  protected get isWritten(): boolean {
    return this.#written !== undefined;
  }

  written(): Rows {
    this.#written ??= new WrittenEvents(this.toJsonLines(), this.size, this.#events);
    return this.#written;
  }

  select(keep: (position: number) => boolean): Rows {
    const selected = this.written().select(keep);
    return selected.size === this.size ? this : selected;
  }

  slice(start: number, end: number): Rows {
    return this.written().slice(start, end);
  }

  bytesAt(position: number): number {
    return this.written().bytesAt(position);
  }
}

const LF = 0x0a;
const isTimestamp = (text: string) => toUtc(text) === text;

/**
 * Events that were written as JSON already, in another thread or by another process.
 *
 * @example
 * const written = new WrittenEvents(Buffer.from('{"timestamp":"2026-01-01T00:00:00.000Z","data":{}}\n'), 1);
 * written.events; // [{ timestamp: '2026-01-01T00:00:00.000Z', data: {} }]
 */
export class WrittenEvents extends LazyRows {
  readonly size: number;
  #isRecognised = false;
  readonly #documents: Buffer;
  /** Where each document ends. */
  #ends: readonly number[] | undefined;

  /**
   * `documents` has them as `serialise` writes them, each with a newline after it, in UTF-8. `events` are the same, if
   * they were made. A collector, which does not know who wrote the documents, has to make them, or uses `recognise`.
   */
  constructor(documents: Buffer, size: number, events?: readonly CollectedEvent[]) {
    super(events);
    this.#documents = documents;
    this.size = size;
  }

  /**
   * The events of documents if they are exactly as `serialise` writes events; then they need not be made. Undefined for
   * all others, which may be events too: they have to be parsed.
   *
   * @example
   * const line = '{"timestamp":"2026-01-01T00:00:00.000Z","data":{}}\n';
   * WrittenEvents.recognise(Buffer.from(line + line)).size; // 2
   * WrittenEvents.recognise(Buffer.from('not an event\n')); // undefined
   */
  static recognise(documents: Buffer): WrittenEvents | undefined {
    const size = isUtf8(documents) ? countWrittenEvents(documents, isTimestamp) : undefined;
    if (size === undefined) return undefined;
    const events = new WrittenEvents(documents, size);
    events.#isRecognised = true;
    return events;
  }

  /** Whether each document is known to be an event. */
  override get areEvents(): boolean {
    return this.#isRecognised;
  }

  protected createEvents(): readonly CollectedEvent[] {
    return this.#documents
      .toString()
      .split('\n', this.size)
      .map((document) => parseJson(document) as CollectedEvent);
  }

  override written(): Rows {
    return this;
  }

  override select(keep: (position: number) => boolean): WrittenEvents {
    const kept = Array.from({ length: this.size }, (_, position) => position).filter(keep);
    if (kept.length === this.size) return this;
    const documents = kept.map((position) => this.#documentsIn(position, position + 1));
    const { created } = this;
    const events = created && kept.map((position) => created[position] as CollectedEvent);
    return new WrittenEvents(Buffer.concat(documents), kept.length, events);
  }

  override slice(start: number, end: number): WrittenEvents {
    return new WrittenEvents(this.#documentsIn(start, end), end - start, this.created?.slice(start, end));
  }

  override bytesAt(position: number): number {
    return this.#endOf(position) - this.#endOf(position - 1);
  }

  toJsonLines(): Buffer {
    return this.#documents;
  }

  #documentsIn(start: number, end: number): Buffer {
    return this.#documents.subarray(this.#endOf(start - 1), this.#endOf(end - 1));
  }

  #endOf(position: number): number {
    if (position < 0) return 0;
    this.#ends ??= endsOf(this.#documents);
    return this.#ends[position] as number;
  }
}

function endsOf(documents: Buffer): readonly number[] {
  const ends: number[] = [];
  for (let end = documents.indexOf(LF) + 1; end > 0; end = documents.indexOf(LF, end) + 1) ends.push(end);
  return ends;
}
