import type { CollectedEvent } from './events.ts';
import { ParsedEvents, type ParsedFields, type RowEnvelope } from './parsed-events.ts';
import type { WrittenEvents } from './rows.ts';

/**
 * Parsed events that are JSON already. They are forwarded as they are; their fields are parsed when a processor asks for them.
 *
 * @example
 * const line = '{"timestamp":"2026-01-01T00:00:00.000Z","data":{"status":200},"backfill":false}\n';
 * const envelope = { timestamp: '2026-01-01T00:00:00.000Z', source: '', backfill: false, isTruncated: false };
 * const one = new WrittenFields(new WrittenEvents(Buffer.from(line), 1), envelope);
 * one.fields; // [{ status: 200 }]
 */
export class WrittenFields extends ParsedEvents {
  readonly #documents: WrittenEvents;
  #parsed: ParsedEvents | undefined;

  /** `documents` have a timestamp, the fields, and no more than the envelope says. */
  constructor(documents: WrittenEvents, envelope: RowEnvelope) {
    super([], envelope);
    this.#documents = documents;
  }

  override get size(): number {
    return this.#documents.size;
  }

  override get fields(): readonly ParsedFields[] {
    return this.#rows.fields;
  }

  override get timestamps(): readonly string[] | undefined {
    return this.#rows.timestamps;
  }

  protected override createEvents(): readonly CollectedEvent[] {
    return this.#rows.events;
  }

  /** Once the fields are parsed, they are worth more than the JSON: a processor has asked for them, and the next one may. */
  override slice(start: number, end: number): ParsedEvents {
    if (this.#parsed !== undefined) return this.#parsed.slice(start, end);
    return new WrittenFields(this.#documents.slice(start, end), this.envelope);
  }

  override select(keep: (position: number) => boolean): ParsedEvents {
    if (this.#parsed !== undefined) return this.#parsed.select(keep);
    const kept = this.#documents.select(keep);
    return kept.size === this.size ? this : new WrittenFields(kept, this.envelope);
  }

  override written(): WrittenEvents {
    return this.#documents;
  }

  override toJsonLines(): Buffer {
    return this.#documents.toJsonLines();
  }

  get #rows(): ParsedEvents {
    this.#parsed ??= parsedRows(this.#documents, this.envelope);
    return this.#parsed;
  }
}

/** Events that are parsed in one call, because one for each takes longer, and one for all may need very long strings. */
const PARSED_TOGETHER = 64;

function parsedRows(documents: WrittenEvents, envelope: RowEnvelope): ParsedEvents {
  const fields: ParsedFields[] = [];
  const timestamps: string[] = [];
  for (let start = 0; start < documents.size; start += PARSED_TOGETHER) {
    const part = documents.slice(start, Math.min(start + PARSED_TOGETHER, documents.size));
    // JSON has no newline but those after the documents.
    const list = part.toJsonLines().toString().slice(0, -1).replaceAll('\n', ',');
    for (const { timestamp, data } of JSON.parse(`[${list}]`) as readonly ParsedEvent[]) {
      fields.push(data);
      timestamps.push(timestamp);
    }
  }
  return new ParsedEvents(fields, envelope, timestamps);
}

interface ParsedEvent {
  readonly timestamp: string;
  readonly data: ParsedFields;
}
