import { map, Observable, type OperatorFunction } from 'rxjs';
import type { InFlightWindow } from '../../operators/index.ts';
import { Fifo } from '../../operators/internal.ts';
import type { MemoryBufferConfig } from '../sdk/config.ts';
import { EventBatch, type Outcome } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { failedIn } from '../sdk/plugin-returns.ts';
import { isTruncated } from '../sdk/rows.ts';
import { type AckOwner, type CollectorQueue, queueOf } from './ack-queue.ts';
import type { Batch } from './batches.ts';
import type { Clock } from './clock.ts';
import { Delivery } from './delivery.ts';
import { expectBatch } from './expect-events.ts';
import type { Observers, StagePlace } from './observer.ts';

interface CollectStageOptions {
  readonly place: StagePlace;
  readonly window: InFlightWindow;
  readonly buffer: MemoryBufferConfig;
  readonly clock: Clock;
  readonly observer: Observers;
  /** Takes what the collector could not make events of. */
  readonly onRefused: (event: CollectedEvent, delivery: Delivery, error: unknown) => void;
  /** The collector failed as it was told that its events are acknowledged, which may be after it has completed. */
  readonly onAcknowledgeFailed: (error: unknown) => void;
  /** The queue that acknowledges what this collector emits. Default: one of its own. */
  readonly makeQueue?: ((owner: AckOwner) => CollectorQueue) | undefined;
}

/**
 * Opens a delivery for everything that a collector emits. While the window is full, what comes waits in a bounded
 * buffer; beyond that it is dropped by policy, and counted. Collectors that heed `ctx.demand` never get there.
 * Errors with the source, and with a value that is not an event, after all earlier events. If the collector fails as it
 * is told that events are acknowledged, the stage completes: what it has in the buffer would come again.
 */
export function collectStage({
  place,
  window,
  buffer,
  clock,
  observer,
  onRefused,
  onAcknowledgeFailed,
  makeQueue = queueOf,
}: CollectStageOptions): OperatorFunction<CollectedEvent | EventBatch, Batch> {
  return (source) =>
    new Observable<Batch>((subscriber) => {
      const queue = makeQueue({
        release: (events) => window.release(events),
        failed: (error) => {
          onAcknowledgeFailed(failedIn(`collector ${place.name}`, '`acknowledge` of an EventBatch', error));
          subscriber.complete();
        },
      });
      // What came while the window was full. Single events are joined when there is room again.
      const waiting = new Fifo<EventBatch | Settled>();
      let waitingEvents = 0;
      let end: (() => void) | undefined;

      const emit = (unit: EventBatch) => {
        const { rows, size, acknowledge, origin, refusal } = unit;
        const events = () => rows.events;
        window.take(size);
        const admittedAt = clock.now;
        const delivery = queue.open(size, (outcome) => {
          // Before the collector is told, which may then use the memory of lines again.
          observer.acknowledged(place, size, events, outcome, clock.now - admittedAt);
          return acknowledge?.(outcome);
        });
        delivery.origin = origin;
        observer.admitted(place, size, events, delivery);
        if (refusal !== undefined) {
          onRefused(rows.events[0] as CollectedEvent, delivery, refusal);
          return;
        }
        subscriber.next({ rows, delivery });
      };

      /** In the order of emission too, since collectors take an acknowledgement for one of all that came before. */
      const settle = ({ acknowledge, outcome }: Settled) => {
        if (acknowledge !== undefined) queue.open(0, acknowledge).acknowledge(0, outcome);
      };

      const refuse = (unit: EventBatch): Settled => {
        observer.dropped(place, 'buffer_full', unit.size, () => unit.events);
        return { acknowledge: unit.acknowledge, outcome: 'dropped' };
      };

      const enqueue = (unit: EventBatch) => {
        const fits = () => waitingEvents === 0 || waitingEvents + unit.size <= buffer.max_events;
        if (buffer.when_full === 'drop_newest' && !fits()) {
          const refused = refuse(unit);
          if (refused.acknowledge !== undefined) waiting.push(refused);
          return;
        }
        while (!fits()) {
          const oldest = dequeue();
          settle(oldest instanceof EventBatch ? refuse(oldest) : oldest);
        }
        waiting.push(unit);
        waitingEvents += unit.size;
      };

      const dequeue = (): EventBatch | Settled => {
        const first = waiting.shift() as EventBatch | Settled;
        if (first instanceof EventBatch) waitingEvents -= first.size;
        return first;
      };

      /** The first batch that waits, with those after it that can be joined to it. */
      const dequeueJoined = (): EventBatch | Settled => {
        const first = dequeue();
        if (!isJoinable(first)) return first;
        const events = [...first.events];
        for (let next = waiting.peek(); isJoinable(next); next = waiting.peek()) {
          if (events.length + next.size > window.room) break;
          dequeue();
          events.push(...next.events);
        }
        return new EventBatch(events);
      };

      const admit = (unit: EventBatch) => {
        if (unit.refusal !== undefined) observer.refused(place);
        else if (unit.size > 0) observer.collected(place, unit.size, () => unit.events);
        for (const part of withoutMixing(unit)) {
          const isNext = waiting.size === 0;
          if (part.size === 0) {
            const settled: Settled = { acknowledge: part.acknowledge, outcome: 'forwarded' };
            if (isNext) settle(settled);
            else waiting.push(settled);
          } else if (isNext && window.room > 0) emit(part);
          else enqueue(part);
        }
      };

      // Not a `Pump`: the window has one, so its notifications of room never nest.
      subscriber.add(
        window.room$.subscribe(() => {
          while (waiting.size > 0 && window.room > 0) {
            const next = dequeueJoined();
            if (next instanceof EventBatch) emit(next);
            else settle(next);
          }
          if (waiting.size === 0) end?.();
        }),
      );
      subscriber.add(
        source.pipe(map((value) => expectBatch(value, place.name))).subscribe({
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

/** Nothing of it is to be forwarded, but its collector waits to be told. */
interface Settled {
  readonly acknowledge: ((outcome: Outcome) => void) | undefined;
  readonly outcome: Outcome;
}

/** Whether nobody can tell its events from others that came in a batch of their own. */
function isJoinable(unit: EventBatch | Settled | undefined): unit is EventBatch {
  return (
    unit instanceof EventBatch &&
    unit.acknowledge === undefined &&
    unit.refusal === undefined &&
    unit.rows.truncated === 'none'
  );
}

/** Truncated and whole events apart, since what is cut off their ends is decided by batch: see {@link TruncatedLines}. */
function withoutMixing(unit: EventBatch): readonly EventBatch[] {
  const { rows, acknowledge, origin } = unit;
  if (rows.truncated !== 'some') return [unit];
  const { events } = rows;
  let returned: unknown;
  const whole =
    acknowledge &&
    new Delivery(rows.size, (outcome) => {
      returned = acknowledge(outcome);
    });
  const parts: CollectedEvent[][] = [];
  for (const [index, event] of events.entries()) {
    const before = events[index - 1];
    if (before !== undefined && isTruncated(before) === isTruncated(event)) parts.at(-1)?.push(event);
    else parts.push([event]);
  }
  return parts.map((part) => {
    const acknowledgePart =
      whole &&
      ((outcome: Outcome) => {
        whole.acknowledge(part.length, outcome);
        // Of the last part: a promise whose rejection fails the collector.
        return returned as void;
      });
    return new EventBatch(part, acknowledgePart, origin);
  });
}
