import { counted, isNoteworthy, isoNow, steadyClock } from '../../operators/internal.ts';
import type { Logger } from '../sdk/context.ts';
import { retryAfterOf, safeReason } from '../sdk/errors.ts';
import type { Outage } from './counters.ts';

/**
 * A time that has passed, in whole units.
 *
 * @example
 * elapsedText(12_345); // '12 s'
 * elapsedText(300_000); // '5 min'
 */
export function elapsedText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** Milliseconds of continuous failure at which the log says so once more; from then on each time the last has passed. */
const REMINDERS = [10_000, 30_000, 60_000, 300_000, 600_000] as const;
const LAST_REMINDER = REMINDERS[REMINDERS.length - 1] as number;

/** What the log knows of a time in which every attempt has failed. */
interface LoggedOutage {
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
  readonly #onChange: (outage: Outage | undefined) => void;
  #outage: LoggedOutage | undefined;
  #outages = 0;
  /** Calls that are being tried again. */
  #failing = 0;

  /**
   * `name` is that of the pipeline and the forwarder, as in `main: forwarder archive`. `onChange` is told of each
   * failure, and gets undefined when the forwarder works again.
   */
  constructor(name: string, logger: Logger, onChange: (outage: Outage | undefined) => void = () => {}) {
    this.#name = name;
    this.#logger = logger;
    this.#onChange = onChange;
  }

  /** A call is to be tried again, or is not any more: while there is such a call, the outage goes on. */
  failing(isFailing: boolean): void {
    this.#failing += isFailing ? 1 : -1;
  }

  /** `wait` is in milliseconds. `attempts` is how many there may be; undefined: any number. */
  failed(attempt: number, wait: number, error: unknown, attempts?: number): void {
    const outage = this.#outage ?? this.#begin();
    const text = safeReason(error);
    // A full disk fails now on writing and now on opening.
    const code = (error as { code?: unknown } | null | undefined)?.code;
    const reason = typeof code === 'string' && code.startsWith('E') ? code : text;
    const isNew = !outage.reasons.has(reason);
    outage.reasons.add(reason);
    outage.failures++;
    const nextAt = new Date(Date.parse(isoNow()) + wait).toISOString();
    this.#onChange({ since: outage.since, failures: outage.failures, reason: text, wait, nextAt });
    const ms = outage.elapsed();
    const isDue = ms >= reminderAt(outage.reminders);
    while (ms >= reminderAt(outage.reminders)) outage.reminders++;
    const asked = retryAfterOf(error) === undefined ? '' : ' as asked';
    const next = `trying again in ${wait === 0 ? 'smaller batches' : `${waitText(wait)}${asked}`}`;
    if (isNew && isNoteworthy(this.#outages) && isNoteworthy(outage.reasons.size)) {
      const which = attempts === undefined ? `attempt ${attempt}` : `attempt ${attempt} of ${attempts}`;
      this.#warn(outage, `${which} failed, ${next}: ${text}`);
    } else if (isDue) {
      const often = `${counted(outage.failures, 'failed attempt')} over ${elapsedText(ms)}`;
      this.#warn(outage, `still failing after ${often}, ${next}: ${text}`);
    }
  }

  delivered(): void {
    const outage = this.#outage;
    if (outage === undefined || this.#failing > 0) return;
    this.#outage = undefined;
    this.#onChange(undefined);
    if (!outage.isLogged) return;
    const often = `${counted(outage.failures, 'failed attempt')} over ${elapsedText(outage.elapsed())}`;
    this.#logger.info(`${this.#name}: works again after ${often}`);
  }

  #begin(): LoggedOutage {
    this.#outages++;
    const outage = { since: isoNow(), elapsed: steadyClock(), reasons: new Set<string>() };
    this.#outage = { ...outage, failures: 0, reminders: 0, isLogged: false };
    return this.#outage;
  }

  #warn(outage: LoggedOutage, message: string): void {
    outage.isLogged = true;
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
