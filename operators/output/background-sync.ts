import { catchError, EMPTY, type Observable, type Subscription, tap, timer } from 'rxjs';
import { steadyClock } from '../steady-clock.ts';
import type { OutputFile, OutputLog } from './output-file.ts';
import { writeError } from './write-error.ts';

/** Milliseconds. */
const SYNC_EVERY = 1000;

/** Forces a file to the disk within a second of what is written to it. That it fails is reported once. */
export class BackgroundSync {
  readonly #path: string;
  readonly #log: OutputLog;
  readonly #turn: () => Observable<never>;
  readonly #clock = steadyClock();
  #syncedAt = Number.NEGATIVE_INFINITY;
  #waiting: Subscription | undefined;
  #hasFailed = false;

  /** `turn` calls `run` when nothing is being written. */
  constructor(path: string, log: OutputLog, turn: () => Observable<never>) {
    this.#path = path;
    this.#log = log;
    this.#turn = turn;
  }

  /** At once if that was not done within the last second, else when it is over. */
  soon(): void {
    if (this.#waiting !== undefined) return;
    const wait = this.#syncedAt + SYNC_EVERY - this.#clock();
    if (wait <= 0) {
      this.#take();
      return;
    }
    this.#waiting = timer(wait).subscribe(() => {
      this.#waiting = undefined;
      this.#take();
    });
  }

  #take(): void {
    this.#syncedAt = this.#clock();
    this.#turn().subscribe();
  }

  /** Never errors: what was written is confirmed already. */
  run(file: OutputFile | undefined): Observable<never> {
    return (file?.sync() ?? EMPTY).pipe(
      tap({
        complete: () => {
          this.#hasFailed = false;
        },
      }),
      catchError((error) => {
        const { message } = writeError(this.#path, error);
        if (!this.#hasFailed) this.#log.warn(`${message}; what was written last may not outlive a power cut`);
        this.#hasFailed = true;
        return EMPTY;
      }),
    );
  }

  /** Does at once what is waiting, because the file is about to be closed. */
  finish(file: OutputFile): Observable<never> {
    if (this.#waiting === undefined) return EMPTY;
    this.#waiting.unsubscribe();
    this.#waiting = undefined;
    return this.run(file);
  }
}
