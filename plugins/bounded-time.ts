import vm from 'node:vm';
import { MaskError } from '../operators/index.ts';
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
  readonly share?: number;
  readonly rule?: (() => string) | undefined;
}

interface Watched {
  readonly script: vm.Script;
  readonly context: vm.Context & { work: () => void };
}
let watched: Watched | undefined;

/**
 * Runs work that may take too long, and stops it: V8 ends an expression that is being matched only for a time-out
 * of a script. Watching costs about 0.2 ms. Work that had no processor in its time, because the machine is busy or the
 * process was paused, is started again, with as much time as it takes at that rate.
 *
 * @param work may be called several times.
 * @param length of the text, in characters. What is allowed is 1 s, and 1 s for each million of them.
 * @param options.share of that time which is allowed
 * @param options.rule the one that runs when the time is over, for the message
 * @throws MaskError if it took longer.
 *
 * @example
 * inBoundedTime(() => 'a'.replace(/a/g, 'b'), 1); // 'b'
 */
export function inBoundedTime<T>(
  work: () => T,
  length: number,
  { share = 1, rule = () => '' }: BoundedTimeOptions = {},
): T {
  const allowed = Math.ceil((BASE_MS + length * MS_PER_CHARACTER) * share);
  let timeout = allowed;
  for (let tries = 1; ; tries++) {
    const before = threadMs();
    const result = resultWithin(timeout, work);
    if (result !== undefined) return result.value;
    const used = threadMs() - before;
    if (used >= allowed * BUSY || tries === MOST_TRIES) break;
    timeout = Math.ceil(Math.min((timeout * allowed) / used, allowed * LONGEST));
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
  try {
    script.runInContext(context, { timeout });
    return result;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return undefined;
  } finally {
    context.work = outer;
  }
}

/** The work took longer than was allowed. */
class TimeOut extends MaskError {}

/**
 * {@link inBoundedTime} for one mask, which loses patience with it: texts that take too long, one after the other, are
 * given less and less time.
 *
 * @example
 * const bound = boundedTime();
 * bound(() => 'a'.replace(/a/g, 'b'), 1); // 'b'
 */
export function boundedTime(
  within = inBoundedTime,
): <T>(work: () => T, length: number, rule?: () => string) => T {
  const patience = new Patience();
  return (work, length, rule) => {
    try {
      const result = within(work, length, { share: patience.share, rule });
      patience.restore();
      return result;
    } catch (error) {
      if (error instanceof TimeOut) patience.lose();
      throw error;
    }
  };
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
