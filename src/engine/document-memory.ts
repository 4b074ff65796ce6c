import { documentsIn } from '../lines/documents-in.ts';
import { toJsonLine } from '../sdk/models.ts';
import type { Batch } from './delivery.ts';

const BYTES = 1024 * 1024;
const MOST_FREE = 4;

/** Memory for the documents of one call of a forwarder after the other: else each would be garbage to collect. */
export class DocumentMemory {
  readonly #free: Buffer[] = [];

  /** All documents of some batches; in memory that is used again once it is given back. */
  write(batches: readonly Batch[]): Documents {
    const memory = this.#free.pop() ?? Buffer.allocUnsafeSlow(BYTES);
    const writers = batches.map((batch) => (room: Buffer) => documentsOf(batch, room));
    const documents = documentsIn(memory, writers);
    return new Documents(documents, () => {
      if (this.#free.length < MOST_FREE) this.#free.push(memory);
    });
  }
}

export class Documents {
  readonly bytes: Buffer;
  readonly giveBack: () => void;

  constructor(bytes: Buffer, giveBack: () => void) {
    this.bytes = bytes;
    this.giveBack = giveBack;
  }
}

/** In `into` or elsewhere. */
function documentsOf(batch: Batch, into: Buffer): Buffer {
  return (
    batch.lazy?.toJsonLines(into) ?? Buffer.from(batch.events.map((event) => toJsonLine(event)).join(''))
  );
}
