import { asyncScheduler, Observable, type Subscriber } from 'rxjs';
import type { Demand } from '../../operators/index.ts';
import { Fifo, Pump } from '../../operators/internal.ts';

/**
 * Further results of events that are created in one go, before other work of the process gets its turn: endless
 * generators must not starve it. First results are bounded by the events.
 */
const TURN = 4096;

/**
 * Bounds the open results of one processor: those that were created and are not acknowledged. Iterables are pulled while
 * fewer than `size` are open, and the iterable of the oldest event while fewer than twice as many are. So it never waits
 * for the results of later events, which in an ordered pipeline cannot leave before it ends.
 */
export class ResultWindow {
  readonly #size: number;
  #open = 0;
  #inTurn = 0;
  /** In the order of their events. */
  readonly #demands = new Set<ResultDemand>();
  /** The same, and closed ones until they are the oldest: finding the first of a Set is slow after many deletions. */
  readonly #inOrder = new Fifo<ResultDemand>();
  readonly #notifying = new Pump(() => this.#notify());

  constructor(size: number) {
    this.#size = size;
  }

  /** For the results of one event, until it is closed. Call it in the order of the events. */
  demand(): ResultDemand {
    const demand = new ResultDemand(this);
    this.#demands.add(demand);
    this.#inOrder.push(demand);
    return demand;
  }

  roomOf(demand: ResultDemand): number {
    if (!demand.isFirst && this.#inTurn >= TURN) return 0;
    return Math.max(0, (this.#isOldest(demand) ? 2 : 1) * this.#size - this.#open);
  }

  opened(isFirst: boolean): void {
    this.#open++;
    if (isFirst) return;
    this.#inTurn++;
    if (this.#inTurn !== TURN) return;
    asyncScheduler.schedule(() => {
      this.#inTurn = 0;
      this.#notifying.run();
    });
  }

  acknowledged(): void {
    this.#open--;
    // Only at these sizes was a demand refused before.
    if (this.#open === this.#size - 1 || this.#open === 2 * this.#size - 1) this.#notifying.run();
  }

  closed(demand: ResultDemand): void {
    const isOldest = this.#isOldest(demand);
    if (!this.#demands.delete(demand) || !isOldest) return;
    // Only then was the demand that is now the oldest refused anything.
    if (this.#open >= this.#size) this.#notifying.run();
  }

  #isOldest(demand: ResultDemand): boolean {
    let oldest = this.#inOrder.peek();
    while (oldest !== undefined && !this.#demands.has(oldest)) {
      this.#inOrder.shift();
      oldest = this.#inOrder.peek();
    }
    return oldest === demand;
  }

  /** Tells all demands once. Results that are acknowledged meanwhile lead to another step. */
  #notify(): boolean {
    for (const demand of this.#demands) {
      if (demand.room === 0) break;
      demand.notify();
    }
    return false;
  }
}

/** How many more results may be pulled for one event. */
class ResultDemand implements Demand {
  readonly room$: Observable<number>;
  readonly #window: ResultWindow;
  #listener: Subscriber<number> | undefined;
  /** Whether there was no result yet. */
  isFirst = true;

  constructor(window: ResultWindow) {
    this.#window = window;
    this.room$ = new Observable((subscriber) => {
      this.#listener = subscriber;
      if (this.room > 0) subscriber.next(this.room);
    });
  }

  get room(): number {
    return this.#window.roomOf(this);
  }

  notify(): void {
    this.#listener?.next(this.room);
  }

  /** A result was created. */
  open(): void {
    this.#window.opened(this.isFirst);
    this.isFirst = false;
  }

  /** A result was acknowledged; also after the end of the iterable. */
  acknowledge(): void {
    this.#window.acknowledged();
  }

  /** There are no more results. */
  close(): void {
    this.#listener = undefined;
    this.#window.closed(this);
  }
}
