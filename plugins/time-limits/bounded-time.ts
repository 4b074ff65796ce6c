import vm from 'node:vm';
import { MaskError } from '../../operators/index.ts';
import { noteLongWork } from '../../operators/internal.ts';
import { threadMs } from './thread-time.ts';

/** For all texts, and on top of it for each character: a second for a million. */
const BASE_MS = 1000;
const MS_PER_CHARACTER = 0.001;

/** Work that had less than this share of a processor was held up by others, or the process was paused. */
const BUSY = 0.8;
/** Times as long as usual that held-up work may take. */
const LONGEST = 10;
const MOST_TRIES = 3;

interface BoundedTimeOptions {
  /** The share of the time that is allowed. */
  readonly share?: number;
  /** What of that was used before, in milliseconds. */
  readonly used?: number;
  readonly rule?: (() => string) | undefined;
}

interface Watched {
  readonly script: vm.Script;
  readonly context: vm.Context & { work: () => void };
}
let watched: Watched | undefined;
let isRunningWatched = false;

/** Whether what runs now is watched already: see {@link inBoundedTime}. */
export function isWatched(): boolean {
  return isRunningWatched;
}

/**
 * Runs work that may take too long, and stops it: V8 ends an expression that is being matched only for a time-out
 * of a script. Watching costs 70 µs. Work that had no processor in its time, because the machine is busy or the
 * process was paused, is started again, with as much time as it takes at that rate.
 *
 * @param work may be called several times.
 * @param length of the text, in characters. What is allowed is 1 s, and 1 s for each million of them.
 * @param options.share of that time which is allowed
 * @param options.used before, of that
 * @param options.rule the one that runs when the time is over, for the message
 * @throws MaskError if it took longer.
 *
 * @example
 * inBoundedTime(() => 'a'.replace(/a/g, 'b'), 1); // 'b'
 */
export function inBoundedTime<T>(
  work: () => T,
  length: number,
  { share = 1, used = 0, rule = () => '' }: BoundedTimeOptions = {},
): T {
  const allowed = Math.ceil((BASE_MS + length * MS_PER_CHARACTER) * share);
  const left = Math.max(1, Math.ceil(allowed - used));
  let timeout = left;
  for (let tries = 1; ; tries++) {
    const before = threadMs();
    const result = resultWithin(timeout, work);
    if (result !== undefined) return result.value;
    const usedNow = threadMs() - before;
    if (usedNow >= left * BUSY || tries === MOST_TRIES) break;
    timeout = Math.ceil(Math.min((timeout * left) / usedNow, left * LONGEST));
  }
  const name = rule();
  const which = name === '' ? '' : ` by the rule ${JSON.stringify(name)}`;
  throw new TimeOut(`a text could not be masked within ${allowed / 1000} s${which}`);
}

/** Undefined if it took longer. */
function resultWithin<T>(timeout: number, work: () => T): { readonly value: T } | undefined {
  watched ??= {
    script: new vm.Script('work()'),
    context: vm.createContext({ work: () => {} }) as Watched['context'],
  };
  const { script, context } = watched;
  let result: { readonly value: T } | undefined;
  const outer = context.work;
  context.work = () => {
    result = { value: work() };
  };
  const wasWatched = isRunningWatched;
  isRunningWatched = true;
  try {
    script.runInContext(context, { timeout });
    return result;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return undefined;
  } finally {
    // By value: when the time of an outer watch is over, V8 skips what an inner one has here.
    isRunningWatched = wasWatched;
    context.work = outer;
  }
}

/** The work took longer than was allowed. */
export class TimeOut extends MaskError {}

/** After so many milliseconds, all work is watched, and the event loop has a turn when it is done. */
const LONG_MS = 50;

/** What has been done since a limit is shared. */
interface Shared {
  /** Characters of the texts that were watched. */
  length: number;
  /** Milliseconds of the thread in which they were. */
  used: number;
  /** When {@link TimeLimit.isLate} was first asked: before the first work that takes more than a moment and is not watched. */
  since: number | undefined;
}

/**
 * {@link inBoundedTime} for one mask. What is masked together, such as the strings of an event, shares one limit. The
 * mask loses patience: texts that take too long, one after the other, are given less and less time.
 *
 * @example
 * const limit = new TimeLimit();
 * limit.bound(() => 'a'.replace(/a/g, 'b'), 1); // 'b'
 */
export class TimeLimit {
  readonly #within: typeof inBoundedTime;
  readonly #patience = new Patience();
  #shared: Shared | undefined;

  constructor(within = inBoundedTime) {
    this.#within = within;
  }

  /** Runs work on a text of a length within the limit. */
  readonly bound = <T>(work: () => T, length: number, rule?: () => string): T => {
    const { share } = this.#patience;
    const shared = this.#shared;
    const before = shared === undefined ? 0 : threadMs();
    if (shared !== undefined) shared.length += length;
    try {
      const result = this.#within(work, shared?.length ?? length, { share, used: shared?.used ?? 0, rule });
      this.#patience.restore();
      return result;
    } catch (error) {
      if (error instanceof TimeOut) this.#patience.lose();
      throw error;
    } finally {
      if (shared !== undefined) shared.used += threadMs() - before;
    }
  };

  /**
   * Whether what shares a limit has taken so long that all that is still to be done of it has to be watched. Undefined while
   * nothing shares one.
   */
  readonly isLate = (): boolean | undefined => {
    const shared = this.#shared;
    if (shared === undefined) return undefined;
    shared.since ??= performance.now();
    return isLong(shared);
  };

  /** Lets all work that is bounded while `work` runs share one limit. */
  readonly share = <T>(work: () => T): T => {
    if (this.#shared !== undefined) return work();
    const shared: Shared = { length: 0, used: 0, since: undefined };
    this.#shared = shared;
    try {
      return work();
    } finally {
      this.#shared = undefined;
      if (isLong(shared)) noteLongWork();
    }
  };
}

function isLong({ used, since }: Shared): boolean {
  return used > LONG_MS || (since !== undefined && performance.now() - since > LONG_MS);
}

/** Time-outs in a row that cost the whole time. */
const FORGIVEN = 3;
const LEAST_SHARE = 1 / 16;
/** One text in so many has the whole time: it may be one that needs it and is right. */
const TRIAL = 16;

/** What share of its time a mask is allowed after time-outs in a row: half as much with each, down to a sixteenth. */
export class Patience {
  #timeOuts = 0;

  get share(): number {
    const isTrial = this.#timeOuts % TRIAL === 0;
    return isTrial ? 1 : Math.max(LEAST_SHARE, 2 ** Math.min(0, FORGIVEN - 1 - this.#timeOuts));
  }

  /** A text took too long. */
  lose(): void {
    this.#timeOuts++;
  }

  /** A text was masked in time. */
  restore(): void {
    this.#timeOuts = 0;
  }
}
