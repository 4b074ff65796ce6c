import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  map,
  type Observable,
  of,
  type SchedulerLike,
  Subject,
  tap,
  throwError,
} from 'rxjs';
import {
  type Checks,
  COUNT_FROM_0,
  checkOptions,
  FUNCTION,
  hasMethods,
  SCHEDULER,
} from '../support/check-options.ts';
import { SerialJobs } from '../support/serial-jobs.ts';
import { steadyClock } from '../support/steady-clock.ts';
import { BackgroundSync } from './append/background-sync.ts';
import { FILE_MODE, outputStatus } from './append/open-output.ts';
import { type Leftover, OutputFile, type OutputLog, type OutputPlace } from './append/output-file.ts';
import { writeError } from './append/write-error.ts';

/** When what is written is forced to the disk: never, within a second, or before a write completes. */
export type FsyncPolicy = 'never' | 'interval' | 'batch';

export interface AppendOptions {
  /** Default: never. What is written survives the death of the process in any case. */
  readonly fsync?: FsyncPolicy | undefined;
  /** Called when the file is open and about to be written to; the write waits for it, and fails with it. */
  readonly before?: ((file: OutputFile) => Observable<unknown>) | undefined;
}

export interface AppenderOptions {
  /** Receives a warning for each repair, and when the disk does not confirm a write. Default: none is logged. */
  readonly log?: OutputLog | undefined;
  /** The permissions of a file that is created; the umask can only take some away. Default: 0o640. */
  readonly mode?: number | undefined;
  /** What time is measured and waited by. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

const APPEND_CHECKS: Checks<AppendOptions> = {
  fsync: (value) =>
    value === 'never' || value === 'interval' || value === 'batch' || "'never', 'interval' or 'batch'",
  before: FUNCTION,
};
const APPENDER_CHECKS: Checks<AppenderOptions> = {
  mode: COUNT_FROM_0,
  log: (value) => hasMethods(value, 'warn') || 'an object with the function warn',
  scheduler: SCHEDULER,
};

/** Milliseconds. A write that comes later than this after the last look at the path looks before it writes. */
const LOOK_AFTER = 10;

/**
 * Appends to one file, in order, through one descriptor. The file and its folder are created by the first write. After
 * each write the path is looked at: if the file was renamed, removed, replaced or truncated meanwhile, the write is
 * taken back as far as possible and repeated in a new file. So a completed write
 * was at its path in full, and stays in the file if that is renamed afterwards.
 *
 * A write is all or nothing: what a failed or cancelled one left behind is cut off, so that trying again neither
 * tears nor doubles a line. What a crash left of one is cut off when the file is opened; text of others that lacks
 * its newline gets one. Errors name the file and what to do; the next write tries again.
 *
 * @example
 * const appender = new FileAppender(`${folder}/out/events.jsonl`);
 * await lastValueFrom(appender.append('{"data":{}}\n'), { defaultValue: 'written' }); // 'written'
 * appender.close();
 * fs.readFileSync(`${folder}/out/events.jsonl`, 'utf8'); // '{"data":{}}\n'
 */
export class FileAppender {
  readonly path: string;
  readonly #log: OutputLog;
  readonly #mode: number;
  readonly #removed$ = new Subject<OutputPlace>();
  readonly #jobs = new SerialJobs();
  readonly #clock: () => number;
  #file: OutputFile | undefined;
  #leftover: Leftover | undefined;
  #lookedAt = 0;
  readonly #background: BackgroundSync;

  /** @throws TypeError for an option that is unknown or of the wrong type. */
  constructor(path: string, options: AppenderOptions = {}) {
    checkOptions('FileAppender', options, APPENDER_CHECKS);
    const { log = { warn: () => {} }, mode = FILE_MODE, scheduler } = options;
    this.#clock = steadyClock(scheduler);
    this.path = path;
    this.#log = log;
    this.#mode = mode;
    this.#background = new BackgroundSync(path, log, scheduler);
  }

  /**
   * Appends `text` on subscription; completes when the operating system has all of it (with `batch`: when the disk
   * has it), errors when the file has none of it.
   *
   * @throws TypeError for an option that is unknown or of the wrong type.
   */
  append(text: string | Buffer, options: AppendOptions = {}): Observable<never> {
    checkOptions('append', options, APPEND_CHECKS);
    const { fsync = 'never', before } = options;
    return this.#jobs.runAll((isCancelled) => {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      const write$ = this.#withFile((file) =>
        concat(
          defer(() => before?.(file) ?? EMPTY),
          defer(() => file.append(bytes)),
          defer(() => (fsync === 'batch' ? this.#syncOrUndo(file) : EMPTY)),
          defer(() => this.#confirmPlace(file)),
          defer(() => {
            if (isCancelled()) return file.undo();
            if (fsync === 'interval') this.#background.soon(file);
            return EMPTY;
          }),
        ),
      );
      return write$.pipe(catchError((error) => (isMoved(error) ? write$ : throwError(() => error))));
    });
  }

