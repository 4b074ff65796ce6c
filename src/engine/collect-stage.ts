import { map, Observable, type OperatorFunction } from 'rxjs';
import { type InFlightWindow, maskEvent } from '../../operators/index.ts';
import { Fifo } from '../../operators/internal.ts';
import { withoutUnsureTail } from '../../operators/internal-files.ts';
import { describeKind } from '../sdk/collected-by.ts';
import type { PipelineConfig } from '../sdk/config.ts';
import type { Logger } from '../sdk/context.ts';
import { isNoteworthy, MillraceError } from '../sdk/errors.ts';
import { EventBatch, isEvent, isEventBatch, type Outcome } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { isTruncated } from '../sdk/rows.ts';
import { type Batch, batchOf } from './batches.ts';
import { AckQueue, Delivery, originOf } from './delivery.ts';
import type { Observers, StagePlace } from './observer.ts';
import type { Clock } from './stats.ts';

interface CollectStageOptions {
  readonly place: StagePlace;
  readonly window: InFlightWindow;
  readonly buffer: PipelineConfig['buffer'];
  readonly clock: Clock;
  readonly observer: Observers;
  /** Takes what the collector could not make events of. */
  readonly onRefused: (event: CollectedEvent, delivery: Delivery, error: unknown) => void;
  /** The queue that acknowledges what this collector emits. Default: one of its own. */
  readonly makeQueue?: ((release: (events: number) => void) => Pick<AckQueue, 'open'>) | undefined;
}

/**
 * Opens a delivery for everything that a collector emits. While the window is full, what comes waits in a bounded
 * buffer; beyond that it is dropped by policy, and counted. Collectors that heed `ctx.demand` never get there.
 * Errors with the source, and with a value that is not an event, after all earlier events.
 */
export function collectStage({
  place,
  window,
  buffer,
  clock,
  observer,
  onRefused,
  makeQueue = (release) => new AckQueue(release),
}: CollectStageOptions): OperatorFunction<CollectedEvent | EventBatch, Batch> {
  return (source) =>
    new Observable<Batch>((subscriber) => {
      const queue = makeQueue((events) => window.release(events));
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
          acknowledge?.(outcome);
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
  const whole = acknowledge && new Delivery(rows.size, acknowledge);
  const parts: CollectedEvent[][] = [];
  for (const [index, event] of events.entries()) {
    const before = events[index - 1];
    if (before !== undefined && isTruncated(before) === isTruncated(event)) parts.at(-1)?.push(event);
    else parts.push([event]);
  }
  return parts.map((part) => {
    const acknowledgePart = whole && ((outcome: Outcome) => whole.acknowledge(part.length, outcome));
    return new EventBatch(part, acknowledgePart, origin);
  });
}

/**
 * What a collector has emitted, as a batch.
 *
 * @throws MillraceError, fatal, for a value that is not an event: dropping it could lose data.
 */
function expectBatch(value: unknown, collector: string): EventBatch {
  if (isEvent(value)) return new EventBatch([value]);
  if (!isEventBatch(value)) throw noEvent(`collector ${collector}`, value);
  const isOwn = (value as object) instanceof EventBatch;
  if (isOwn && value.rows.areEvents) return value;
  const { events, origin } = value;
  expectEvents(events, `collector ${collector}`);
  if (isOwn) return value;
  // Of another copy of millrace, which may be another version, only what is documented is used.
  return new EventBatch(events, value.acknowledge && ((outcome) => value.acknowledge?.(outcome)), origin);
}

/** @throws MillraceError, fatal, for the first value that is not an event. `who` is `processor parse`, say. */
export function expectEvents(
  values: readonly unknown[],
  who: string,
): asserts values is readonly CollectedEvent[] {
  for (let i = 0; i < values.length; i++) if (!isEvent(values[i])) throw noEvent(who, values[i]);
}

function noEvent(who: string, value: unknown): MillraceError {
  const error = new MillraceError(
    'MILLRACE_PLUGIN_RETURN',
    `${who} emitted ${describeKind(value)}; expected events: objects of the form \`{ data: { … } }\`. ` +
      'The run fails, because what was meant cannot be told; correct the plugin',
  );
  return Object.assign(error, { fatal: true });
}

/**
 * Takes the end that masks could not judge off all that comes of a truncated line, whatever processors made of it: a
 * new event need not have `truncated`, its delivery is known all the same.
 */
export class TruncatedLines {
  readonly #pipeline: string;
  readonly #logger: Logger;
  /** The source of the line, by the delivery that it came in by. */
  readonly #sources = new WeakMap<Delivery, unknown>();
  #count = 0;

  constructor(pipeline: string, logger: Logger) {
    this.#pipeline = pipeline;
    this.#logger = logger;
  }

  /** Notes a batch of truncated lines, and says so; to be called as it is collected. */
  note(batch: Batch): void {
    const { rows, delivery } = batch;
    const { size } = rows;
    if (rows.truncated !== 'all') return;
    this.#sources.set(delivery.root, rows.events[0]?.data.source);
    this.#count += size;
    if (!isNoteworthy(this.#count, size)) return;
    const often = this.#count > 3 ? ` (${this.#count} of this run)` : '';
    this.#logger.warn(
      `${this.#pipeline}: a line${originOf(delivery)} was cut${often}: it is longer than \`max_line_bytes\`, ` +
        'unfinished lines took more than `--read-memory`, or its file was truncated below it; the rest is lost, and its event says `truncated: true`',
    );
  }

  /**
   * What may be shown of an event, once it has passed all masks.
   *
   * @throws MaskError for a truncated event that JSON cannot show
   */
  cut(event: CollectedEvent, { root }: Delivery): CollectedEvent {
    if (!this.#sources.has(root)) return withoutUnsureTail(event as CollectedEvent & { truncated?: unknown });
    const cut: CollectedEvent & { readonly truncated: true } = {
      ...maskEvent(event, cutText),
      truncated: true,
    };
    // Nothing of the line is in it, unless a processor has put it there.
    const { source } = event.data;
    if (source === undefined || source !== this.#sources.get(root)) return cut;
    return { ...cut, data: { ...cut.data, source } };
  }

  /** Cuts the events of a batch. Events that cannot be cut are removed and passed to `onFailure`. */
  cutBatch(
    batch: Batch,
    onFailure: (event: CollectedEvent, delivery: Delivery, error: unknown) => void,
  ): Batch {
    const { rows, delivery } = batch;
    // Nearly all batches have whole lines only, and stay as they are.
    if (!this.#sources.has(delivery.root) && rows.truncated === 'none') return batch;
    const events: CollectedEvent[] = [];
    for (const event of rows.events) {
      try {
        events.push(this.cut(event, delivery));
      } catch (error) {
        onFailure(event, delivery, error);
      }
    }
    return batchOf(events, delivery);
  }
}

function cutText(text: string): string {
  return withoutUnsureTail({ truncated: true, data: { text } }).data.text;
}
