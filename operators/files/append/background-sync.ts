import {
  AsyncSubject,
  asyncScheduler,
  catchError,
  concat,
  defer,
  EMPTY,
  type Observable,
  type SchedulerLike,
  type Subscription,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { steadyClock } from '../../support/steady-clock.ts';
import type { OutputFile, OutputLog } from './output-file.ts';
import { writeError } from './write-error.ts';

/** Milliseconds. */
const SYNC_EVERY = 1000;

/**
 * Forces a file to the disk within a second of what is written to it, while more is written: a disk that has much to do
 * would hold up all that follows. That it fails is reported once.
 */
export class BackgroundSync {
  readonly #path: string;
  readonly #log: OutputLog;
  readonly #clock: () => number;
  readonly #scheduler: SchedulerLike;
  #syncedAt = Number.NEGATIVE_INFINITY;
  #waiting: Subscription | undefined;
  #running: Observable<never> | undefined;
  #hasFailed = false;
  /** What went wrong since that was asked. */
  #failure: Error | undefined;

  constructor(path: string, log: OutputLog, scheduler: SchedulerLike = asyncScheduler) {
    this.#clock = steadyClock(scheduler);
    this.#scheduler = scheduler;
    this.#path = path;
    this.#log = log;
  }

  /** `file` was written to. Forced at once if that was not done within the last second, else when it is over. */
  soon(file: OutputFile): void {
    if (this.#waiting !== undefined) return;
    const wait = Math.max(0, this.#syncedAt + SYNC_EVERY - this.#clock());
    if (wait === 0 && this.#running === undefined) {
      this.#start(file);
      return;
    }
    this.#waiting = concat(
      timer(wait, this.#scheduler),
      defer(() => this.#running ?? EMPTY),
    ).subscribe({
      complete: () => {
        this.#waiting = undefined;
        this.#start(file);
      },
    });
  }

  /** Does at once what is waiting, and ends what is under way, because the file is about to be closed. */
  finish(file: OutputFile): Observable<never> {
    const isWaiting = this.#waiting !== undefined;
    this.#waiting?.unsubscribe();
    this.#waiting = undefined;
    return concat(this.#running ?? EMPTY, isWaiting ? this.#sync(file) : EMPTY);
  }

  /** Errors with what went wrong since this was asked last: the kernel tells it once, and takes for written what is lost. */
  confirm(): Observable<never> {
    return concat(
      this.#running ?? EMPTY,
      defer(() => {
        const failure = this.#failure;
        this.#failure = undefined;
        return failure === undefined ? EMPTY : throwError(() => failure);
      }),
    );
  }

  #start(file: OutputFile): void {
    this.#syncedAt = this.#clock();
    const end$ = new AsyncSubject<never>();
    this.#running = end$;
    this.#sync(file)
      .pipe(
        tap({
          complete: () => {
            this.#running = undefined;
          },
        }),
      )
      .subscribe(end$);
  }

  /** Never errors: what was written is confirmed already. */
  #sync(file: OutputFile): Observable<never> {
    return file.sync().pipe(
      tap({
        complete: () => {
          this.#hasFailed = false;
        },
      }),
      catchError((error) => {
        this.#failure = error;
        const { message } = writeError(this.#path, error);
        if (!this.#hasFailed) this.#log.warn(`${message}; what was written last may not outlive a power cut`);
        this.#hasFailed = true;
        return EMPTY;
      }),
    );
  }
}
