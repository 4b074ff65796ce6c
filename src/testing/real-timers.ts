import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { counted } from '../../operators/internal.ts';
import { MillraceError } from '../sdk/errors.ts';

/** Tells which timers of Node a test sets. */
export interface RealTimers {
  readonly places: ReadonlySet<string>;
  /** Watches `work`, and all that comes of it: other code of this process may set timers meanwhile. */
  watch<T>(work: () => T): T;
  /** Sets a timer that is none of the test. */
  unwatched(set: () => void): void;
  end(): void;
}

/** What Node's async hooks call things that run before the next turn of the event loop. */
const TICKS: Readonly<Record<string, string>> = {
  TickObject: 'nextTick',
  Microtask: 'queueMicrotask',
};

/**
 * Notes where Node's own timers are set, however they were imported.
 *
 * @param onTick told of what is to run before the next turn of the event loop
 */
export function watchRealTimers(onTick: (api: string, called: Called) => void = () => {}): RealTimers {
  const places = new Set<string>();
  const watched = new AsyncLocalStorage<boolean>();
  const init = (_id: number, type: string) => {
    const isTimeout = type === 'Timeout' || type === 'Immediate';
    if ((!isTimeout && TICKS[type] === undefined) || watched.getStore() !== true) return;
    if (!isTimeout) {
      onTick(TICKS[type] as string, init);
      return;
    }
    const frames = framesBehind(init);
    const isTimer = frames.some((frame) => / set\w+ \(node:timers/.test(frame));
    const caller = placeIn(frames);
    if (isTimer && caller !== undefined) places.add(caller);
  };
  const hook = createHook({ init });
  hook.enable();
  return {
    places,
    watch: (work) => watched.run(true, work),
    unwatched: (set) => watched.run(false, set),
    end() {
      hook.disable();
      // Node hands the value of each storage on to every promise, and forgets none of them otherwise.
      watched.disable();
    },
  };
}

export type Called = (...args: never[]) => unknown;

/**
 * The place of the code that called a function: the first frame of the stack that is not Node's. Undefined if there is none.
 *
 * @param outermost the function
 */
export function callerOf(outermost: Called): string | undefined {
  return placeIn(framesBehind(outermost));
}

/** The frames of the stack from the caller of a function on. */
export function framesBehind(outermost: Called): string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const where: { stack?: string } = {};
  // Not every browser has it.
  Error.captureStackTrace?.(where, outermost);
  Error.stackTraceLimit = stackTraceLimit;
  return (where.stack ?? '').split('\n').slice(1);
}

function placeIn(frames: readonly string[]): string | undefined {
  const caller = frames.find((frame) => !/\bnode:|<anonymous>/.test(frame));
  return caller?.trim().replace(/^at (?:async )?/, '');
}

export function refuseRealTimers(places: ReadonlySet<string>): void {
  const [first] = places;
  if (first === undefined) return;
  const more = places.size === 1 ? '' : ` and in ${counted(places.size - 1, 'more place')}`;
  throw new MillraceError(
    'MILLRACE_TEST_CLOCK',
    `a timer of node:timers was set by ${first}${more}, which virtual time does not govern; use the global setTimeout, or better timer() of RxJS`,
  );
}
