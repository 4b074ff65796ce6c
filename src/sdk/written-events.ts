import type { CollectedEvent } from './events.ts';
import type { LazyEvents } from './line-events.ts';

/**
 * Events that were written already, in another thread.
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

  /** `documents` has them as `serialise` writes them, each with a newline behind it, in UTF-8. */
  constructor(documents: Buffer, size: number) {
    this.#documents = documents;
    this.size = size;
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
