import { asyncScheduler, Observable, type Subscriber } from 'rxjs';
import type { Demand } from '../../operators/support/demand.ts';

/**
 * Further results of events that are made in one go, before other work of the process gets its turn: endless generators
 * must not starve it. First ones are bounded by the events.
 */
const TURN = 4096;

/**
 * Bounds the results of one processor that are open: made, and not acknowledged. Iterables are pulled while fewer than
 * `size` are, the one of the oldest event while fewer than twice as many are. So it is never kept waiting by the
 * results of later events, which in an ordered pipeline cannot leave before it ends.
 */
export class ResultWindow {
  readonly #size: number;
  #open = 0;
  #inTurn = 0;
  /** In the order of their events. */
  readonly #sources = new Set<ResultDemand>();
  #telling = false;
  #changed = false;

  constructor(size: number) {
    this.#size = size;
  }

  /** For the results of one event, until it is closed. Events come in their order. */
  demand(): ResultDemand {
    const source: ResultDemand = new ResultDemand({
      room: (isFirst) => this.#roomOf(source, isFirst),
      opened: (isFirst) => this.#opened(isFirst),
      acknowledged: () => {
        this.#open--;
        // Where nobody was refused, nobody has to be told.
        if (this.#open === this.#size - 1 || this.#open === 2 * this.#size - 1) this.#tell();
      },
      closed: () => {
        const isOldest = this.#isOldest(source);
        if (this.#sources.delete(source) && isOldest) this.#tell();
      },
    });
    this.#sources.add(source);
    return source;
  }

  #opened(isFirst: boolean): void {
    this.#open++;
    if (isFirst) return;
    this.#inTurn++;
    if (this.#inTurn !== TURN) return;
    asyncScheduler.schedule(() => {
      this.#inTurn = 0;
      this.#tell();
    });
  }

  #roomOf(source: ResultDemand, isFirst: boolean): number {
    if (!isFirst && this.#inTurn >= TURN) return 0;
    return Math.max(0, (this.#isOldest(source) ? 2 : 1) * this.#size - this.#open);
  }

  #isOldest(source: ResultDemand): boolean {
    return this.#sources.values().next().value === source;
  }

  /** A loop: sources that pull, and whose results acknowledge within that, do not nest. */
  #tell(): void {
    this.#changed = true;
    if (this.#telling) return;
    this.#telling = true;
    try {
      while (this.#changed) {
        this.#changed = false;
        for (const source of this.#sources) {
          if (source.room === 0) break;
          source.tell();
        }
      }
    } finally {
      this.#telling = false;
    }
  }
}

interface SourceSteps {
  readonly room: (isFirst: boolean) => number;
  readonly opened: (isFirst: boolean) => void;
  readonly acknowledged: () => void;
  readonly closed: () => void;
}

/** How many more results may be pulled for one event. */
export class ResultDemand implements Demand {
  readonly room$: Observable<number>;
  readonly #steps: SourceSteps;
  #listener: Subscriber<number> | undefined;
  #isFirst = true;

  constructor(steps: SourceSteps) {
    this.#steps = steps;
    this.room$ = new Observable((subscriber) => {
      this.#listener = subscriber;
      if (this.room > 0) subscriber.next(this.room);
    });
  }

  get room(): number {
    return this.#steps.room(this.#isFirst);
  }

  /** Tells the iterable, if there is one, that there is room. */
  tell(): void {
    this.#listener?.next(this.room);
  }

  /** A result was made. */
  open(): void {
    this.#steps.opened(this.#isFirst);
    this.#isFirst = false;
  }

  /** A result was acknowledged; also after the end of the iterable. */
  acknowledge(): void {
    this.#steps.acknowledged();
  }

  /** There are no more results. */
  close(): void {
    this.#listener = undefined;
    this.#steps.closed();
  }
}
