import { type Subscription, timer } from 'rxjs';
import { counted, isNoteworthy, steadyClock } from '../../operators/internal.ts';
import { elapsedText, reminderAt } from './retry-log.ts';

/** Milliseconds without a failure after which a plugin that got events has recovered. */
const QUIET_MS = 60_000;
/** The first failures of a series, which are logged one by one. */
const LOGGED = 3;

/** Failures without {@link QUIET_MS} between them. */
interface Series {
  readonly elapsed: () => number;
  failures: number;
  /** When the last one was, and how many events there had been. */
  lastAt: number;
  lastReceived: number;
  reminders: number;
  isLogged: boolean;
}

interface FailureLogOptions {
  /** Writes a line of the log. */
  readonly warn: (message: string) => void;
  readonly info: (message: string) => void;
  /** For the line about the recovery: `failed` in `no event has failed for 60 s`. */
  readonly verb: string;
  /** How many events there have been. */
  readonly received: () => number;
}

/**
 * Logs events that fail one by one: the first three, then at growing intervals while more fail, with their number and
 * the time, and when no event has failed for a minute although there were some. A single failure every now and then is
 * logged ever more rarely.
 */
export class FailureLog {
  readonly #options: FailureLogOptions;
  #series: Series | undefined;
  #count = 0;
  #check: Subscription | undefined;

  constructor(options: FailureLogOptions) {
    this.#options = options;
  }

  /** `message` is a line of the log; it gets the number of failures to put in, or an empty string. */
  failed(message: (often: string) => string, count = 1): void {
    const { warn, received } = this.#options;
    const series = this.#series ?? this.#start();
    const before = series.failures;
    series.failures += count;
    series.lastAt = series.elapsed();
    series.lastReceived = received();
    const isDue = series.lastAt >= reminderAt(series.reminders);
    while (series.lastAt >= reminderAt(series.reminders)) series.reminders++;
    if (!isDue && (before >= LOGGED || !isNoteworthy(this.#count))) return;
    series.isLogged = true;
    warn(message(isDue ? ` (${oftenOf(series)})` : ''));
  }

  /** Ends the watch for a recovery. */
  close(): void {
    this.#check?.unsubscribe();
    this.#series = undefined;
  }

  #start(): Series {
    this.#count++;
    const elapsed = steadyClock();
    const series = { elapsed, failures: 0, lastAt: 0, lastReceived: 0, reminders: 0, isLogged: false };
    this.#series = series;
    this.#checkIn(QUIET_MS);
    return series;
  }

  #checkIn(ms: number): void {
    this.#check = timer(ms).subscribe(() => this.#checkRecovery());
  }

  #checkRecovery(): void {
    const series = this.#series;
    if (series === undefined) return;
    const quiet = series.elapsed() - series.lastAt;
    if (quiet < QUIET_MS) {
      this.#checkIn(QUIET_MS - quiet);
    } else if (this.#options.received() === series.lastReceived) {
      // Without further events, a recovery cannot be seen.
      this.#checkIn(QUIET_MS);
    } else {
      this.#series = undefined;
      if (!series.isLogged) return;
      const { info, verb } = this.#options;
      info(`no event has ${verb} for ${elapsedText(quiet)}, after ${oftenOf(series)}`);
    }
  }
}

function oftenOf({ failures, lastAt }: Series): string {
  return `${counted(failures, 'event')} over ${elapsedText(lastAt)}`;
}