  /**
   * Emits a file that was removed under the name it was written to, and how long it was: nothing tells whether anybody
   * has what was in it. One that was renamed before it was removed is not among them.
   */
  get removed$(): Observable<OutputPlace> {
    return this.#removed$.asObservable();
  }

  /**
   * Forces what was written to the disk, then looks at the path. Errors if some of it may be lost, be it since a sync of
   * `interval`.
   */
  sync(): Observable<never> {
    return this.#jobs.runAll(() =>
      this.#explained(
        concat(
          defer(() => this.#file?.sync() ?? EMPTY),
          defer(() => this.#background.confirm()),
          defer(() => this.#leaveIfMoved()),
        ),
      ),
    );
  }

  /** Does `work` between two writes, with the file closed. */
  aside(work: () => Observable<unknown>): Observable<never> {
    return this.#jobs.runAll(() => concat(this.#leave(), defer(work)));
  }

  /** Closes the file when the writes asked for so far are done; the next one opens what is at the path by then. */
  close(): void {
    this.aside(() => EMPTY).subscribe();
  }

  #withFile(work: (file: OutputFile) => Observable<unknown>): Observable<unknown> {
    return this.#explained(
      concat(
        defer(() => (this.#clock() - this.#lookedAt < LOOK_AFTER ? EMPTY : this.#leaveIfMoved())),
        defer(() => (this.#file === undefined ? this.#open() : EMPTY)),
        defer(() => (this.#file === undefined ? EMPTY : work(this.#file))),
      ),
    ).pipe(
      // Whatever is wrong with the descriptor, the next write gets another one.
      catchError((error) =>
        concat(
          this.#leave(),
          throwError(() => error),
        ),
      ),
    );
  }

  #open(): Observable<unknown> {
    return OutputFile.open(this.path, { leftover: this.#leftover, log: this.#log, mode: this.#mode }).pipe(
      tap((file) => {
        this.#file = file;
        this.#leftover = undefined;
        this.#lookedAt = this.#clock();
      }),
    );
  }

  /** Leaves a file that is no longer at the path. */
  #leaveIfMoved(): Observable<unknown> {
    const file = this.#file;
    if (file === undefined) return EMPTY;
    return this.#sizeAtPath(file).pipe(
      concatMap((size) => {
        if (size === undefined) return this.#leave();
        file.resized(size);
        return EMPTY;
      }),
    );
  }

  /** Errors, with the last write taken back, if that may not have been at the path in full. */
  #confirmPlace(file: OutputFile): Observable<never> {
    return this.#sizeAtPath(file).pipe(
      concatMap((size) => {
        if (size !== undefined && size >= file.place.length) return EMPTY;
        const text = 'the file was replaced or truncated while it was written to';
        return throwError(() => Object.assign(new Error(text), { code: MOVED }));
      }),
      catchError((error) =>
        concat(
          file.undo(),
          throwError(() => error),
        ),
      ),
    );
  }

  /** The size of a file that is still at the path; undefined for another one, or for none. */
  #sizeAtPath(file: OutputFile): Observable<number | undefined> {
    return outputStatus(this.path).pipe(
      map(({ id, size }) => (id === file.id ? size : undefined)),
      catchError((error: NodeJS.ErrnoException) =>
        error.code === 'ENOENT' || error.code === 'ENOTDIR' ? of(undefined) : throwError(() => error),
      ),
      tap(() => {
        this.#lookedAt = this.#clock();
      }),
    );
  }

  #syncOrUndo(file: OutputFile): Observable<never> {
    return concat(file.sync(), this.#background.confirm()).pipe(
      catchError((error) =>
        concat(
          file.undo(),
          throwError(() => error),
        ),
      ),
    );
  }

  /** Closes the file, if it is open; what waits to be forced to the disk is forced first. */
  #leave(): Observable<never> {
    return defer(() => {
      const file = this.#file;
      if (file === undefined) return EMPTY;
      return concat(
        this.#background.finish(file),
        file.wasRemoved().pipe(
          filter(Boolean),
          tap(() => this.#removed$.next(file.place)),
          ignoreElements(),
        ),
        defer(() => {
          this.#file = undefined;
          this.#leftover = file.leftover;
          return file.close();
        }),
      );
    });
  }

  #explained(work: Observable<unknown>): Observable<unknown> {
    return work.pipe(catchError((error) => throwError(() => writeError(this.path, error))));
  }
}

/** Made up: no system call fails with it. */
const MOVED = 'OUTPUT_MOVED';

function isMoved(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === MOVED;
}
