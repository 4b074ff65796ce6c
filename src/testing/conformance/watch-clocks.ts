import { createHook } from 'node:async_hooks';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { framesBehind } from '../real-timers.ts';
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
  const note = (api: string, frames: readonly string[]) => {
    const { place, isRxjs } = callerIn(frames);
    if (place === undefined || RUNNER_FRAME.test(place)) return;
    uses.set(`${api} ${place}`, { api: isRxjs ? `${api} by RxJS after an await` : api, place });
  };
  const init = (_id: number, type: string) => {
    if (type !== 'Timeout' && type !== 'Immediate') return;
    const frames = framesBehind(init);
    const [, name, promises] = TIMER_FRAME.exec(frames.join('\n')) ?? [];
    if (name !== undefined && !frames.some(isOwnPause))
      note(`${name}()${promises === undefined ? '' : ' of node:timers/promises'}`, frames);
  };
  const hook = createHook({ init });
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
function replaceClocks(note: (api: string, frames: readonly string[]) => void): () => void {
  const { Date: RealDate, performance } = globalThis;
  const now = (owner: object, name: string) => {
    const read = Reflect.get(owner, 'now') as () => number;
    const watched = () => {
      const frames = framesBehind(watched);
      // Every event that RxJS stamps asks for the time.
      if (!callerIn(frames).isRxjs) note(`${name}.now()`, frames);
      return read.call(owner);
    };
    return watched;
  };
  const dateNow = now(RealDate, 'Date');
  const watchedDate = new Proxy(RealDate, {
    construct: function construct(target, args, newTarget) {
      if (args.length === 0) note(`new ${RealDate.name}()`, framesBehind(construct));
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

/** The first frame that is neither Node's nor this kit's nor RxJS's, and whether RxJS is between. */
function callerIn(stack: readonly string[]): {
  readonly place: string | undefined;
  readonly isRxjs: boolean;
} {
  const frames = stack.filter((line) => !isBetween(line));
  const index = frames.findIndex((line) => !RXJS_FRAME.test(line));
  return { place: frames[index]?.trim().replace(/^at (?:async )?/, ''), isRxjs: index !== 0 };
}
