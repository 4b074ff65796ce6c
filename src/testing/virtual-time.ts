import { createHook } from 'node:async_hooks';
import { asyncScheduler, type SchedulerAction, Subscription } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { MillraceError } from '../sdk/errors.ts';

/**
 * Virtual time for everything that a pipeline does: the schedulers of RxJS, and also `Date`, `performance.now` and the
 * timers of Node, because a plugin may use those instead. It starts at 0, which is 1970-01-01T00:00:00Z, and days pass in
 * milliseconds. What is due at the same time runs in the order in which it was scheduled.
 *
 * RxJS's own `VirtualTimeScheduler` sorts all that is planned with each new action, and its `TestScheduler` looks through
 * all timers whenever one is due. A heap makes both unnecessary, which a test with 10,000 events needs.
 */
export class VirtualTime extends TestScheduler {
  /** Told of each time at which something happened, when all of that has happened. */
  onPassed: ((at: number) => void) | undefined;
  readonly #planned = new Heap();
  #order = 0;

  constructor() {
    super(() => {});
  }

  /**
   * Calls `plan`, then lets time pass until nothing is planned. Virtual time governs until it returns.
   *
   * @throws MillraceError `MILLRACE_TEST_CLOCK` if code set a timer that is not governed: one imported from `node:timers`
   */
  static run<T>(plan: (time: VirtualTime) => () => T): T {
    const time = new VirtualTime();
    return time.run(() => {
      const restore = time.#replaceClocks();
      const timers = watchRealTimers();
      try {
        const result = plan(time);
        time.flush();
        refuseRealTimers(timers.places);
        return result();
      } finally {
        time.#planned.clear();
        timers.end();
        restore();
      }
    });
  }

  override schedule<T>(
    work: (this: SchedulerAction<T>, state?: T) => void,
    delay = 0,
    state?: T,
  ): Subscription {
    return new PlannedAction(work, (action, at, next) => this.#plan(action, at, next)).schedule(state, delay);
  }

  override flush(): void {
    for (let next = this.#planned.pop(); next !== undefined; next = this.#planned.pop()) {
      const { action, version, at, state } = next;
      if (action.closed || action.version !== version) continue;
      if (at > this.frame) this.onPassed?.(this.frame);
      this.frame = at;
      action.work(state);
    }
    this.onPassed?.(this.frame);
  }

  #plan(action: PlannedAction<never>, delay: number, state: unknown): void {
    const at = this.frame + Math.max(0, delay);
    this.#planned.push({ at, order: this.#order++, action, version: ++action.version, state });
  }

  /** Returns what puts the real ones back. */
  #replaceClocks(): () => void {
    const schedule = Object.getOwnPropertyDescriptor(asyncScheduler, 'schedule');
    asyncScheduler.schedule = this.schedule.bind(this) as typeof asyncScheduler.schedule;
    const restoreGlobals = replaceAll(globalThis, { Date: this.#date(), ...this.#timers() });
    const restorePerformance = replaceAll(performance, { now: () => this.frame });
    return () => {
      restorePerformance();
      restoreGlobals();
      if (schedule === undefined) Reflect.deleteProperty(asyncScheduler, 'schedule');
      else Object.defineProperty(asyncScheduler, 'schedule', schedule);
    };
  }

  #date(): DateConstructor {
    const now = () => Math.floor(this.frame);
    return new Proxy(Date, {
      // Called as a function, `Date` gives the present time as a string.
      apply: (target) => new target(now()).toString(),
      construct: (target, args, newTarget) =>
        Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
      get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
    });
  }

