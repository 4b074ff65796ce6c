import { asyncScheduler, type SchedulerLike, Subscription } from 'rxjs';
import type { Called } from './real-timers.ts';

/** What the clocks show: virtual time. */
interface Clock extends SchedulerLike {
  /** Milliseconds from the start. */
  readonly frame: number;
}

/**
 * Puts virtual time in the place of the clocks of RxJS, of Node and of the language. Returns what puts the real ones back.
 *
 * @param onWait told of each call of a timer of Node
 */
export function replaceClocks(time: Clock, onWait: (api: string, called: Called) => void): () => void {
  const restores = [
    replaceAll(asyncScheduler, { now: () => time.frame, schedule: time.schedule.bind(time) }),
    replaceAll(globalThis, { Date: virtualDate(time), ...virtualTimers(time, onWait) }),
    replaceAll(performance, { now: () => time.frame }),
  ];
  return () => {
    for (const restore of restores) restore();
  };
}

/** `Date`, of which each instance without arguments is of the virtual time. A Proxy would take five times as long. */
function virtualDate(time: Clock): DateConstructor {
  const Real = Date;
  const now = () => Math.floor(time.frame);
  function VirtualDate(...args: number[]): Date | string {
    // Called as a function, `Date` gives the present time as a string.
    if (new.target === undefined) return new Real(now()).toString();
    if (new.target !== (VirtualDate as unknown)) {
      return Reflect.construct(Real, args.length === 0 ? [now()] : args, new.target) as Date;
    }
    return args.length === 0 ? new Real(now()) : new Real(...(args as [number]));
  }
  const statics = {
    ...Object.getOwnPropertyDescriptors(Real),
    now: { value: now, configurable: true, writable: true },
  };
  return Object.defineProperties(VirtualDate, statics) as unknown as DateConstructor;
}

/** Node's global timers. */
function virtualTimers(time: Clock, onWait: (api: string, called: Called) => void): Record<string, unknown> {
  const timers = new Map<number, VirtualTimer>();
  const start = (call: () => void, delay: number, isRepeated: boolean) => {
    const timer = new VirtualTimer(time, call, delay, isRepeated);
    timers.set(timer.id, timer);
    return timer;
  };
  const clear = (timer: unknown) => {
    if (timer instanceof VirtualTimer) timer.close();
    else timers.get(Number(timer))?.close();
  };
  type Callback = (...args: unknown[]) => void;
  const timeout = (api: string, isRepeated: boolean) => {
    const set = (callback: Callback, delay?: number, ...args: unknown[]) => {
      onWait(api, set);
      // Node treats a missing delay, or one that is too long, as a millisecond.
      const ms = delay !== undefined && delay >= 1 && delay < 2 ** 31 ? Math.trunc(delay) : 1;
      return start(() => callback(...args), ms, isRepeated);
    };
    return set;
  };
  const setImmediate = (callback: Callback, ...args: unknown[]) => {
    onWait('setImmediate', setImmediate);
    return start(() => callback(...args), 0, false);
  };
  return {
    setTimeout: timeout('setTimeout', false),
    setInterval: timeout('setInterval', true),
    setImmediate,
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  };
}

/** What `setTimeout` returns in Node. */
class VirtualTimer {
  static #last = 0;
  readonly id = ++VirtualTimer.#last;
  readonly #start: () => void;
  #running = Subscription.EMPTY;

  constructor(time: Clock, call: () => void, delay: number, isRepeated: boolean) {
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

/** Replaces properties. Returns what puts them back. */
export function replaceAll(owner: object, values: Readonly<Record<string, unknown>>): () => void {
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
