import { Fifo } from '../../operators/internal.ts';
import type { EventOrigin, LazyEvents, Outcome } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { toJsonLine } from '../sdk/serialise.ts';

const RANK: Readonly<Record<Outcome, number>> = { forwarded: 0, dropped: 1, dead_lettered: 2, failed: 3 };

/**
 * Counts the events of one batch that are not acknowledged yet, once for each forwarder that has them. Its outcome is the
 * worst of all.
 */
export class Delivery {
  /** The delivery of the whole batch: this one, unless it is a part. */
  readonly root: Delivery;
  /** Where the events of the root come from, if that is known. */
  origin: EventOrigin | undefined;
  #open: number;
  #outcome: Outcome = 'forwarded';
  readonly #onAcknowledged: (outcome: Outcome) => void;

  constructor(events: number, onAcknowledged: (outcome: Outcome) => void, root?: Delivery) {
    this.root = root ?? this;
    this.#open = events;
    this.#onAcknowledged = onAcknowledged;
  }

  /** More came of the batch: further events, or further forwarders that have them. */
  add(count: number): void {
    this.#open += count;
  }

  /** One more event came of the batch. `onAcknowledged` is called when it is acknowledged. */
  part(onAcknowledged: () => void): Delivery {
    this.add(1);
    const acknowledged = (outcome: Outcome) => {
      this.acknowledge(1, outcome);
      onAcknowledged();
    };
    return new Delivery(1, acknowledged, this.root);
  }

  acknowledge(count: number, outcome: Outcome): void {
    if (RANK[outcome] > RANK[this.#outcome]) this.#outcome = outcome;
    this.#open -= count;
    if (this.#open === 0) this.#onAcknowledged(this.#outcome);
  }
}

interface Entry {
  readonly events: number;
  readonly onAcknowledged: ((outcome: Outcome) => void) | undefined;
  outcome: Outcome | undefined;
}

/**
 * Acknowledges the deliveries of one source in the order in which they were opened, whatever order they end in:
 * a checkpoint never moves past what is still open. `release` gets the numbers of events that are acknowledged.
 */
export class AckQueue {
  readonly #entries = new Fifo<Entry>();
  readonly #release: (events: number) => void;

  constructor(release: (events: number) => void) {
    this.#release = release;
  }

  open(events: number, onAcknowledged?: (outcome: Outcome) => void): Delivery {
    const entry: Entry = { events, onAcknowledged, outcome: undefined };
    this.#entries.push(entry);
    return new Delivery(events, (outcome) => {
      entry.outcome = outcome;
      this.#advance();
    });
  }

  #advance(): void {
    for (let head = this.#entries.peek(); head?.outcome !== undefined; head = this.#entries.peek()) {
      this.#entries.shift();
      head.onAcknowledged?.(head.outcome);
      this.#release(head.events);
    }
  }
}

/** What travels between the engine's stages: events that came in together, with one delivery. */
export interface Batch {
  /** Access them only if they are needed, because `lazy` may have to create them. */
  readonly events: readonly CollectedEvent[];
  /** The events, if they are created on first access. */
  readonly lazy?: LazyEvents | undefined;
  readonly delivery: Delivery;
}

/** A class, since V8 keeps a hidden class for each object literal that has a getter. */
export class LazyBatch implements Batch {
  readonly lazy: LazyEvents;
  readonly delivery: Delivery;

  constructor(lazy: LazyEvents, delivery: Delivery) {
    this.lazy = lazy;
    this.delivery = delivery;
  }

  get events(): readonly CollectedEvent[] {
    return this.lazy.events;
  }
}

/** How many events there are. */
export function sizeOf(batch: Batch): number {
  return batch.lazy?.size ?? batch.events.length;
}

export function eventsOf(batches: readonly Batch[]): readonly CollectedEvent[] {
  const [first] = batches;
  return batches.length === 1 && first !== undefined
    ? first.events
    : batches.flatMap((batch) => batch.events);
}

/** How many events there are in all batches. */
export function totalSize(batches: readonly Batch[]): number {
  return batches.reduce((size, batch) => size + sizeOf(batch), 0);
}

/** The events of all batches, one after the other: in `memory` if they fit, otherwise elsewhere. */
export function jsonLinesOf(batches: readonly Batch[], memory: Buffer): Buffer {
  const parts: Buffer[] = [];
  let end = 0;
  for (const batch of batches) {
    const { lazy } = batch;
    const room = memory.subarray(end);
    const part =
      lazy?.toJsonLines(room) ?? Buffer.from(batch.events.map((event) => toJsonLine(event)).join(''));
    if (batches.length === 1) return part;
    const isInRoom = part.buffer === room.buffer && part.byteOffset === room.byteOffset;
    if (!isInRoom) part.copy(room);
    end += part.length;
    parts.push(part);
  }
  return end <= memory.length ? memory.subarray(0, end) : Buffer.concat(parts);
}

/** For the log alone: an entry of a dead letter leaves the machine, and masks have not seen this path. */
export function originOf({ root: { origin } }: Delivery): string {
  if (origin === undefined) return '';
  const { path, startOffset, endOffset } = origin;
  return ` of ${path} (bytes ${startOffset} to ${endOffset})`;
}
