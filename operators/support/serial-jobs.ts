import { Observable } from 'rxjs';
import { Fifo } from './fifo.ts';

/** Work that calls `done` once, later. `isCancelled` tells whether anybody still waits for it. */
export type Job = (done: (error: Error | null) => void, isCancelled: () => boolean) => void;

interface Entry {
  readonly isCancelled: () => boolean;
  readonly start: () => void;
}

/**
 * Runs jobs one at a time, in the order of subscription. Unsubscribing cancels a job that has not begun; one that
 * has begun runs to its end, and the next one waits for it.
 *
 * @example
 * const jobs = new SerialJobs();
 * const append = (text) => jobs.run((done) => fs.appendFile(`${folder}/log`, text, done));
 * await lastValueFrom(merge(append('one '), append('two')), { defaultValue: 'written' }); // 'written'
 * fs.readFileSync(`${folder}/log`, 'utf8'); // 'one two'
 */
export class SerialJobs {
  readonly #waiting = new Fifo<Entry>();
  readonly #idle: () => void;
  #isBusy = false;

  /** `idle` is called each time that the last waiting job is done. */
  constructor(idle: () => void = () => {}) {
    this.#idle = idle;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Runs `job` on subscription. Emits nothing; errors with what the job is done with, or completes. */
  run(job: Job): Observable<never> {
    return new Observable((subscriber) => {
      const isCancelled = () => subscriber.closed;
      const done = (error: unknown) => {
        this.#isBusy = false;
        if (error === null) subscriber.complete();
        else subscriber.error(error);
        this.#next();
      };
      const start = () => {
        try {
          job(done, isCancelled);
        } catch (error) {
          done(error);
        }
      };
      this.#waiting.push({ isCancelled, start });
      this.#next();
    });
  }

  /** {@link run} for work that is an Observable: what it emits is ignored, and unsubscribing does not stop it. */
  runAll(work: (isCancelled: () => boolean) => Observable<unknown>): Observable<never> {
    return this.run((done, isCancelled) => {
      work(isCancelled).subscribe({ error: done, complete: () => done(null) });
    });
  }

  #next(): void {
    if (this.#isBusy) return;
    let entry = this.#waiting.shift();
    while (entry?.isCancelled()) entry = this.#waiting.shift();
    if (entry === undefined) {
      this.#idle();
      return;
    }
    this.#isBusy = true;
    entry.start();
  }
}
