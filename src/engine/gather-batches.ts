import { filter, interval, merge, Observable, type OperatorFunction, type Subscription, take } from 'rxjs';
import { longTimer } from '../../operators/index.ts';
import { Fifo, subscribeFor, subscribeInner } from '../../operators/internal.ts';
import type { Batching } from '../sdk/batching.ts';
import { type LazyEvents, LineEvents } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { toJsonLine } from '../sdk/serialise.ts';
import { WrittenEvents } from '../sdk/written-events.ts';
import { type Batch, LazyBatch, sizeOf } from './delivery.ts';

/** Milliseconds between two checks of the window while a batch waits: it may be full of events that do not come here. */
const CHECK_INTERVAL_MS = 100;

interface GatherBatchesOptions extends Batching {
  /** Whether no more events can come before some have left: then none is waited for. */
  readonly isWindowFull: () => boolean;
}

/**
 * Sends what arrives in batches of at most `events` events and `bytes` bytes, `concurrency` of them at a time. A batch
 * that has not reached a limit leaves `seconds` after its first event, when the window is full or when the source has
 * completed; it grows until a call is free. A larger batch is split.
 *
 * Errors with the source, and with what `send` throws or emits as an error.
 */
export function gatherBatches(
  send: (batches: readonly Batch[]) => readonly never[] | Observable<never>,
  { events: mostEvents, bytes: mostBytes, seconds, concurrency, isWindowFull }: GatherBatchesOptions,
): OperatorFunction<Batch, never> {
  return (source) =>
    new Observable<never>((subscriber) => {
      const full = new Fifo<readonly Batch[]>();
      let open: Batch[] = [];
      let openEvents = 0;
      let openBytes = 0;
      /** Whether the open batch leaves with the next free call. */
      let isDue = false;
      let deadline: Subscription | undefined;
      let calls = 0;
      let isSending = false;
      let hasEnded = false;

      /** How many events of a batch, from `start` on, go into the open one. */
      const fitting = (parts: BatchParts, start: number, size: number): number => {
        const end = Math.min(size, start + mostEvents - openEvents);
        if (mostBytes === undefined) return end - start;
        for (let at = start; at < end; at++) {
          const bytes = parts.bytesAt(at);
          const isFirst = openEvents === 0 && at === start;
          if (!isFirst && openBytes + bytes > mostBytes) return at - start;
          openBytes += bytes;
        }
        return end - start;
      };

      const add = (batch: Batch) => {
        const size = sizeOf(batch);
        const parts = new BatchParts(batch, mostEvents);
        for (let start = 0; start < size; ) {
          const count = fitting(parts, start, size);
          const end = start + count;
          if (count === size) open.push(batch);
          else if (count > 0) open.push(parts.slice(start, end));
          openEvents += count;
          start = end;
          const isFull = openEvents === mostEvents || (mostBytes !== undefined && openBytes >= mostBytes);
          if (isFull || start < size) full.push(close());
        }
        if (open.length > 0) wait();
      };

      const close = (): readonly Batch[] => {
        const closed = open;
        open = [];
        openEvents = 0;
        openBytes = 0;
        isDue = false;
        deadline?.unsubscribe();
        deadline = undefined;
        return closed;
      };

      const wait = () => {
        isDue ||= seconds === 0 || isWindowFull();
        if (isDue || deadline !== undefined) return;
        const isOver$ = merge(
          longTimer(seconds * 1000),
          interval(CHECK_INTERVAL_MS).pipe(filter(isWindowFull)),
        );
        deadline = isOver$.pipe(take(1)).subscribe(() => {
          isDue = true;
          sendAll();
        });
        subscriber.add(deadline);
      };

      const next = (): readonly Batch[] | undefined => {
        if (full.size > 0) return full.shift();
        return open.length > 0 && (isDue || hasEnded) ? close() : undefined;
      };

      const ended = () => {
        calls--;
        sendAll();
      };

      /** A loop, so that calls that complete at once do not nest. */
      const sendAll = () => {
        if (isSending) return;
        isSending = true;
        while (calls < concurrency && !subscriber.closed) {
          const batches = next();
          if (batches === undefined) break;
          let sent: readonly never[] | Observable<never>;
          try {
            sent = send(batches);
          } catch (error) {
            subscriber.error(error);
            break;
          }
          if (!(sent instanceof Observable)) continue;
          calls++;
          subscribeInner(subscriber, sent, () => {}, ended);
        }
        isSending = false;
        if (hasEnded && calls === 0 && full.size === 0 && open.length === 0) subscriber.complete();
      };

      subscribeFor(subscriber, source, {
        next: (batch) => {
          add(batch);
          sendAll();
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          hasEnded = true;
          sendAll();
        },
      });
    });
}

const LF = 0x0a;
/** Smaller batches are cut from the JSON of all lines, because writing ten lines alone takes five times as long for each. */
const FEWEST_PLAIN = 50;

/** Measures and splits a batch. Events of lines are written as JSON for it, because that is faster than creating them. */
class BatchParts {
  readonly #batch: Batch;
  readonly #mostEvents: number;
  #documents: Buffer | undefined;
  /** Where each document ends. */
  readonly #ends: number[] = [];

  /** `mostEvents` is the limit of the batches that the parts go into. */
  constructor(batch: Batch, mostEvents: number) {
    this.#batch = batch;
    this.#mostEvents = mostEvents;
  }

  /** Bytes of an event as a line of JSON. */
  bytesAt(position: number): number {
    const { lazy } = this.#batch;
    if (lazy === undefined) return bytesOf(this.#batch.events[position] as CollectedEvent);
    this.#write(lazy);
    return this.#endOf(position) - this.#endOf(position - 1);
  }

  /** The events from `start` on, without the one at `end`. */
  slice(start: number, end: number): Batch {
    const { lazy, delivery } = this.#batch;
    if (lazy === undefined) return { events: this.#batch.events.slice(start, end), delivery };
    const canBePlain = this.#documents === undefined && this.#mostEvents >= FEWEST_PLAIN;
    const plain = lazy instanceof LineEvents && canBePlain ? lazy.texts.plain : undefined;
    // Written only when they are sent, into memory that is used again.
    if (plain !== undefined)
      return new LazyBatch((lazy as LineEvents).with(plain.slice(start, end)), delivery);
    const documents = this.#write(lazy).subarray(this.#endOf(start - 1), this.#endOf(end - 1));
    return new LazyBatch(new WrittenEvents(documents, end - start), delivery);
  }

  #endOf(position: number): number {
    return position < 0 ? 0 : (this.#ends[position] as number);
  }

  #write(lazy: LazyEvents): Buffer {
    if (this.#documents !== undefined) return this.#documents;
    const documents = lazy.toJsonLines();
    for (let end = documents.indexOf(LF) + 1; end > 0; end = documents.indexOf(LF, end) + 1)
      this.#ends.push(end);
    this.#documents = documents;
    return documents;
  }
}

/** The bytes of an event as a line of JSON. An event that cannot be written counts 0, and the forwarder reports it. */
function bytesOf(event: CollectedEvent): number {
  try {
    return Buffer.byteLength(toJsonLine(event));
  } catch {
    return 0;
  }
}
