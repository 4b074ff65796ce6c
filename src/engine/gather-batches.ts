import { filter, interval, merge, Observable, type OperatorFunction, type Subscription, take } from 'rxjs';
import { gatherMap, longTimer, orderedMap } from '../../operators/index.ts';
import { Fifo, subscribeFor } from '../../operators/internal.ts';
import type { Batching } from '../sdk/batching.ts';
import type { Rows } from '../sdk/rows.ts';
import { type Batch, Batches } from './batches.ts';
import { CallPump } from './call-pump.ts';

/** Milliseconds between two checks of the window while a batch waits: it may be full of events that do not come here. */
const CHECK_INTERVAL_MS = 100;
/** Smaller batches are cut from the JSON of all rows, because writing ten lines alone takes five times as long for each. */
const FEWEST_IN_FORM = 50;

interface GatherOptions {
  /** How batches are gathered and sent; undefined: everything that waits goes in one call at a time. */
  readonly batching: Batching | undefined;
  /** Without `batching`: whether there is one call at a time. Otherwise each batch is sent at once. */
  readonly ordered: boolean;
  /** Without `batching`: the events of a call at most. */
  readonly most: number;
  readonly isWindowFull: () => boolean;
}

/** Gathers what arrives into calls, as the entry of a forwarder and its pipeline say. */
export function gather(
  send: (batches: Batches) => readonly never[] | Observable<never>,
  { batching, ordered, most, isWindowFull }: GatherOptions,
): OperatorFunction<Batch, never> {
  if (batching !== undefined) return gatherBatches(send, { ...batching, isWindowFull });
  return ordered
    ? gatherMap((batches: readonly Batch[]) => send(new Batches(batches)), {
        weigh: ({ rows }) => rows.size,
        maxWeight: most,
      })
    : orderedMap((batch: Batch) => send(new Batches([batch])), { ordered: false });
}

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
  send: (batches: Batches) => readonly never[] | Observable<never>,
  { events: mostEvents, bytes: mostBytes, seconds, concurrency, isWindowFull }: GatherBatchesOptions,
): OperatorFunction<Batch, never> {
  return (source) =>
    new Observable<never>((subscriber) => {
      const full = new Fifo<Batches>();
      let open: Batch[] = [];
      let openEvents = 0;
      let openBytes = 0;
      /** Whether the open batch leaves with the next free call. */
      let isDue = false;
      let deadline: Subscription | undefined;

      /** How many events of a batch, from `start` on, go into the open one. */
      const fitting = (rows: Rows, start: number): number => {
        const end = Math.min(rows.size, start + mostEvents - openEvents);
        if (mostBytes === undefined) return end - start;
        for (let at = start; at < end; at++) {
          const bytes = rows.bytesAt(at);
          const isFirst = openEvents === 0 && at === start;
          if (!isFirst && openBytes + bytes > mostBytes) return at - start;
          openBytes += bytes;
        }
        return end - start;
      };

      const add = (batch: Batch) => {
        const { delivery } = batch;
        const { size } = batch.rows;
        const isCutSmall = mostEvents < FEWEST_IN_FORM && size > mostEvents - openEvents;
        const rows = isCutSmall ? batch.rows.written() : batch.rows;
        for (let start = 0; start < size; ) {
          const count = fitting(rows, start);
          const end = start + count;
          if (count === size) open.push(batch);
          else if (count > 0) open.push({ rows: rows.slice(start, end), delivery });
          openEvents += count;
          start = end;
          const isFull = openEvents === mostEvents || (mostBytes !== undefined && openBytes >= mostBytes);
          if (isFull || start < size) full.push(close());
        }
        if (open.length > 0) wait();
      };

      const close = (): Batches => {
        const closed = new Batches(open);
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
          pump.run();
        });
        subscriber.add(deadline);
      };

      const next = (): Batches | undefined => {
        if (full.size > 0) return full.shift();
        return open.length > 0 && (isDue || pump.hasEnded) ? close() : undefined;
      };

      const pump = new CallPump(subscriber, {
        concurrency,
        next,
        send,
        isEmpty: () => full.size === 0 && open.length === 0,
      });

      subscribeFor(subscriber, source, {
        next: (batch) => {
          add(batch);
          pump.run();
        },
        error: (error) => subscriber.error(error),
        complete: () => pump.end(),
      });
    });
}
