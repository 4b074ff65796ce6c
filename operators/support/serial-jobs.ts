import { Observable } from 'rxjs';
import { Fifo } from './fifo.ts';

/**
 * Runs asynchronous jobs one at a time, in the order of subscription. Unsubscribing cancels a job that has not started.
 * A job that has started runs to its end, and the next one waits for it.
 *
 * @example
 * const jobs = new SerialJobs();
 * const append = (text) => jobs.run(() => fs.promises.appendFile(`${folder}/log`, text));
 * await lastValueFrom(merge(append('one '), append('two')), { defaultValue: 'written' }); // 'written'
 * fs.readFileSync(`${folder}/log`, 'utf8'); // 'one two'
 */
export class SerialJobs {
  readonly #waiting = new Fifo<{ readonly isCancelled: () => boolean; readonly run: () => Promise<void> }>();
  #isBusy = false;

  /**
   * Runs `job` on subscription. Emits nothing; completes, or errors with what the job rejects with. `isCancelled` tells
   * whether its subscriber has left.
   */
  run(job: (isCancelled: () => boolean) => Promise<unknown>): Observable<never> {
    return new Observable((subscriber) => {
      const isCancelled = () => subscriber.closed;
      const run = async () => {
        try {
          await job(isCancelled);
        } catch (error) {
          subscriber.error(error);
        }
        subscriber.complete();
      };
      this.#waiting.push({ isCancelled, run });
      if (!this.#isBusy) this.#runWaiting();
    });
  }

  async #runWaiting(): Promise<void> {
    this.#isBusy = true;
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      if (!job.isCancelled()) await job.run();
    }
    this.#isBusy = false;
  }
}
