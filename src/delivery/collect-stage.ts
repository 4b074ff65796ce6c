import { Observable, type OperatorFunction } from 'rxjs';
import { Fifo } from '../../operators/fifo.ts';
import type { InFlightWindow } from '../../operators/in-flight-window.ts';
import {
  type CollectedEvent,
  EventBatch,
  isEvent,
  type Outcome,
  type PipelineConfig,
} from '../models/index.ts';
import type { PipelineCounters } from '../stats.ts';
import type { Batch } from './delivery.ts';
import type { Drop } from './probe.ts';
import { SettleQueue } from './settle-queue.ts';

export interface CollectStageOptions {
  readonly window: InFlightWindow;
  readonly buffer: PipelineConfig['buffer'];
  readonly counters: PipelineCounters;
  readonly drop: Drop;
  /** The queue that settles what this collector emits. Default: one of its own. */
  readonly settling?: ((release: (events: number) => void) => Pick<SettleQueue, 'open'>) | undefined;
}

/** What came while the window was full. Units of single events are joined when there is room again. */
interface Unit {
  readonly events: readonly CollectedEvent[];
  readonly settled: ((outcome: Outcome) => void) | undefined;
}

/**
 * Opens a delivery for everything that a collector emits. While the window is full, what comes waits in a bounded
 * buffer; beyond that it is dropped by policy, and counted. Collectors that heed `ctx.demand` never get there.
 */
export function collectStage({
  window,
  buffer,
  counters,
  drop,
  settling: settlingBy = (release) => new SettleQueue(release),
}: CollectStageOptions): OperatorFunction<CollectedEvent | EventBatch, Batch> {
  return (source) =>
    new Observable<Batch>((subscriber) => {
      const settling = settlingBy((events) => {
        counters.inFlight -= events;
        window.release(events);
      });
      const waiting = new Fifo<Unit>();
      let waitingEvents = 0;
      let end: (() => void) | undefined;

      const emit = (events: readonly CollectedEvent[], settled?: (outcome: Outcome) => void) => {
        window.take(events.length);
        counters.inFlight += events.length;
        subscriber.next({ events, delivery: settling.open(events.length, settled) });
      };

      const refuse = (unit: Unit) => {
        drop('buffer_full', unit.events.length, unit.events);
        unit.settled?.('dropped');
      };

      const enqueue = (unit: Unit) => {
        const fits = () => waiting.size === 0 || waitingEvents + unit.events.length <= buffer.max_events;
        if (buffer.when_full === 'drop_newest' && !fits()) {
          refuse(unit);
          return;
        }
        while (!fits()) {
          const oldest = waiting.shift() as Unit;
          waitingEvents -= oldest.events.length;
          refuse(oldest);
        }
        waiting.push(unit);
        waitingEvents += unit.events.length;
      };

      const dequeue = (): Unit => {
        const first = waiting.shift() as Unit;
        waitingEvents -= first.events.length;
        if (first.settled !== undefined) return first;
        const events = [...first.events];
        for (let next = waiting.peek(); next !== undefined; next = waiting.peek()) {
          if (next.settled !== undefined || events.length + next.events.length > window.room) break;
          waiting.shift();
          waitingEvents -= next.events.length;
          events.push(...next.events);
        }
        return { events, settled: undefined };
      };

      const admit = (unit: Unit) => {
        if (unit.events.length === 0) {
          unit.settled?.('forwarded');
          return;
        }
        counters.collected += unit.events.length;
        if (waiting.size === 0 && window.room > 0) emit(unit.events, unit.settled);
        else enqueue(unit);
      };

      subscriber.add(
        window.room$.subscribe(() => {
          while (waiting.size > 0 && window.room > 0) {
            const unit = dequeue();
            emit(unit.events, unit.settled);
          }
          if (waiting.size === 0) end?.();
        }),
      );
      subscriber.add(
        source.subscribe({
          next: (value) => {
            if (value instanceof EventBatch) admit(value);
            else if (isEvent(value)) admit({ events: [value], settled: undefined });
            else drop('not_an_event', 1, []);
          },
          error: (error) => finish(() => subscriber.error(error)),
          complete: () => finish(() => subscriber.complete()),
        }),
      );

      /** What waits goes first: the source's end follows it. */
      function finish(how: () => void): void {
        if (waiting.size === 0) how();
        else end = how;
      }
    });
}
