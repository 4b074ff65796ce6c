import { createHook } from 'node:async_hooks';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { replaceAll } from '../virtual-clocks.ts';

/** A use of real time. */
export interface ClockUse {
  /** What was called, such as `setTimeout()`. */
  readonly api: string;
  /** The line that called it. */
  readonly place: string;
}

/** Frames of Node and of this kit are between the call and its caller. */
const OUTER_FRAME = /\bnode:|[\\/]testing[\\/]conformance[\\/]|<anonymous>\)?$|^\s*at new Promise /;
/** When it is built, all of the kit is in one file. */
const OWN_URL = import.meta.url ?? pathToFileURL(__filename).href;
const OWN_FILES = [OWN_URL, fileURLToPath(OWN_URL)].map((file) => `${file}:`);
const RXJS_FRAME = /[\\/]node_modules[\\/]rxjs[\\/]/;
/** The kit itself waits in real time for what promises do. */
const PAUSE_FRAME = /^\s*at pause \(/;
/** The test runner's own timers, which may be set at any moment. */
const RUNNER_FRAME = /[\\/]node_modules[\\/](?:jest|@jest|vitest|@vitest)/;
const TIMER_FRAME = /at (set\w+) \(node:timers(\/promises)?:/;

/**
 * Runs a function and tells which clocks and timers it used, also after it waited for promises. Timers are seen by
 * Node's async hooks, however they were imported; clocks by putting others in their place for as long.
 */
export async function watchClocks(run: () => Promise<unknown>): Promise<ClockUse[]> {
  const uses = new Map<string, ClockUse>();
  const note = (api: string, stack: string) => {
    const { place, isRxjs } = callerIn(stack);
    if (place === undefined || RUNNER_FRAME.test(place)) return;
    uses.set(`${api} ${place}`, { api: isRxjs ? `${api} by RxJS after an await` : api, place });
  };
  const hook = createHook({
    init(_id, type) {
      if (type !== 'Timeout' && type !== 'Immediate') return;
      const stack = deepStack();
      const [, name, promises] = TIMER_FRAME.exec(stack) ?? [];
      if (name !== undefined && !stack.split('\n').some(isOwnPause))
        note(`${name}()${promises === undefined ? '' : ' of node:timers/promises'}`, stack);
    },
  });
  const restore = replaceClocks(note);
  hook.enable();
  try {
    await run();
  } finally {
    hook.disable();
    restore();
  }
  return [...uses.values()];
}

/** `Date` and `performance` with an ear at what reads the time. Returns what puts the old ones back. */
function replaceClocks(note: (api: string, stack: string) => void): () => void {
  const { Date: RealDate, performance } = globalThis;
  const now = (owner: object, name: string) =>
    new Proxy(Reflect.get(owner, 'now') as () => number, {
      apply: (read, _self, args) => {
        const stack = deepStack();
        // Every event that RxJS stamps asks for the time.
        if (!callerIn(stack).isRxjs) note(`${name}.now()`, stack);
        return Reflect.apply(read, owner, args);
      },
    });
  const dateNow = now(RealDate, 'Date');
  const watchedDate = new Proxy(RealDate, {
    construct: (target, args, newTarget) => {
      if (args.length === 0) note(`new ${RealDate.name}()`, deepStack());
      return Reflect.construct(target, args, newTarget);
    },
    get: (target, key) => (key === 'now' ? dateNow : Reflect.get(target, key)),
  });
  const restoreDate = replaceAll(globalThis, { Date: watchedDate });
  const restorePerformance = replaceAll(performance, { now: now(performance, 'performance') });
  return () => {
    restoreDate();
    restorePerformance();
  };
}

const isBetween = (frame: string): boolean =>
  OUTER_FRAME.test(frame) || OWN_FILES.some((file) => frame.includes(file));

const isOwnPause = (frame: string): boolean => PAUSE_FRAME.test(frame) && isBetween(frame);

function deepStack(): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 30;
  const { stack = '' } = new Error('where');
  Error.stackTraceLimit = limit;
  return stack;
}

/** The first frame that is neither Node's nor this kit's nor RxJS's, and whether RxJS is between. */
function callerIn(stack: string): { readonly place: string | undefined; readonly isRxjs: boolean } {
  const frames = stack
    .split('\n')
    .slice(1)
    .filter((line) => !isBetween(line));
  const index = frames.findIndex((line) => !RXJS_FRAME.test(line));
  return { place: frames[index]?.trim().replace(/^at (?:async )?/, ''), isRxjs: index !== 0 };
}
