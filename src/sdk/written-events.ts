import type { CollectedEvent } from './events.ts';
import type { LazyEvents } from './line-events.ts';

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
  readonly #documents: Buffer;
  #events: readonly CollectedEvent[] | undefined;

  /**
   * `documents` has them as `serialise` writes them, each with a newline behind it, in UTF-8. `events` are the same, if
   * they were made; a collector has to make them, since it does not know who wrote the documents.
   */
  constructor(documents: Buffer, size: number, events?: readonly CollectedEvent[]) {
    this.#documents = documents;
    this.size = size;
    this.#events = events;
  }

  get events(): readonly CollectedEvent[] {
    this.#events ??= this.#documents
      .toString()
      .split('\n', this.size)
      .map((document) => JSON.parse(document) as CollectedEvent);
    return this.#events;
  }

  toJsonLines(): Buffer {
    return this.#documents;
  }
}
