import type { SchedulerAction, Subscription } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { MillraceError } from '../sdk/errors.ts';
import { type Planned, PlannedAction, PlannedActions } from './planned-actions.ts';
import { type Called, callerOf, type RealTimers, refuseRealTimers, watchRealTimers } from './real-timers.ts';
import { replaceClocks } from './virtual-clocks.ts';

/** How many actions run between two looks at the real time. */
const ACTIONS_PER_LOOK = 256;

/** Calls of which the place is noted: each costs a stack trace. */
const MOST_NOTED_WAITS = 20;

/** Real time in milliseconds, also while virtual time governs. */
export const realNow = performance.now.bind(performance);
/** The next turn of Node's event loop: by then, all promises that wait for no other turn are settled. */
const { setImmediate: nextTurn } = globalThis;

/** Calls that are done one by one, in the order in which they were asked for, such as those to virtual files. */
export interface PendingCalls {
  /** Does the oldest one; false if there is none. */
  runNext(): boolean;
  /** The run is over: no call is done any more. */
  end(): void;
}

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
  /** When to give up, in real time of {@link realNow}. */
  #giveUpAt = Number.POSITIVE_INFINITY;
  readonly #planned = new PlannedActions();
  #order = 0;
  /** Actions that are planned now are those of a process that was killed. */
  #isForgetting = false;
  readonly #waits = new Set<string>();
  #noted = 0;

  constructor() {
    super(() => {});
  }

  /**
   * The first calls that wait for something other than a timer of RxJS, with their places: `setImmediate() at
   * parse.mjs:12`. What waits for a promise or for `process.nextTick` goes on only when `run` has returned.
   */
  get waits(): readonly string[] {
    return [...this.#waits];
  }

  /** @param outermost the function that was called, in place of one of Node */
  #noteWait(api: string, outermost: Called): void {
    if (++this.#noted > MOST_NOTED_WAITS) return;
    const caller = callerOf(outermost);
    if (caller !== undefined) this.#waits.add(`${api}() at ${caller}`);
  }

  /**
   * Calls `plan`, then lets time pass until nothing is planned. Virtual time governs until it returns.
   *
   * @param longest milliseconds of real time after which it gives up. Default: never.
   * @throws MillraceError `MILLRACE_TEST_CLOCK` if code set a timer that is not governed: one imported from `node:timers`;
   * `MILLRACE_TEST_ENDLESS` if it gave up
   */
  static run<T>(plan: (time: VirtualTime) => () => T, longest = Number.POSITIVE_INFINITY): T {
    const time = new VirtualTime();
    time.#giveUpAt = realNow() + longest;
    return time.run(() => {
      const noteWait = (api: string, called: Called) => time.#noteWait(api, called);
      const restore = replaceClocks(time, noteWait);
      const timers = watchRealTimers(noteWait);
      try {
        return timers.watch(() => {
          const result = plan(time);
          time.flush();
          refuseRealTimers(timers.places);
          return result();
        });
      } finally {
        time.#planned.clear();
        timers.end();
        restore();
      }
    });
  }

  /**
   * {@link run} for code that works with promises and with calls that are answered later: whenever an action has run,
   * virtual time stands still until all promises are settled and all calls are done. One run at a time; the promise of a
   * later one waits.
   */
  static runCalls<T>(
    calls: PendingCalls,
    plan: (time: VirtualTime) => () => T,
    longest = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    const result = VirtualTime.#lastRun.then(() => VirtualTime.#runCalls(calls, plan, longest));
    VirtualTime.#lastRun = result.catch(() => {});
    return result;
  }

  /** @throws MillraceError `MILLRACE_TEST_NODE` in a browser, which cannot wait for calls to the file system */
  static requireNode(): void {
    if (nextTurn !== undefined) return;
    throw new MillraceError('MILLRACE_TEST_NODE', 'a test with `files` needs Node.js');
  }

  static #lastRun: Promise<unknown> = Promise.resolve();

  static async #runCalls<T>(
    calls: PendingCalls,
    plan: (time: VirtualTime) => () => T,
    longest: number,
  ): Promise<T> {
    const time = new VirtualTime();
    time.#giveUpAt = realNow() + longest;
    const restore = replaceClocks(time, (api, called) => time.#noteWait(api, called));
    const timers = watchRealTimers();
    try {
      return await timers.watch(async () => {
        const result = plan(time);
        await time.#flushCalls(calls, timers);
        refuseRealTimers(timers.places);
        return result();
      });
    } finally {
      time.#planned.clear();
      calls.end();
      // What is left of the run must not act when the real clocks and files are back.
      time.#isForgetting = true;
      await new Promise((resolve) => timers.unwatched(() => nextTurn(resolve)));
      timers.end();
      restore();
    }
  }

  /**
   * Forgets all that is planned, and what is planned until all promises are settled: what a process that was killed
   * would have done. Actions that were planned with {@link planAnyway} stay.
   */
  forget(): void {
    this.#isForgetting = true;
    this.#planned.keep(({ action }) => action.isLasting);
  }

  /** Plans something that is no part of the process under test. */
  planAnyway(at: number, work: () => void): void {
    const action = new PlannedAction<never>(work, (planned, delay, state) =>
      this.#planned.push(this.#entry(planned, delay, state)),
    );
    action.isLasting = true;
    action.schedule(undefined, at - this.frame);
  }

  override schedule<T>(
    work: (this: SchedulerAction<T>, state?: T) => void,
    delay = 0,
    state?: T,
  ): Subscription {
    return new PlannedAction(work, (action, at, next) => this.#plan(action, at, next)).schedule(state, delay);
  }

  override flush(): void {
    let count = 0;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (++count % ACTIONS_PER_LOOK === 0 && realNow() > this.#giveUpAt) throw endless();
      next.action.work(next.state);
    }
  }

  async #flushCalls(calls: PendingCalls, timers: RealTimers): Promise<void> {
    await this.#settle(calls, timers);
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      next.action.work(next.state);
      await this.#settle(calls, timers);
    }
  }

  /** What is due next, after virtual time has moved there. Undefined if nothing is planned any more. */
  #next(): Planned | undefined {
    let next = this.#planned.pop();
    while (next !== undefined && (next.action.closed || next.action.version !== next.version))
      next = this.#planned.pop();
    if (next === undefined || next.at > this.frame) this.onPassed?.(this.frame);
    if (next !== undefined) this.frame = next.at;
    return next;
  }

  /** Lets promises settle and calls be done until nothing happens any more. */
  async #settle(calls: PendingCalls, timers: RealTimers): Promise<void> {
    do {
      if (realNow() > this.#giveUpAt) throw endless();
      await new Promise((resolve) => timers.unwatched(() => nextTurn(resolve)));
      this.#isForgetting = false;
    } while (calls.runNext());
  }

  #plan(action: PlannedAction<never>, delay: number, state: unknown): void {
    if (!this.#isForgetting) this.#planned.push(this.#entry(action, delay, state));
  }

  #entry(action: PlannedAction<never>, delay: number, state: unknown): Planned {
    let at = this.frame + Math.max(0, delay);
    // Every wait moves the clock, as one of Node's timers does. Code that waits for a remainder would not end otherwise.
    if (delay > 0 && at === this.frame) at *= 1 + Number.EPSILON;
    return { at, order: this.#order++, action, version: ++action.version, state };
  }
}

function endless(): MillraceError {
  return new MillraceError(
    'MILLRACE_TEST_ENDLESS',
    'the run took longer than it may in real time; give a pipeline without an end an `until`, and a long run a longer --timeout',
  );
}
