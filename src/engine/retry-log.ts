import { counted } from '../../operators/support/counted.ts';
import { steadyClock } from '../../operators/support/steady-clock.ts';
import type { Logger } from '../sdk/context.ts';
import { isNoteworthy, retryAfterOf, safeReason } from '../sdk/errors.ts';
import { isoNow } from '../sdk/time.ts';
import { elapsedText } from './attempts.ts';
import type { Trouble } from './stats.ts';

/** Milliseconds of continuous failure at which the log says so once more; from then on each time the last has passed. */
const REMINDERS = [10_000, 30_000, 60_000, 300_000, 600_000] as const;
const LAST_REMINDER = REMINDERS[REMINDERS.length - 1] as number;

/** What the log knows of a time in which every attempt has failed. */
interface LoggedTrouble {
  readonly since: string;
  readonly elapsed: () => number;
  readonly reasons: Set<string>;
  failures: number;
  reminders: number;
  isLogged: boolean;
}

/**
 * Logs that a forwarder fails: at the first failure, for each new reason, and at growing intervals while it goes on,
 * with count, duration and cause; then that it works again. One that fails every now and then, and only for a moment,
 * is logged ever more rarely.
 */
export class RetryLog {
  readonly #name: string;
  readonly #logger: Logger;
  readonly #onChange: (trouble: Trouble | undefined) => void;
  #trouble: LoggedTrouble | undefined;
  #troubles = 0;
  /** Calls that are being tried again. */
  #failing = 0;

  /**
   * `name` is that of the pipeline and the forwarder, as in `main: forwarder archive`. `onChange` is told of each
   * failure, and gets undefined when the forwarder works again.
   */
  constructor(name: string, logger: Logger, onChange: (trouble: Trouble | undefined) => void = () => {}) {
    this.#name = name;
    this.#logger = logger;
    this.#onChange = onChange;
  }

  /** A call is to be tried again, or is not any more: while there is such a call, the trouble is not over. */
  failing(isFailing: boolean): void {
    this.#failing += isFailing ? 1 : -1;
  }

  /** `wait` is in milliseconds. `attempts` is how many there may be; undefined: any number. */
  failed(attempt: number, wait: number, error: unknown, attempts?: number): void {
    const trouble = this.#trouble ?? this.#begin();
    const text = safeReason(error);
    // A full disk fails now on writing and now on opening.
    const code = (error as { code?: unknown } | null | undefined)?.code;
    const reason = typeof code === 'string' && code.startsWith('E') ? code : text;
    const isNew = !trouble.reasons.has(reason);
    trouble.reasons.add(reason);
    trouble.failures++;
    this.#onChange({ since: trouble.since, failures: trouble.failures, reason: text });
    const ms = trouble.elapsed();
    const isDue = ms >= reminderAt(trouble.reminders);
    while (ms >= reminderAt(trouble.reminders)) trouble.reminders++;
    const asked = retryAfterOf(error) === undefined ? '' : ' as asked';
    const next = `trying again in ${wait === 0 ? 'smaller batches' : `${waitText(wait)}${asked}`}`;
    if (isNew && isNoteworthy(this.#troubles) && isNoteworthy(trouble.reasons.size)) {
      const which = attempts === undefined ? `attempt ${attempt}` : `attempt ${attempt} of ${attempts}`;
      this.#warn(trouble, `${which} failed, ${next}: ${text}`);
    } else if (isDue) {
      const often = `${counted(trouble.failures, 'failed attempt')} over ${elapsedText(ms)}`;
      this.#warn(trouble, `still failing after ${often}, ${next}: ${text}`);
    }
  }

  delivered(): void {
    const trouble = this.#trouble;
    if (trouble === undefined || this.#failing > 0) return;
    this.#trouble = undefined;
    this.#onChange(undefined);
    if (!trouble.isLogged) return;
    const often = `${counted(trouble.failures, 'failed attempt')} over ${elapsedText(trouble.elapsed())}`;
    this.#logger.info(`${this.#name}: works again after ${often}`);
  }

  #begin(): LoggedTrouble {
    this.#troubles++;
    const trouble = { since: isoNow(), elapsed: steadyClock(), reasons: new Set<string>() };
    this.#trouble = { ...trouble, failures: 0, reminders: 0, isLogged: false };
    return this.#trouble;
  }

  #warn(trouble: LoggedTrouble, message: string): void {
    trouble.isLogged = true;
    this.#logger.warn(`${this.#name}: ${message}`);
  }
}

/** Milliseconds after which the next reminder is due. */
export function reminderAt(reminders: number): number {
  return REMINDERS[reminders] ?? (reminders - REMINDERS.length + 2) * LAST_REMINDER;
}

function waitText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
