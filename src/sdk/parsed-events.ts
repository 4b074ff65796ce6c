import type { CollectedEvent } from './events.ts';
import type { LineEnvelope } from './line-events.ts';
import { LazyRows } from './rows.ts';
import { toJsonLine } from './serialise.ts';

/** The fields of an event, of strings, numbers, booleans, null, and plain objects and arrays of them: what JSON has. */
export type ParsedFields = Record<string, unknown>;

/** What parsed events have in common. Without `backfill`, the events have no such field. */
export type RowEnvelope = Omit<LineEnvelope, 'backfill'> & Partial<Pick<LineEnvelope, 'backfill'>>;

/** Events that are written together. */
const WRITTEN_TOGETHER = 64;
/** Stands between them, and as it is written. */
const SEPARATOR = '\0 the next event \0';
const BETWEEN = `,${JSON.stringify(SEPARATOR)},`;
/** Bytes that a character takes at most in UTF-8. */
const BYTES_OF_CHARACTER = 3;
const NOTHING = Buffer.alloc(0);

/**
 * Events that were parsed from consecutive lines of one file. Each has fields and a time of its own, and the rest in
 * common. They are created on first access, and written as JSON without being created.
 *
 * @example
 * const envelope = { timestamp: '2026-01-01T00:00:00.000Z', source: 'a.log', backfill: true, isTruncated: false };
 * const two = new ParsedEvents([{ status: 200 }, { status: 404 }], envelope);
 * two.size; // 2
 * two.events[1].data; // { status: 404 }
 */
export class ParsedEvents extends LazyRows {
  readonly #fields: readonly ParsedFields[];
  /** Of whole lines: `isTruncated` is false. */
  readonly envelope: RowEnvelope;
  readonly #timestamps: readonly string[] | undefined;

  /** `events`: the events, if they have been created. */
  constructor(
    fields: readonly ParsedFields[],
    envelope: RowEnvelope,
    timestamps?: readonly string[],
    events?: readonly CollectedEvent[],
  ) {
    super(events);
    this.#fields = fields;
    this.envelope = envelope;
    this.#timestamps = timestamps;
  }

  get size(): number {
    return this.fields.length;
  }

  /** `data` of each event. */
  get fields(): readonly ParsedFields[] {
    return this.#fields;
  }

  /** The time of each event; undefined if all have that of the envelope. */
  get timestamps(): readonly string[] | undefined {
    return this.#timestamps;
  }

  protected createEvents(): readonly CollectedEvent[] {
    return this.fields.map((_, position) => this.eventAt(position));
  }

  /** One event, for a moment: its fields may change later. */
  eventAt(position: number): CollectedEvent {
    const { timestamp, backfill } = this.envelope;
    const data = this.fields[position] as ParsedFields;
    const time = this.timestamps?.[position] ?? timestamp;
    if (backfill === undefined) return { timestamp: time, data };
    const event: CollectedEvent & { readonly backfill: boolean } = { timestamp: time, data, backfill };
    return event;
  }

  /** The fields, to be changed in place: copies of them if somebody may hold the events. These rows are not used again. */
  takeFields(): ParsedFields[] {
    return this.created === undefined ? [...this.fields] : structuredClone(this.fields as ParsedFields[]);
  }

  override slice(start: number, end: number): ParsedEvents {
    return this.#with((list) => list.slice(start, end));
  }

  override select(keep: (position: number) => boolean): ParsedEvents {
    const kept = this.fields.map((_, position) => keep(position));
    return kept.includes(false) ? this.#with((list) => list.filter((_, position) => kept[position])) : this;
  }

  #with(choose: <T>(list: readonly T[]) => readonly T[]): ParsedEvents {
    const { fields, envelope, timestamps, created } = this;
    return new ParsedEvents(
      choose(fields),
      envelope,
      timestamps && choose(timestamps),
      created && choose(created),
    );
  }

  override toJsonLines(into: Buffer = NOTHING): Buffer {
    let target = into;
    let end = 0;
    for (let start = 0; start < this.size; start += WRITTEN_TOGETHER) {
      const text = this.#jsonOf(start, Math.min(start + WRITTEN_TOGETHER, this.size));
      const room = end + text.length * BYTES_OF_CHARACTER;
      if (room > target.length && end + Buffer.byteLength(text) > target.length) {
        const larger = Buffer.allocUnsafeSlow(2 * room);
        larger.set(target.subarray(0, end));
        target = larger;
      }
      end += target.write(text, end);
    }
    return target.subarray(0, end);
  }

  /** In one array, because a call takes as long as half of an event. */
  #jsonOf(start: number, end: number): string {
    const list: unknown[] = [];
    for (let index = start; index < end; index++) list.push(this.eventAt(index), SEPARATOR);
    const json = JSON.stringify(list);
    const text = json.slice(1, -BETWEEN.length).replaceAll(BETWEEN, '\n');
    const separators = (json.length - 1 - BETWEEN.length - text.length) / (BETWEEN.length - 1);
    if (separators === end - start - 1) return `${text}\n`;
    // An event has the separator in a list.
    const isEvent = (value: unknown): value is CollectedEvent => value !== SEPARATOR;
    return list
      .filter(isEvent)
      .map((event) => toJsonLine(event))
      .join('');
  }

  /** The events of several parts, at least one, of the same lines. */
  static join(parts: readonly ParsedEvents[]): ParsedEvents {
    const [first] = parts as readonly [ParsedEvents];
    if (parts.length === 1) return first;
    const { envelope } = first;
    const all = <T>(list: (part: ParsedEvents) => readonly T[]) => ([] as T[]).concat(...parts.map(list));
    const fields = all((part) => part.fields);
    const hasTimes = parts.some(({ timestamps }) => timestamps !== undefined);
    const timestamps = hasTimes
      ? all((part) => part.timestamps ?? part.fields.map(() => envelope.timestamp))
      : undefined;
    const events = parts.some(({ created }) => created) ? all((part) => part.events) : undefined;
    return new ParsedEvents(fields, envelope, timestamps, events);
  }
}

/** Told of the events that do not come out, by their positions. */
export interface RowOutcomes {
  dropped(position: number): void;
  failed(position: number, error: unknown): void;
  /**
   * The call ends before the row at `position`. It and those after it, to before `end`, are mapped one by one, in turns
   * of their own. A call for one row must not postpone it.
   */
  postponed(position: number, end: number): void;
}

/**
 * What a processor makes of the rows from `start` to before `end`: for each of them what `process` returns, which is one
 * event, or none if that is told to `outcomes`. It is called for some rows at a time, in their order, and must not throw.
 */
export type RowMapping = (start: number, end: number, outcomes: RowOutcomes) => ParsedEvents;