  /** Node's global timers. */
  #timers(): Record<string, unknown> {
    const timers = new Map<number, VirtualTimer>();
    const start = (call: () => void, delay: number, isRepeated: boolean) => {
      const timer = new VirtualTimer(this, call, delay, isRepeated);
      timers.set(timer.id, timer);
      return timer;
    };
    const clear = (timer: unknown) => {
      if (timer instanceof VirtualTimer) timer.close();
      else timers.get(Number(timer))?.close();
    };
    type Callback = (...args: unknown[]) => void;
    const timeout =
      (isRepeated: boolean) =>
      (callback: Callback, delay?: number, ...args: unknown[]) =>
        // As Node does: no time, or one that is too long, is a millisecond.
        start(
          () => callback(...args),
          delay !== undefined && delay >= 1 && delay < 2 ** 31 ? Math.trunc(delay) : 1,
          isRepeated,
        );
    return {
      setTimeout: timeout(false),
      setInterval: timeout(true),
      setImmediate: (callback: Callback, ...args: unknown[]) => start(() => callback(...args), 0, false),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    };
  }
}

/** Notes where Node's own timers are set, however they were imported. */
function watchRealTimers(): { readonly places: ReadonlySet<string>; end(): void } {
  const places = new Set<string>();
  const hook = createHook({
    init(_id, type) {
      if (type !== 'Timeout' && type !== 'Immediate') return;
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 30;
      const [, , ...frames] = (new Error('where').stack ?? '').split('\n');
      Error.stackTraceLimit = stackTraceLimit;
      const isTimer = frames.some((frame) => / set\w+ \(node:timers/.test(frame));
      const caller = frames.find((frame) => !/\bnode:|<anonymous>/.test(frame));
      if (isTimer && caller !== undefined) places.add(caller.trim().replace(/^at (?:async )?/, ''));
    },
  });
  hook.enable();
  return { places, end: () => hook.disable() };
}

function refuseRealTimers(places: ReadonlySet<string>): void {
  const [first] = places;
  if (first === undefined) return;
  const more = places.size === 1 ? '' : ` and in ${places.size - 1} more places`;
  throw new MillraceError(
    'MILLRACE_TEST_CLOCK',
    `a timer of node:timers was set by ${first}${more}, which virtual time does not govern; use the global setTimeout, or better timer() of RxJS`,
  );
}

/** What an RxJS scheduler gives to the work that it calls: it can schedule itself again. */
class PlannedAction<T> extends Subscription implements SchedulerAction<T> {
  readonly work: (state?: unknown) => void;
  /** Only the latest plan of an action counts. */
  version = 0;
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

/** What `setTimeout` returns in Node. */
class VirtualTimer {
  static #last = 0;
  readonly id = ++VirtualTimer.#last;
  readonly #start: () => void;
  #running = Subscription.EMPTY;

  constructor(time: VirtualTime, call: () => void, delay: number, isRepeated: boolean) {
    this.#start = () => {
      this.#running.unsubscribe();
      this.#running = time.schedule(function () {
        if (isRepeated) this.schedule(undefined, delay);
        call();
      }, delay);
    };
    this.#start();
  }

  refresh(): this {
    this.#start();
    return this;
  }

  close(): this {
    this.#running.unsubscribe();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return !this.#running.closed;
  }

  [Symbol.toPrimitive](): number {
    return this.id;
  }
}

function replaceAll(owner: object, values: Readonly<Record<string, unknown>>): () => void {
  const before = Object.keys(values).map(
    (key) => [key, Object.getOwnPropertyDescriptor(owner, key)] as const,
  );
  for (const [key, value] of Object.entries(values)) {
    Object.defineProperty(owner, key, { value, configurable: true, writable: true });
  }
  return () => {
    for (const [key, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(owner, key);
      else Object.defineProperty(owner, key, descriptor);
    }
  };
}

/** An action at a time; of those at the same time, the one that was planned first comes first. */
interface Planned {
  readonly at: number;
  readonly order: number;
  readonly action: PlannedAction<never>;
  readonly version: number;
  readonly state: unknown;
}

const isBefore = (a: Planned, b: Planned) => a.at < b.at || (a.at === b.at && a.order < b.order);

/** A binary heap: the first of n is found, and another one added, in log n steps. */
class Heap {
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

  clear(): void {
    this.#items = [];
  }
}
