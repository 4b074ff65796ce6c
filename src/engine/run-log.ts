import { counted, isNoteworthy } from '../../operators/internal.ts';
import type { Logger } from '../sdk/context.ts';
import { safeReason } from '../sdk/errors.ts';
import type { DropReason } from '../sdk/status.ts';
import type { PipelineCounters } from './counters.ts';
import { FailureLog } from './failure-log.ts';
import {
  type PipelineObserver,
  type PluginFailure,
  placeText,
  type StagePlace,
  type TravelForm,
} from './observer.ts';
import { RetryLog } from './retry-log.ts';

const FORMS: Readonly<Record<TravelForm, string>> = {
  lines: 'takes lines, by mapLines: no events are created',
  rows: 'takes rows, by mapRows: no events are created',
  workers: 'takes lines in workers',
  bytes: 'takes bytes, by forwardJsonLines: no events are created',
  events: 'takes events one by one',
  batch: 'takes batches of events, by forwardBatch',
};

/**
 * Logs what goes wrong in one run of a pipeline and, at the level debug, how events travel. Keeps what forwarders fail with
 * where health looks for it.
 */
export class RunLog implements PipelineObserver {
  readonly #pipeline: string;
  readonly #logger: Logger;
  readonly #counters: PipelineCounters;
  readonly #retries = new Map<StagePlace, RetryLog>();
  readonly #failures = new Map<StagePlace, FailureLog>();
  readonly #overflows = new Map<StagePlace, FailureLog>();
  #timesFull = 0;

  constructor(pipeline: string, logger: Logger, counters: PipelineCounters) {
    this.#pipeline = pipeline;
    this.#logger = logger;
    this.#counters = counters;
  }

  retrying(place: StagePlace, isRetrying: boolean): void {
    this.#retriesOf(place).failing(isRetrying);
  }

  retried(place: StagePlace, attempt: number, wait: number, error: unknown, most: number | undefined): void {
    this.#retriesOf(place).failed(attempt, wait, error, most);
  }

  left(place: StagePlace): void {
    this.#retries.get(place)?.delivered();
  }

  /** The author of a plugin sees here what ends the fast path. */
  travelled(place: StagePlace, form: TravelForm, why?: string): void {
    const reason = why === undefined ? '' : `, because ${why}`;
    this.#logger.debug(`${this.#nameOf(place)} ${FORMS[form]}${reason}`);
  }

  pluginFailed(place: StagePlace, { error, what }: PluginFailure): void {
    const log = this.#logOf(this.#failures, place, 'failed', 'error');
    log.failed((often) => `${this.#nameOf(place)} ${what}${often}: ${safeReason(error)}`);
  }

  dropped(place: StagePlace, reason: DropReason, count: number): void {
    if (reason !== 'buffer_full') return;
    const log = this.#logOf(this.#overflows, place, 'been dropped', 'warn');
    const events = counted(count, 'event');
    log.failed(
      (often) =>
        place.kind === 'buffer'
          ? `${this.#nameOf(place)} is full: ${events} dropped, the oldest first${often}; raise \`buffer.max_bytes\``
          : `${this.#nameOf(place)}: ${events} dropped${often}: they come faster than the pipeline takes them; raise \`buffer.max_events\``,
      count,
    );
  }

  rejected(place: StagePlace, count: number, outcome: 'rejected' | 'too_large'): void {
    const log = this.#logOf(this.#overflows, place, 'been refused', 'warn');
    const why =
      outcome === 'rejected'
        ? 'it is full, and their sender is told to send them again'
        : 'together they are larger than the buffer, and their sender is told to send fewer at a time; raise `buffer.max_bytes`';
    log.failed((often) => `${this.#nameOf(place)} refused ${counted(count, 'event')}${often}: ${why}`, count);
  }

  bufferFull(place: StagePlace, isFull: boolean): void {
    if (isFull) this.#timesFull++;
    if (!isNoteworthy(this.#timesFull)) return;
    const name = this.#nameOf(place);
    if (isFull)
      this.#logger.warn(
        `${name} is full; it has room again when forwarders have delivered some of what is in it`,
      );
    else this.#logger.info(`${name} has room again`);
  }

  /** To be called at the end of the run, however it ends. */
  close(): void {
    for (const log of [...this.#failures.values(), ...this.#overflows.values()]) log.close();
  }

  #retriesOf(place: StagePlace): RetryLog {
    const known = this.#retries.get(place);
    if (known !== undefined) return known;
    const counters = this.#counters.entry(place);
    const log = new RetryLog(this.#nameOf(place), this.#logger, (outage) => {
      counters.outage = outage;
    });
    this.#retries.set(place, log);
    return log;
  }

  #logOf(
    logs: Map<StagePlace, FailureLog>,
    place: StagePlace,
    verb: string,
    level: 'error' | 'warn',
  ): FailureLog {
    const known = logs.get(place);
    if (known !== undefined) return known;
    const counters = this.#counters.entry(place);
    const log = new FailureLog({
      warn: (message) => this.#logger[level](message),
      info: (message) => this.#logger.info(`${this.#nameOf(place)}: ${message}`),
      verb,
      received: () => counters.received,
    });
    logs.set(place, log);
    return log;
  }

  #nameOf(place: StagePlace): string {
    return `${this.#pipeline}: ${placeText(place)}`;
  }
}
