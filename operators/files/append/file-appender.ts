import { lastValueFrom, type Observable, type SchedulerLike, Subject } from 'rxjs';
import {
  type Checks,
  COUNT_FROM_0,
  checkOptions,
  FUNCTION,
  hasMethods,
  SCHEDULER,
} from '../../support/check-options.ts';
import { isMissing } from '../../support/fs-calls.ts';
import { SerialJobs } from '../../support/serial-jobs.ts';
import { steadyClock } from '../../support/steady-clock.ts';
import { BackgroundSync } from './background-sync.ts';
import { FILE_MODE, outputStatus } from './open-output.ts';
import { type Leftover, OutputFile, type OutputLog, type OutputPlace } from './output-file.ts';
import { writeError } from './write-error.ts';

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
    return this.#jobs.run(async (isCancelled) => {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      const write = async (file: OutputFile) => {
        if (before !== undefined) await completed(before(file));
        await file.append(bytes);
        try {
          if (fsync === 'batch') await this.#sync(file);
          await this.#confirmPlace(file);
        } catch (error) {
          await file.undo();
          throw error;
        }
        if (isCancelled()) await file.undo();
        else if (fsync === 'interval') this.#background.schedule(file);
      };
      try {
        await this.#withFile(write);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== MOVED) throw error;
        await this.#withFile(write);
      }
    });
  }

  /**
   * Emits a file that was removed under the name it was written to, and how long it was: nothing tells whether any program
   * has read what was in it. A file that was renamed before it was removed is not emitted.
   */
  get removed$(): Observable<OutputPlace> {
    return this.#removed$.asObservable();
  }

  /**
   * Forces what was written to the disk, then looks at the path. Errors if some of it may be lost, also if a sync of
   * `interval` has failed since the last call.
   */
  sync(): Observable<never> {
    return this.#jobs.run(async () => {
      try {
        if (this.#file !== undefined) await this.#sync(this.#file);
        else await this.#background.confirm();
        await this.#leaveIfMoved();
      } catch (error) {
        throw writeError(this.path, error as Error);
      }
    });
  }

  /** Does `work` between two writes, with the file closed. */
  aside(work: () => Observable<unknown>): Observable<never> {
    return this.#jobs.run(async () => {
      await this.#leave();
      await completed(work());
    });
  }

  /** Closes the file when the writes asked for so far are done; the next one opens what is at the path by then. */
  close(): void {
    this.#jobs.run(() => this.#leave()).subscribe();
  }

  async #withFile(work: (file: OutputFile) => Promise<unknown>): Promise<void> {
    try {
      if (this.#clock() - this.#lookedAt >= LOOK_AFTER) await this.#leaveIfMoved();
      this.#file ??= await this.#open();
      await work(this.#file);
    } catch (error) {
      // Whatever is wrong with the descriptor, the next write gets another one.
      await this.#leave();
      throw writeError(this.path, error as Error);
    }
  }

  async #open(): Promise<OutputFile> {
    const options = { leftover: this.#leftover, log: this.#log, mode: this.#mode };
    const file = await OutputFile.open(this.path, options);
    this.#leftover = undefined;
    this.#lookedAt = this.#clock();
    return file;
  }

  /** Leaves a file that is no longer at the path. */
  async #leaveIfMoved(): Promise<void> {
    if (this.#file === undefined) return;
    const size = await this.#sizeAtPath(this.#file);
    if (size === undefined) await this.#leave();
    else this.#file.resized(size);
  }

  /** Rejects if the last write may not have been at the path in full. */
  async #confirmPlace(file: OutputFile): Promise<void> {
    const size = await this.#sizeAtPath(file);
    if (size !== undefined && size >= file.place.length) return;
    const text = 'the file was replaced or truncated while it was written to';
    throw Object.assign(new Error(text), { code: MOVED });
  }

  /** The size of a file that is still at the path; undefined for another one, or for none. */
  async #sizeAtPath(file: OutputFile): Promise<number | undefined> {
    try {
      const { id, size } = await outputStatus(this.path);
      return id === file.id ? size : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    } finally {
      this.#lookedAt = this.#clock();
    }
  }

  async #sync(file: OutputFile): Promise<void> {
    await file.sync();
    await this.#background.confirm();
  }

  /** Closes the file, if it is open; what waits to be forced to the disk is forced first. */
  async #leave(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    await this.#background.finish(file);
    if (await file.wasRemoved()) this.#removed$.next(file.place);
    this.#file = undefined;
    this.#leftover = file.leftover;
    await file.close();
  }
}

/** Made up: no system call fails with it. */
const MOVED = 'OUTPUT_MOVED';

function completed(work$: Observable<unknown>): Promise<unknown> {
  return lastValueFrom(work$, { defaultValue: undefined });
}
