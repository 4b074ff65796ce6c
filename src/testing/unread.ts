import { asyncScheduler } from 'rxjs';
import type { CollectorState, PipelineRunContext } from '../sdk/context.ts';
import type { Outcome } from '../sdk/event-batch.ts';
import type { Redelivery } from '../sdk/plugin.ts';
import type { TimedValue } from './stand-in-collector.ts';

/** An event that waits to be collected, from a time on. */
export interface Item {
  readonly due: number;
  /** Undefined for what is read and not emitted, such as an empty line that is skipped. */
  readonly timed: TimedValue | undefined;
  /** Only items with the same one are in a batch together. Undefined goes with any. */
  readonly batchKey: unknown;
  /** In all that its collector emits, from 0. */
  readonly position: number;
}

type NewItems = Iterable<Omit<Item, 'position'>>;

/** What a stand-in of a collector has still to emit, in its order, over all runs of its pipeline. */
export interface Unread {
  /** Whether what was not acknowledged comes again. */
  readonly isKept: boolean;
  /** Whether items that are due together may be emitted together. */
  readonly isInBatches: boolean;
  /** The item that comes next, due or not. */
  readonly next: Item | undefined;
  /** Whether more may come of what was emitted. */
  readonly isWaitingFor: boolean;
  /** A run starts, for which there are these items more. */
  start(ctx: PipelineRunContext<never>, items: NewItems): void;
  /** Takes the next one, of which there is one. */
  shift(): Item;
  /** What was emitted together has this outcome. False if that is of no interest any more. */
  acknowledge(items: readonly Item[], outcome: Outcome): boolean;
}

/** Each run starts again. */
export class ReadOnce implements Unread {
  readonly isKept = false;
  readonly isInBatches = false;
  readonly isWaitingFor = false;
  #items: readonly Item[] = [];
  #taken = 0;
  #emitted = 0;

  get next(): Item | undefined {
    return this.#items[this.#taken];
  }

  start(_ctx: unknown, items: NewItems): void {
    this.#items = Array.from(items, (item) => ({ ...item, position: 0 }));
    this.#taken = 0;
  }

  shift(): Item {
    return { ...(this.#items[this.#taken++] as Item), position: this.#emitted++ };
  }

  acknowledge(): boolean {
    return false;
  }
}

const POSITION = 'position';

/** A run continues after the last acknowledged item, which is stored where the real collector stores its own. */
export class UnreadLog implements Unread {
  readonly isKept = true;
  readonly isInBatches = true;
  readonly isWaitingFor = false;
  readonly #items: Item[] = [];
  #taken = 0;
  #state: CollectorState | undefined;

  get next(): Item | undefined {
    return this.#items[this.#taken];
  }

  start({ state }: PipelineRunContext<never>, items: NewItems): void {
    for (const item of items) this.#items.push({ ...item, position: this.#items.length });
    this.#state = state;
    this.#taken = (state.get(POSITION) as number | undefined) ?? 0;
  }

  shift(): Item {
    return this.#items[this.#taken++] as Item;
  }

  acknowledge(items: readonly Item[]): boolean {
    this.#state?.set(POSITION, (items.at(-1) as Item).position + 1);
    return true;
  }
}

/** Messages of a broker, which delivers those again that failed, and those about which it hears nothing. */
export class UnreadMessages implements Unread {
  readonly isKept = true;
  readonly isInBatches = false;
  readonly #redelivery: Redelivery;
  /** In the order of their times. */
  readonly #waiting: Item[] = [];
  /** The items that were emitted and not acknowledged, with their times. */
  readonly #open = new Map<Item, number>();
  /** By position. */
  readonly #deliveries = new Map<number, number>();
  #items = 0;
  #run = 0;
  #endedAt: number | undefined;

  constructor(redelivery: Redelivery) {
    this.#redelivery = redelivery;
  }

  get next(): Item | undefined {
    return this.#waiting[0];
  }

  get isWaitingFor(): boolean {
    return this.#open.size > 0;
  }

  start({ ended }: PipelineRunContext<never>, items: NewItems): void {
    const run = ++this.#run;
    const endedAt = this.#endedAt ?? asyncScheduler.now();
    for (const [item, since] of this.#open) this.#deliverAt(this.#silentUntil(since, endedAt), item);
    this.#open.clear();
    for (const item of items) this.#deliverAt(item.due, { ...item, position: this.#items++ });
    ended.addEventListener('abort', () => {
      if (run === this.#run) this.#endedAt = asyncScheduler.now();
    });
  }

  shift(): Item {
    const item = this.#waiting.shift() as Item;
    this.#open.set(item, asyncScheduler.now());
    this.#deliveries.set(item.position, this.#deliveriesOf(item) + 1);
    return item;
  }

  acknowledge([item]: readonly [Item], outcome: Outcome): boolean {
    if (!this.#open.delete(item)) return false;
    const comesAgain = outcome === 'failed' || outcome === 'rejected';
    const wait = comesAgain ? this.#redelivery.afterFailure(this.#deliveriesOf(item)) : undefined;
    if (wait !== undefined) this.#deliverAt(asyncScheduler.now() + wait, item);
    return true;
  }

  #deliveriesOf({ position }: Item): number {
    return this.#deliveries.get(position) ?? 0;
  }

  /** While a message is in work, its broker hears of it after half of the time at which it would deliver it again. */
  #silentUntil(since: number, endedAt: number): number {
    const { afterSilence } = this.#redelivery;
    const half = afterSilence / 2;
    return since + Math.floor((endedAt - since) / half) * half + afterSilence;
  }

  #deliverAt(due: number, item: Item): void {
    const index = this.#waiting.findLastIndex((other) => other.due <= due);
    this.#waiting.splice(index + 1, 0, { ...item, due });
  }
}
