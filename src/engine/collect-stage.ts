import { map, Observable, type OperatorFunction } from 'rxjs';
import type { InFlightWindow } from '../../operators/in-flight-window.ts';
import { Fifo } from '../../operators/support/fifo.ts';
import type { PipelineConfig } from '../sdk/config.ts';
import { EventBatch, isLazy } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { AckQueue, type Batch, type Delivery, LazyBatch } from './delivery.ts';
import { expectBatch } from './plugin-output.ts';
import type { Drop } from './probe.ts';
import type { EntryCounters, PipelineCounters } from './stats.ts';

export interface CollectStageOptions {
  /** The name of the collector. */
  readonly name: string;
  readonly window: InFlightWindow;
  readonly buffer: PipelineConfig['buffer'];
  readonly counters: PipelineCounters;
  readonly entry: EntryCounters;
  readonly drop: Drop;
  /** Takes what the collector could not make events of. */
  readonly onRefused: (event: CollectedEvent, delivery: Delivery, error: unknown) => void;
  /** See what was emitted, what was admitted, and what was acknowledged; for tests, pictures and recordings. */
  readonly onCollected?: ((unit: EventBatch) => void) | undefined;
  readonly onAdmitted?: ((unit: EventBatch, delivery: Delivery) => void) | undefined;
  readonly onAcknowledged?: ((unit: EventBatch) => void) | undefined;
  /** The queue that acknowledges what this collector emits. Default: one of its own. */
  readonly makeQueue?: ((release: (events: number) => void) => Pick<AckQueue, 'open'>) | undefined;
}

/**
 * Opens a delivery for everything that a collector emits. While the window is full, what comes waits in a bounded
 * buffer; beyond that it is dropped by policy, and counted. Collectors that heed `ctx.demand` never get there.
 * Errors with the source, and with what it emits that is not an event, behind all that came before.
 */
export function collectStage({
  name,
  window,
  buffer,
  counters,
  entry,
  drop,
  onRefused,
  onCollected,
  onAdmitted,
  onAcknowledged,
  makeQueue = (release) => new AckQueue(release),
}: CollectStageOptions): OperatorFunction<CollectedEvent | EventBatch, Batch> {
  return (source) =>
    new Observable<Batch>((subscriber) => {
      const queue = makeQueue((events) => window.release(events));
      // What came while the window was full. Single events are joined when there is room again.
      const waiting = new Fifo<EventBatch>();
      let waitingEvents = 0;
      let end: (() => void) | undefined;

      const emit = (unit: EventBatch) => {
        const { content, size, acknowledge, origin, refusal } = unit;
        window.take(size);
        const openedAt = counters.opened(entry, size);
        const delivery = queue.open(size, (outcome) => {
          counters.acknowledged(entry, size, outcome, openedAt);
          // Before the collector is told, which may then use the memory of lines again.
          onAcknowledged?.(unit);
          acknowledge?.(outcome);
        });
        delivery.origin = origin;
        if (refusal !== undefined) {
          onRefused(unit.events[0] as CollectedEvent, delivery, refusal);
          return;
        }
        entry.sent += size;
        onAdmitted?.(unit, delivery);
        subscriber.next(isLazy(content) ? new LazyBatch(content, delivery) : { events: content, delivery });
      };

      const refuse = (unit: EventBatch) => {
        drop('buffer_full', unit.size, () => unit.events);
        unit.acknowledge?.('dropped');
      };

      const enqueue = (unit: EventBatch) => {
        const fits = () => waiting.size === 0 || waitingEvents + unit.size <= buffer.max_events;
        if (buffer.when_full === 'drop_newest' && !fits()) {
          refuse(unit);
          return;
        }
        while (!fits()) {
          const oldest = waiting.shift() as EventBatch;
          waitingEvents -= oldest.size;
          refuse(oldest);
        }
        waiting.push(unit);
        waitingEvents += unit.size;
      };

      const dequeue = (): EventBatch => {
        const first = waiting.shift() as EventBatch;
        waitingEvents -= first.size;
        if (first.acknowledge !== undefined) return first;
        const events = [...first.events];
        for (let next = waiting.peek(); next !== undefined; next = waiting.peek()) {
          if (next.acknowledge !== undefined || events.length + next.size > window.room) break;
          waiting.shift();
          waitingEvents -= next.size;
          events.push(...next.events);
        }
        return new EventBatch(events);
      };

      const admit = (unit: EventBatch) => {
        if (unit.size === 0) {
          unit.acknowledge?.('forwarded');
          return;
        }
        entry.received += unit.size;
        onCollected?.(unit);
        if (waiting.size === 0 && window.room > 0) emit(unit);
        else enqueue(unit);
      };

      subscriber.add(
        window.room$.subscribe(() => {
          while (waiting.size > 0 && window.room > 0) {
            emit(dequeue());
          }
          if (waiting.size === 0) end?.();
        }),
      );
      subscriber.add(
        source.pipe(map((value) => expectBatch(value, name))).subscribe({
          next: admit,
          error: (error) => finish(() => subscriber.error(error)),
          complete: () => finish(() => subscriber.complete()),
        }),
      );

      /** Ends the stage when everything in the buffer has left. */
      function finish(how: () => void): void {
        if (waiting.size === 0) how();
        else end = how;
      }
    });
}
