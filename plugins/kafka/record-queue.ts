import { Fifo } from '../../operators/internal.ts';
import type { IncomingRecord } from './group-member.ts';

/** Bytes of memory for what waits to be emitted. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Bytes of memory for a record, and for each of its headers, beside their content. */
const OVERHEAD = 200;

/** Records of a partition that wait to be emitted. */
export interface Chunk<P> {
  readonly partition: P;
  readonly records: readonly IncomingRecord[];
  /** The offset after the last of them. There may be none at the offsets before it. */
  readonly next: bigint;
  /** How many of the records were emitted. */
  done: number;
}

/** Fetched records that wait to be emitted, and the memory that they take. */
export class RecordQueue<P> {
  readonly #chunks = new Fifo<{ readonly chunk: Chunk<P>; readonly bytes: number }>();
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#chunks.size === 0;
  }

  /** Whether no more should be fetched for now. */
  get isFull(): boolean {
    return this.#bytes >= MOST_BYTES;
  }

  get first(): Chunk<P> | undefined {
    return this.#chunks.peek()?.chunk;
  }

  push(partition: P, records: readonly IncomingRecord[], next: bigint): void {
    const bytes = records.reduce((sum, record) => sum + memoryBytes(record), OVERHEAD);
    this.#chunks.push({ chunk: { partition, records, next, done: 0 }, bytes });
    this.#bytes += bytes;
  }

  shift(): void {
    this.#bytes -= this.#chunks.shift()?.bytes ?? 0;
  }
}

function memoryBytes({ key, value, headers }: IncomingRecord): number {
  let bytes = OVERHEAD + (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, content] of headers) bytes += OVERHEAD + name.length + (content?.length ?? 0);
  return bytes;
}
