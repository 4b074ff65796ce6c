import { isUtf8 } from 'node:buffer';
import { toUtc } from '../../operators/internal.ts';
import type { LazyEvents } from './event-batch.ts';
import type { CollectedEvent } from './events.ts';
import { countWrittenEvents } from './json-lines/written-lines.ts';
import { parseJson } from './parse-json.ts';

const isTimestamp = (text: string) => toUtc(text) === text;

/**
 * Events that were written as JSON already, in another thread or by another process.
 *
 * @example
 * const written = new WrittenEvents(Buffer.from('{"timestamp":"2026-01-01T00:00:00.000Z","data":{}}\n'), 1);
 * written.events; // [{ timestamp: '2026-01-01T00:00:00.000Z', data: {} }]
 */
export class WrittenEvents implements LazyEvents {
  readonly size: number;
  readonly isTruncated = false;
  #isRecognised = false;
  readonly #documents: Buffer;
  #events: readonly CollectedEvent[] | undefined;

  /**
   * `documents` has them as `serialise` writes them, each with a newline after it, in UTF-8. `events` are the same, if
   * they were made. A collector, which does not know who wrote the documents, has to make them, or uses `recognise`.
   */
  constructor(documents: Buffer, size: number, events?: readonly CollectedEvent[]) {
    this.#documents = documents;
    this.size = size;
    this.#events = events;
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
  get isRecognised(): boolean {
    return this.#isRecognised;
  }

  get events(): readonly CollectedEvent[] {
    this.#events ??= this.#documents
      .toString()
      .split('\n', this.size)
      .map((document) => parseJson(document) as CollectedEvent);
    return this.#events;
  }

  toJsonLines(): Buffer {
    return this.#documents;
  }
}
