import type { CollectedEvent } from '../sdk/events.ts';
import type { EventIds } from '../sdk/forward-call.ts';
import { EventRows, type Rows } from '../sdk/rows.ts';
import type { Delivery } from './delivery.ts';

/** What travels between the engine's stages: rows that came in together, with one delivery. */
export interface Batch {
  readonly rows: Rows;
  readonly delivery: Delivery;
}

/** A batch of events that are objects. */
export function batchOf(events: readonly CollectedEvent[], delivery: Delivery): Batch {
  return { rows: new EventRows(events), delivery };
}

/** Batches that a forwarder gets in one call, as one sequence of rows: positions count through all of them. */
export class Batches {
  readonly list: readonly Batch[];
  readonly size: number;

  constructor(list: readonly Batch[]) {
    this.list = list;
    this.size = list.reduce((size, { rows }) => size + rows.size, 0);
  }

  get events(): readonly CollectedEvent[] {
    const [first] = this.list;
    return this.list.length === 1 && first !== undefined
      ? first.rows.events
      : this.list.flatMap(({ rows }) => rows.events);
  }

  /** See {@link Rows.prefersJson}: whether the first row does. */
  get prefersJson(): boolean {
    return this.list[0]?.rows.prefersJson === true;
  }

  /** Undefined unless all of them come from a buffer on disk. */
  get eventIds(): EventIds | undefined {
    const { list } = this;
    if (!list.every(({ rows }) => rows.idAt !== undefined)) return undefined;
    // They are asked for in order.
    let index = 0;
    let first = 0;
    return (position) => {
      if (position < first) {
        index = 0;
        first = 0;
      }
      for (let { size } = rowsAt(list, index); position >= first + size; { size } = rowsAt(list, index)) {
        first += size;
        index++;
      }
      return rowsAt(list, index).idAt?.(position - first) as string;
    };
  }

  /** The events of all batches, one after the other: in `memory` if they fit, otherwise elsewhere. */
  toJsonLines(memory: Buffer): Buffer {
    const parts: Buffer[] = [];
    let end = 0;
    for (const { rows } of this.list) {
      const room = memory.subarray(end);
      const part = rows.toJsonLines(room);
      if (this.list.length === 1) return part;
      const isInRoom = part.buffer === room.buffer && part.byteOffset === room.byteOffset;
      if (!isInRoom) part.copy(room);
      end += part.length;
      parts.push(part);
    }
    return end <= memory.length ? memory.subarray(0, end) : Buffer.concat(parts);
  }

  /** The rows at the positions for which `keep` returns true. */
  select(keep: (position: number) => boolean): Batches {
    let start = 0;
    const selected = this.list.map(({ rows, delivery }): Batch => {
      const first = start;
      start += rows.size;
      return { rows: rows.select((position) => keep(first + position)), delivery };
    });
    return new Batches(selected.filter(({ rows }) => rows.size > 0));
  }

  /** The rows from `start` on, without the one at `end`. */
  slice(start: number, end = this.size): Batches {
    const sliced: Batch[] = [];
    let first = 0;
    for (const batch of this.list) {
      const { rows, delivery } = batch;
      const from = Math.max(0, start - first);
      const to = Math.min(rows.size, end - first);
      first += rows.size;
      if (to <= from) continue;
      sliced.push(to - from === rows.size ? batch : { rows: rows.slice(from, to), delivery });
    }
    return new Batches(sliced);
  }

  /** Each event with its delivery. */
  *each(): Generator<readonly [event: CollectedEvent, delivery: Delivery]> {
    for (const { rows, delivery } of this.list) for (const event of rows.events) yield [event, delivery];
  }
}

const rowsAt = (list: readonly Batch[], index: number): Rows => (list[index] as Batch).rows;
