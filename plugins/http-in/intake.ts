import { type Subscriber, Subscription } from 'rxjs';
import { longTimer } from '../../operators/index.ts';
import { Fifo, Pump } from '../../operators/internal.ts';
import { EventBatch, type Outcome, type Rows } from '../../src/sdk/index.ts';
import type { BatchDemand } from '../lines/batch-demand.ts';
import { isFull, isUnavailable, type Refusal } from './refusal.ts';

/** Milliseconds that a request waits for room. A window is full for moments only while the sink keeps up. */
const PATIENCE_MS = 1000;
const BATCH_EVENTS = 4096;

/** The events of a request, taken in parts that the window has room for. */
export interface EventParts {
  /** Whether all of them were taken. */
  readonly isDone: boolean;
  /** About how much they take beside the body of the request. */
  readonly memoryBytes: number;
  /** The next ones, at most `max`. */
  take(max: number): Rows;
  /** Called when none of the rows is used any more. */
  release?(): void;
}

interface IntakeOptions {
  readonly demand: BatchDemand;
  readonly subscriber: Subscriber<EventBatch>;
  /** Milliseconds from the start until all events of a request have to be acknowledged. */
  readonly timeoutMs: number;
}

/**
 * Where requests wait for room, in the order in which they came, and for the acknowledgement of their events.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #pump: Pump;
  readonly #open = new Set<OpenRequest>();
  #waiting = new Fifo<OpenRequest>();
  #isStopped = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#pump = new Pump(() => this.#step(), options.subscriber);
  }

  /** There may be room. */
  run(): void {
    this.#pump.run();
  }

  /** Resolves when all events are acknowledged: with their number, or with why the sender should repeat them. */
  offer(parts: EventParts, bytes: number): Promise<number | Refusal> {
    return new Promise((resolve) => {
      if (this.#isStopped) {
        resolve(isUnavailable(STOPPING));
        return;
      }
      const request = new OpenRequest(parts, bytes, (result) => {
        this.#open.delete(request);
        resolve(result);
      });
      this.#open.add(request);
      this.#waiting.push(request);
      this.#pump.run();
      request.expire(this.#options.timeoutMs);
    });
  }

  /** Takes no more events. Requests of which some are left are refused; the others wait for their acknowledgement. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting = new Fifo();
    for (const request of this.#open) if (!request.parts.isDone) request.answer(isUnavailable(STOPPING));
  }

  /** Nothing is acknowledged any more. */
  end(): void {
    for (const request of this.#open) request.answer(isUnavailable(STOPPING));
  }

  #step(): boolean {
    const request = this.#waiting.peek();
    if (request === undefined) return false;
    const { parts } = request;
    if (request.isAnswered || parts.isDone) {
      this.#waiting.shift();
      request.taken();
      return true;
    }
    const { demand, subscriber } = this.#options;
    const { room } = demand;
    if (room <= 0) return false;
    const rows = parts.take(Math.min(room, BATCH_EVENTS));
    if (rows.size === 0) return true;
    const bytes = request.begin(rows.size);
    demand.emitted(rows.size, bytes);
    const acknowledge = (outcome: Outcome) => {
      demand.acknowledged(rows.size, bytes);
      request.acknowledge(outcome);
    };
    subscriber.next(new EventBatch(rows, acknowledge));
    return true;
  }
}

const STOPPING = 'the pipeline stops; repeat the request';

/** A request whose events have been read. */
class OpenRequest {
  readonly parts: EventParts;
  readonly #answer: (result: number | Refusal) => void;
  #timers = Subscription.EMPTY;
  /** Bytes of its body that no batch counts yet. */
  #bytes: number;
  #events = 0;
  /** Batches that are in flight. */
  #inFlight = 0;
  #hasFailed = false;
  #isTaken = false;
  #isOver = false;
  isAnswered = false;

  constructor(parts: EventParts, bytes: number, answer: (result: number | Refusal) => void) {
    this.parts = parts;
    this.#bytes = bytes;
    this.#answer = answer;
  }

  /** Starts its time limits. */
  expire(timeoutMs: number): void {
    if (this.isAnswered) return;
    this.#timers = new Subscription();
    this.#timers.add(
      longTimer(timeoutMs).subscribe(() =>
        this.answer(isUnavailable('its events were not acknowledged in time; repeat the request')),
      ),
    );
    if (this.#events > 0) return;
    this.#timers.add(
      longTimer(PATIENCE_MS).subscribe(() => {
        if (this.#events === 0) this.answer(isFull('the pipeline is full; repeat the request later'));
      }),
    );
  }

  /** So many events leave in a batch. Returns its share of the bytes: the first batch counts all of them. */
  begin(events: number): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#events += events;
    this.#inFlight++;
    return bytes;
  }

  /** All of its events are in batches. */
  taken(): void {
    this.#isTaken = true;
    this.#settle();
  }

  acknowledge(outcome: Outcome): void {
    this.#inFlight--;
    this.#hasFailed ||= outcome === 'failed';
    this.#settle();
  }

  answer(result: number | Refusal): void {
    if (this.isAnswered) return;
    this.isAnswered = true;
    this.#timers.unsubscribe();
    this.#answer(result);
  }

  #settle(): void {
    if (this.#inFlight > 0) return;
    if (this.#isOver || !(this.#isTaken || this.isAnswered)) return;
    this.#isOver = true;
    this.parts.release?.();
    this.answer(
      this.#hasFailed
        ? isFull('events of it could not be delivered; repeat the request later')
        : this.#events,
    );
  }
}
