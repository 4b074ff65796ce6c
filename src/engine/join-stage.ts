import { Observable, type OperatorFunction, pipe, type Subscriber, type Subscription } from 'rxjs';
import { longTimer } from '../../operators/index.ts';
import { Fifo, Pump, steadyClock, subscribeFor } from '../../operators/internal.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { LineEvents } from '../sdk/line-events.ts';
import type { LineJoining } from '../sdk/plugin.ts';
import { EventRows } from '../sdk/rows.ts';
import type { Batch } from './batches.ts';
import type { Delivery } from './delivery.ts';
import { JoinGroups } from './join-groups.ts';
import { JoinOutput } from './join-output.ts';
import { type Observers, type StagePlace, tellLeft } from './observer.ts';

export interface JoinStageOptions {
  readonly joining: LineJoining;
  /** Whether as many events are in flight as may be: then no more come until some are acknowledged. */
  readonly isWindowFull: () => boolean;
  readonly place: StagePlace;
  readonly observer: Observers;
  /** Takes an event that the processor failed on, with its part of the delivery. */
  readonly onFailure: (event: CollectedEvent, delivery: Delivery, error: unknown) => void;
}

/**
 * Joins consecutive lines of one source into one event, as the processor says. Lines of other sources, and of other
 * streams of this one, may lie between them. An event leaves when it is complete, when a line does not belong to it, when
 * it reaches a limit, or when the source has completed, and its lines are acknowledged when it is.
 *
 * The time limit does not run while the window is full of events that have passed this stage: the next line may wait for
 * room. If the window is full and none has passed, the oldest lines that wait here leave, because they hold back the
 * acknowledgement of all others.
 */
export function joinStage(options: JoinStageOptions): OperatorFunction<Batch, Batch> {
  const { place, observer, joining } = options;
  observer.holds(place, joining.seconds);
  return pipe(
    (source) => new Observable<Batch>((subscriber) => new Joiner(options, subscriber).start(source)),
    tellLeft(place, observer),
  );
}

class Joiner {
  readonly #options: JoinStageOptions;
  readonly #subscriber: Subscriber<Batch>;
  readonly #now = steadyClock();
  readonly #waiting = new Fifo<Batch>();
  readonly #groups: JoinGroups;
  readonly #output: JoinOutput;
  /** What leaves may be acknowledged at once, and let further batches come. They have to wait for their turn. */
  readonly #pump: Pump;
  #hasEnded = false;
  #timer: Subscription | undefined;
  /** Groups that are held since then, in milliseconds, or longer, have reached their time limit. */
  #dueSince: number | undefined;

  constructor(options: JoinStageOptions, subscriber: Subscriber<Batch>) {
    this.#options = options;
    this.#subscriber = subscriber;
    this.#pump = new Pump(() => this.#step(), subscriber);
    this.#output = new JoinOutput(options, subscriber, () => this.#pump.run());
    this.#groups = new JoinGroups(options.joining, this.#output, this.#now);
  }

  start(source: Observable<Batch>): void {
    subscribeFor(this.#subscriber, source, {
      next: (batch) => {
        this.#waiting.push(batch);
        this.#pump.run();
      },
      error: (error) => this.#subscriber.error(error),
      complete: () => {
        this.#hasEnded = true;
        this.#pump.run();
      },
    });
  }

  /** Does what is due; false if there is nothing to do but wait. */
  #step(): boolean {
    const batch = this.#waiting.shift();
    if (batch !== undefined) this.#take(batch);
    else if (this.#hasEnded) {
      this.#groups.completeAll();
      this.#subscriber.complete();
    } else if (this.#dueSince !== undefined) this.#endTime(this.#dueSince);
    else if (this.#isStuck) this.#groups.completeFirst();
    else {
      this.#setTimer();
      return false;
    }
    return true;
  }

  #take({ rows, delivery }: Batch): void {
    const { observer, place, joining } = this.#options;
    observer.received(place, rows.size);
    const { lines } = rows;
    if (lines !== undefined && !lines.envelope.isTruncated && joining.readsLines) {
      this.#takeLines(lines, delivery);
    } else for (const event of rows.events) this.#takeEvent(event, delivery);
  }

  /** Single lines do not change, and stay bytes if they are bytes. */
  #takeLines(events: LineEvents, delivery: Delivery): void {
    const { text } = events.texts;
    const mayJoin =
      this.#groups.holds(events.envelope.source) ||
      text === undefined ||
      this.#options.joining.mayBegin?.(text) !== false;
    if (mayJoin) this.#output.take(events, delivery, (line) => this.#groups.add(line));
    else this.#output.pass(events, [[delivery, events.size]]);
  }

  #takeEvent(event: CollectedEvent, delivery: Delivery): void {
    const { joining, onFailure } = this.#options;
    const isCut = (event as { truncated?: unknown }).truncated === true;
    let line: string | undefined;
    try {
      line = isCut ? undefined : joining.lineOf(event);
    } catch (error) {
      onFailure(event, delivery, error);
      return;
    }
    if (line !== undefined) {
      this.#groups.add({ line, from: event, delivery, start: 0 });
      return;
    }
    this.#groups.endFor(event);
    this.#output.pass(new EventRows([event]), [[delivery, 1]]);
  }

  /** Whether nothing will come before some of what is held here has left. */
  get #isStuck(): boolean {
    return this.#output.open === 0 && this.#groups.size > 0 && this.#options.isWindowFull();
  }

  /** One timer, for the group that is the first to reach its time limit. */
  #setTimer(): void {
    if (this.#timer !== undefined || this.#groups.size === 0) return;
    const limit = this.#options.joining.seconds * 1000;
    const { earliest } = this.#groups;
    this.#timer = longTimer(Math.max(0, earliest + limit - this.#now())).subscribe(() => {
      this.#timer = undefined;
      // A timer can be early by a rounding error, and would then be set again and again.
      this.#dueSince = Math.max(earliest, this.#now() - limit);
      this.#pump.run();
    });
    this.#subscriber.add(this.#timer);
  }

  /** Groups have reached their time limit. It starts again where their next line may be what waits for room. */
  #endTime(since: number): void {
    this.#dueSince = undefined;
    const isWaitingForRoom = this.#options.isWindowFull() && this.#output.open > 0;
    if (isWaitingForRoom) this.#groups.renewSince(since);
    else this.#groups.completeSince(since);
  }
}
