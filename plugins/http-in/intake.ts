import { type Subscriber, Subscription } from 'rxjs';
import { longTimer } from '../../operators/index.ts';
import { Fifo, Pump } from '../../operators/internal.ts';
import { EventBatch, type Outcome } from '../../src/sdk/index.ts';
import type { BatchDemand } from '../lines/batch-demand.ts';
import type { RequestEvents } from './endpoint.ts';
import { isFull, isUnavailable, Refusal } from './refusal.ts';

/** Milliseconds that a request waits for room. A window is full for moments only while the sink keeps up. */
const PATIENCE_MS = 1000;

interface IntakeOptions {
  readonly demand: BatchDemand;
  readonly subscriber: Subscriber<EventBatch>;
  /** Milliseconds from the start until all events of a request have to be acknowledged. */
  readonly timeoutMs: number;
}

/**
 * Where requests wait for room, in the order in which they came, and for the acknowledgement of their events. The events of
 * a request are one batch, also if they are more than there is room for: what its sender is told is then true of all of them.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #pump: Pump;
  readonly #open = new Set<OpenRequest>();
  #waiting = new Fifo<OpenRequest>();
  #hasNoRoom = false;
  #isStopped = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#pump = new Pump(() => this.#step(), options.subscriber);
  }

  /** Whether the last request that waited for room has found none, and there is still none. */
  get isFull(): boolean {
    return this.#hasNoRoom && this.#options.demand.room <= 0;
  }

  /** There may be room. */
  run(): void {
    this.#pump.run();
  }

  /** Resolves when all events are acknowledged: with their number, or with why the sender should repeat them. */
  offer(events: RequestEvents, bytes: number): Promise<number | Refusal> {
    return new Promise((resolve) => {
      if (this.#isStopped) {
        resolve(isUnavailable(STOPPING));
        return;
      }
      const request = new OpenRequest(events, bytes, (result) => {
        this.#open.delete(request);
        resolve(result);
      });
      if (events.rows.size === 0) {
        request.answer(0);
        return;
      }
      this.#open.add(request);
      this.#waiting.push(request);
      this.#pump.run();
      request.expire(this.#options.timeoutMs, () => {
        this.#hasNoRoom = true;
      });
    });
  }

  /** Takes no more events. Requests that wait for room are refused; the others wait for their acknowledgement. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting = new Fifo();
    for (const request of this.#open) if (!request.isEmitted) request.answer(isUnavailable(STOPPING));
  }

  /** Nothing is acknowledged any more. */
  end(): void {
    for (const request of this.#open) request.answer(isUnavailable(STOPPING));
  }

  #step(): boolean {
    const request = this.#waiting.peek();
    if (request === undefined) return false;
    const { demand, subscriber } = this.#options;
    if (!request.isAnswered && demand.room <= 0) return false;
    this.#waiting.shift();
    if (request.isAnswered) return true;
    const { rows } = request.events;
    const { bytes } = request;
    request.isEmitted = true;
    this.#hasNoRoom = false;
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
  readonly events: RequestEvents;
  /** Of its body. */
  readonly bytes: number;
  readonly #answer: (result: number | Refusal) => void;
  #timers = Subscription.EMPTY;
  isEmitted = false;
  isAnswered = false;

  constructor(events: RequestEvents, bytes: number, answer: (result: number | Refusal) => void) {
    this.events = events;
    this.bytes = bytes;
    this.#answer = answer;
  }

  /** Starts its time limits. `onNoRoom` is called when it has waited too long for room. */
  expire(timeoutMs: number, onNoRoom: () => void): void {
    if (this.isAnswered) return;
    this.#timers = new Subscription();
    this.#timers.add(
      longTimer(timeoutMs).subscribe(() =>
        this.answer(isUnavailable('its events were not acknowledged in time; repeat the request')),
      ),
    );
    if (this.isEmitted) return;
    this.#timers.add(
      longTimer(PATIENCE_MS).subscribe(() => {
        if (this.isEmitted) return;
        onNoRoom();
        this.answer(isFull('the pipeline is full; repeat the request later'));
      }),
    );
  }

  acknowledge(outcome: Outcome): void {
    this.events.release?.();
    this.answer(this.#resultOf(outcome));
  }

  answer(result: number | Refusal): void {
    if (this.isAnswered) return;
    this.isAnswered = true;
    this.#timers.unsubscribe();
    if (!this.isEmitted) this.events.release?.();
    this.#answer(result);
  }

  /** What has failed for good would fail again, so it is taken too. */
  #resultOf(outcome: Outcome): number | Refusal {
    if (outcome === 'failed') return isFull('its events could not be delivered; repeat the request later');
    if (outcome === 'rejected') return isFull('the buffer of the pipeline is full; repeat the request later');
    if (outcome === 'too_large') return new Refusal(413, LARGER_THAN_BUFFER);
    return this.events.rows.size;
  }
}

const LARGER_THAN_BUFFER =
  'the events take more than the whole buffer of the pipeline; send fewer in a request (`buffer.max_bytes`)';
