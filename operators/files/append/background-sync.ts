import { asyncScheduler, concatMap, EMPTY, type SchedulerLike, type Subscription, timer } from 'rxjs';
import { steadyClock } from '../../support/steady-clock.ts';
import type { OutputFile, OutputLog } from './output-file.ts';
import { writeError } from './write-error.ts';

const SYNC_EVERY = 1000;

/**
 * Forces a file to the disk within a second of a write, while more is written: waiting for a busy disk would delay all
 * later writes. A failure is reported once.
 */
export class BackgroundSync {
  readonly #path: string;
  readonly #log: OutputLog;
  readonly #clock: () => number;
  readonly #scheduler: SchedulerLike;
  #syncedAt = Number.NEGATIVE_INFINITY;
  #waiting: Subscription | undefined;
  #running: Promise<void> | undefined;
  #hasFailed = false;
  /** What failed since `confirm` was called last. */
  #failure: Error | undefined;

  constructor(path: string, log: OutputLog, scheduler: SchedulerLike = asyncScheduler) {
    this.#clock = steadyClock(scheduler);
    this.#scheduler = scheduler;
    this.#path = path;
    this.#log = log;
  }

  /** `file` was written to. It is forced to the disk at once, unless that was done within the last second. */
  schedule(file: OutputFile): void {
    if (this.#waiting !== undefined) return;
    const wait = Math.max(0, this.#syncedAt + SYNC_EVERY - this.#clock());
    if (wait === 0 && this.#running === undefined) {
      this.#start(file);
      return;
    }
    const complete = () => {
      this.#waiting = undefined;
      this.#start(file);
    };
    this.#waiting = timer(wait, this.#scheduler)
      .pipe(concatMap(() => this.#running ?? EMPTY))
      .subscribe({ complete });
  }

  /** Does at once what is waiting, and waits for what is under way, because the file is about to be closed. */
  async finish(file: OutputFile): Promise<void> {
    const isWaiting = this.#waiting !== undefined;
    this.#waiting?.unsubscribe();
    this.#waiting = undefined;
    await this.#running;
    if (isWaiting) await this.#sync(file);
  }

  /** Rejects with what failed since the last call: the kernel reports a failure once, and then takes lost data for written. */
  async confirm(): Promise<void> {
    await this.#running;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }

  #start(file: OutputFile): void {
    this.#syncedAt = this.#clock();
    this.#running = this.#sync(file).then(() => {
      this.#running = undefined;
    });
  }

  /** Never rejects: what was written is confirmed already. */
  async #sync(file: OutputFile): Promise<void> {
    try {
      await file.sync();
      this.#hasFailed = false;
    } catch (error) {
      this.#failure = error as Error;
      const { message } = writeError(this.#path, error as Error);
      if (!this.#hasFailed) this.#log.warn(`${message}; what was written last may not outlive a power cut`);
      this.#hasFailed = true;
    }
  }
}
