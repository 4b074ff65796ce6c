import { filter, interval, merge, Observable, type OperatorFunction, type Subscription, take } from 'rxjs';
import { longTimer } from '../../operators/long-timer.ts';
import { Fifo } from '../../operators/support/fifo.ts';
import { subscribeFor, subscribeInner } from '../../operators/support/subscribe-for.ts';
import type { Batching } from '../sdk/batching.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { toJsonLine } from '../sdk/serialise.ts';
import { type Batch, sizeOf } from './delivery.ts';

/** Milliseconds between two looks at the window while a batch waits: it may be full of events that do not come here. */
const LOOK_EVERY = 100;

export interface GatherBatchesOptions extends Batching {
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
      const fitting = (batch: Batch, start: number, size: number): number => {
        const end = Math.min(size, start + mostEvents - openEvents);
        if (mostBytes === undefined) return end - start;
        const { events } = batch;
        for (let at = start; at < end; at++) {
          const bytes = bytesOf(events[at] as CollectedEvent);
          const isFirst = openEvents === 0 && at === start;
          if (!isFirst && openBytes + bytes > mostBytes) return at - start;
          openBytes += bytes;
        }
        return end - start;
      };

      const add = (batch: Batch) => {
        const size = sizeOf(batch);
        for (let start = 0; start < size; ) {
          const count = fitting(batch, start, size);
          const end = start + count;
          if (count === size) open.push(batch);
          else if (count > 0) open.push({ events: batch.events.slice(start, end), delivery: batch.delivery });
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
        const isOver$ = merge(longTimer(seconds * 1000), interval(LOOK_EVERY).pipe(filter(isWindowFull)));
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

/** As a line of JSON. What cannot be written counts nothing: the forwarder says so. */
function bytesOf(event: CollectedEvent): number {
  try {
    return Buffer.byteLength(toJsonLine(event));
  } catch {
    return 0;
  }
}
