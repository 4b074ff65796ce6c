import { toJsonLine } from '../models/index.ts';
import type { Batch } from './delivery.ts';

const BYTES = 512 * 1024;
const MOST_FREE = 4;

/** Memory for the documents of one call of a forwarder after the other: else each would be garbage to collect. */
export class DocumentMemory {
  readonly #free: Buffer[] = [];

  /** All documents of some batches; in memory that is used again once it is given back. */
  write(batches: readonly Batch[]): Documents {
    const memory = this.#free.pop() ?? Buffer.allocUnsafeSlow(BYTES);
    const documents = writeTo(memory, batches);
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

function writeTo(memory: Buffer, batches: readonly Batch[]): Buffer {
  const parts: Buffer[] = [];
  let end = 0;
  for (const batch of batches) {
    const room = memory.subarray(end);
    const part = documentsOf(batch, room);
    if (batches.length === 1) return part;
    const isThere = part.buffer === room.buffer && part.byteOffset === room.byteOffset;
    if (!isThere) part.copy(room);
    end += part.length;
    parts.push(part);
  }
  return end <= memory.length ? memory.subarray(0, end) : Buffer.concat(parts);
}

/** In `into` or elsewhere. */
function documentsOf(batch: Batch, into: Buffer): Buffer {
  return (
    batch.unmade?.toJsonLines(into) ?? Buffer.from(batch.events.map((event) => toJsonLine(event)).join(''))
  );
}
