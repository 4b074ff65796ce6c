import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { Fifo, Pump, subscribeFor } from '../../operators/internal.ts';
import type { EventBuffer, Reservation } from '../buffer/event-buffer.ts';
import type { Outcome } from '../sdk/event-batch.ts';
import { EventRows, type Rows } from '../sdk/rows.ts';
import type { Batch } from './batches.ts';
import { Delivery } from './delivery.ts';
import type { Observers, StagePlace } from './observer.ts';

interface AdmissionOptions {
  /** Called when the collector is subscribed to. */
  readonly buffer: () => EventBuffer;
  /** The limit of the buffer in bytes. */
  readonly maxBytes: number;
  /** The place of the buffer. */
  readonly place: StagePlace;
  readonly observer: Observers;
  /** Whether the collector tells its senders what they are to send again. Otherwise its batches wait for room. */
  readonly isAnswered: boolean;
}

/**
 * Lets a batch of a collector pass if a buffer with `when_full: reject` has room for all of it, which it keeps until the batch
 * is acknowledged. Without room, the batch has the outcome `rejected` or `too_large`, or waits.
 *
 * It is judged as it was collected, because later its events are in several parts, of which some may have been stored. A
 * processor that makes events larger can make the buffer larger than its limit, by what is in flight.
 */
export function admit({
  buffer,
  maxBytes,
  place,
  observer,
  isAnswered,
}: AdmissionOptions): MonoTypeOperatorFunction<Batch> {
  return (source) =>
    new Observable((subscriber) => {
      const waiting = new Fifo<{ readonly batch: Batch; readonly bytes: number }>();
      const opened = buffer();
      let isComplete = false;

      const pass = ({ rows, delivery }: Batch, reservation: Reservation) => {
        const acknowledged = (outcome: Outcome) => {
          reservation.end();
          delivery.acknowledge(rows.size, outcome);
        };
        subscriber.next({ rows, delivery: new Delivery(rows.size, acknowledged, delivery.root) });
      };

      const refuse = ({ rows, delivery }: Batch, outcome: 'rejected' | 'too_large') => {
        observer.rejected(place, rows.size, outcome, () => rows.events);
        delivery.acknowledge(rows.size, outcome);
      };

      const step = () => {
        const first = waiting.peek();
        if (first === undefined) {
          if (isComplete) subscriber.complete();
          return false;
        }
        const { batch, bytes } = first;
        // A batch that cannot be split waits until the buffer is empty.
        const reserved = opened.reserve(isAnswered ? bytes : Math.min(bytes, maxBytes));
        if (reserved === 'none' && !isAnswered) return false;
        waiting.shift();
        if (reserved === 'none') refuse(batch, 'rejected');
        else if (reserved === 'never') refuse(batch, 'too_large');
        else pass(batch, reserved);
        return true;
      };

      const pump = new Pump(step, subscriber);
      if (!isAnswered) subscriber.add(opened.room$.subscribe(() => pump.run()));
      subscribeFor(subscriber, source, {
        next: (batch) => {
          waiting.push({ batch, bytes: bytesOf(batch.rows) });
          pump.run();
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          isComplete = true;
          pump.run();
        },
      });
    });
}

/** The size of the rows as JSON Lines. An event that cannot be written counts nothing. */
function bytesOf(rows: Rows): number {
  try {
    return rows.toJsonLines().length;
  } catch {
    const events = new EventRows(rows.events);
    let bytes = 0;
    for (let position = 0; position < events.size; position++) bytes += events.bytesAt(position);
    return bytes;
  }
}
