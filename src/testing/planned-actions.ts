import { type SchedulerAction, Subscription } from 'rxjs';

/** What an RxJS scheduler gives to the work that it calls: it can schedule itself again. */
export class PlannedAction<T> extends Subscription implements SchedulerAction<T> {
  readonly work: (state?: unknown) => void;
  /** Only the latest plan of an action counts. */
  version = 0;
  /** It outlasts the process under test. */
  isLasting = false;
  readonly #plan: (action: PlannedAction<never>, delay: number, state: unknown) => void;

  constructor(
    work: (this: SchedulerAction<T>, state?: T) => void,
    plan: (action: PlannedAction<never>, delay: number, state: unknown) => void,
  ) {
    super();
    this.work = work.bind(this) as (state?: unknown) => void;
    this.#plan = plan;
  }

  schedule(state?: T, delay = 0): Subscription {
    // An infinite time never comes.
    if (!this.closed && Number.isFinite(delay)) this.#plan(this as never, delay, state);
    return this;
  }
}

/** An action at a time; of those at the same time, the one that was planned first comes first. */
export interface Planned {
  readonly at: number;
  readonly order: number;
  readonly action: PlannedAction<never>;
  readonly version: number;
  readonly state: unknown;
}

const isBefore = (a: Planned, b: Planned) => a.at < b.at || (a.at === b.at && a.order < b.order);

/** A binary heap: the first of n actions is found, and another one added, in log n steps. */
export class PlannedActions {
  #items: Planned[] = [];

  push(item: Planned): void {
    const items = this.#items;
    let index = items.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(item, items[parent] as Planned)) break;
      items[index] = items[parent] as Planned;
      index = parent;
    }
    items[index] = item;
  }

  pop(): Planned | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1] as Planned, items[child] as Planned)) child++;
      if (!isBefore(items[child] as Planned, last)) break;
      items[index] = items[child] as Planned;
      index = child;
    }
    items[index] = last;
    return first;
  }

  /** Keeps only some, which are in their order: so they are a heap. */
  keep(isKept: (item: Planned) => boolean): void {
    this.#items = this.#items.filter(isKept).sort((a, b) => (isBefore(a, b) ? -1 : 1));
  }

  clear(): void {
    this.#items = [];
  }
}
