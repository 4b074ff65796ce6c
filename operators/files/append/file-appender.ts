import { basename, dirname, join, resolve } from 'node:path';
import {
  asyncScheduler,
  concatMap,
  EMPTY,
  lastValueFrom,
  Observable,
  type SchedulerLike,
  Subject,
  type Subscription,
  timer,
} from 'rxjs';
import {
  type Checks,
  COUNT_FROM_0,
  checkOptions,
  FUNCTION,
  hasMethods,
  SCHEDULER,
} from '../../support/check-options.ts';
import { steadyClock } from '../../support/clock.ts';
import { Fifo } from '../../support/fifo.ts';
import { fileSystem, isMissing, perFileSystem } from '../../support/file-system.ts';
import { FileRotation, type RotationOptions } from './file-rotation.ts';
import { type Leftover, OutputFile, type OutputLog, type OutputPlace, outputStatus } from './output-file.ts';
import { FILE_MODE } from './output-rules.ts';
import { writeError } from './write-error.ts';

/** When what is written is forced to the disk: never, within a second, or before a write completes. */
export type FsyncPolicy = 'never' | 'interval' | 'batch';

export interface AppendOptions {
  /** Default: never. Written data always survives the end of the process. */
  readonly fsync?: FsyncPolicy | undefined;
  /** Called when the file is open, before a write. The write waits for its result, and fails if it fails. */
  readonly before?: ((file: OutputFile) => Observable<unknown>) | undefined;
}

export interface AppenderOptions {
  /** Receives a warning for each repair, and if the disk does not confirm a write. Default: silent. */
  readonly log?: OutputLog | undefined;
  /** The permissions of a new file; the umask can only remove some. Default: 0o640. */
  readonly mode?: number | undefined;
  /** When the file is renamed to one with a date, and what becomes of it then. Default: never. */
  readonly rotation?: RotationOptions | undefined;
  /** The scheduler that measures time and waits. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

const APPEND_CHECKS: Checks<AppendOptions> = {
  fsync: (value) =>
    value === 'never' || value === 'interval' || value === 'batch' || "'never', 'interval' or 'batch'",
  before: FUNCTION,
};
const APPENDER_CHECKS: Checks<AppenderOptions> = {
  mode: COUNT_FROM_0,
  rotation: (value) => (typeof value === 'object' && value !== null) || 'an object',
  log: (value) => hasMethods(value, 'warn') || 'an object with the function warn',
  scheduler: SCHEDULER,
};

/** Milliseconds. A write that comes later than this after the last look at the path looks before it writes. */
const LOOK_AFTER = 10;

/**
 * Appends to one file, in order, through one descriptor. The first write creates the file and its folder. After each
 * write, it checks the path. If the file was renamed, removed, replaced or truncated in the meantime, it takes the write
 * back as far as possible and repeats it in a new file. So a completed write was at its path in full, and stays in the
 * file if that is renamed later.
 *
 * A write is all or nothing: the remains of a failed or cancelled write are cut off, so that a retry neither tears nor
 * duplicates a line. The remains of a crash are cut off when the file is opened. Text of other programs without a newline
 * at its end gets one. Errors name the file and what to do; the next write tries again.
 *
 * @example
 * const appender = new FileAppender(`${folder}/out/events.jsonl`);
 * await lastValueFrom(appender.append('{"data":{}}\n'), { defaultValue: 'written' }); // 'written'
 * appender.close();
 * fs.readFileSync(`${folder}/out/events.jsonl`, 'utf8'); // '{"data":{}}\n'
 */
export class FileAppender {
  readonly path: string;
  /** Undefined if the file is never rotated. */
  readonly rotation: FileRotation | undefined;
  readonly #log: OutputLog;
  #mode: number;
  readonly #removed$ = new Subject<OutputPlace>();
  readonly #jobs = new SerialJobs();
  readonly #clock: () => number;
  readonly #scheduler: SchedulerLike;
  #file: OutputFile | undefined;
  #leftover: Leftover | undefined;
  #lookedAt = 0;
  readonly #background: BackgroundSync;
  /** The options of the last call: most callers pass the same ones again. */
  #checked: AppendOptions | undefined;

  /** @throws TypeError for an option that is unknown or of the wrong type. */
  constructor(path: string, options: AppenderOptions = {}) {
    checkOptions('FileAppender', options, APPENDER_CHECKS);
    const { log = { warn: () => {} }, mode = FILE_MODE, rotation, scheduler = asyncScheduler } = options;
    this.#clock = steadyClock(scheduler);
    this.path = path;
    this.#log = log;
    this.#mode = mode;
    this.#scheduler = scheduler;
    this.rotation = rotation && new FileRotation(path, rotation, log, scheduler);
    this.#background = new BackgroundSync(path, log, scheduler);
  }

  /**
   * Appends `text` on subscription; completes when the operating system has all of it (with `batch`: when the disk
   * has it), errors when the file has none of it.
   *
   * @throws TypeError for an option that is unknown or of the wrong type.
   */
  append(text: string | Buffer, options: AppendOptions = {}): Observable<never> {
    if (options !== this.#checked) checkOptions('append', options, APPEND_CHECKS);
    this.#checked = options;
    const { fsync = 'never', before } = options;
    return this.#jobs.run(async (isCancelled) => {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      const write = async (file: OutputFile) => {
        if (before !== undefined) await completed(before(file));
        await file.append(bytes);
        if (this.rotation !== undefined) file.written(this.#scheduler.now());
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
        await this.#withFile(write, bytes.length);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== MOVED) throw error;
        await this.#withFile(write, bytes.length);
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

  /** A file that is created gets no permissions that these do not have. */
  limitMode(mode: number): void {
    this.#mode &= mode;
  }

  /** Closes the file when the writes asked for so far are done; the next one opens what is at the path by then. */
  close(): void {
    this.#jobs.run(() => this.#leave()).subscribe();
  }

  async #withFile(work: (file: OutputFile) => Promise<unknown>, bytes: number): Promise<void> {
    try {
      if (this.#clock() - this.#lookedAt >= LOOK_AFTER) await this.#leaveIfMoved();
      this.#file ??= await this.#open();
      if (this.rotation?.isDue(this.#file, bytes)) this.#file = await this.#rotate(this.rotation, this.#file);
      await work(this.#file);
    } catch (error) {
      // Whatever is wrong with the descriptor, the next write gets another one.
      await this.#leave();
      throw writeError(this.path, error as Error);
    }
  }

  async #rotate(rotation: FileRotation, file: OutputFile): Promise<OutputFile> {
    await this.#leave();
    await rotation.rotate(file);
    return this.#open();
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

const SYNC_EVERY = 1000;

/**
 * Forces a file to the disk within a second of a write, while more is written: waiting for a busy disk would delay all
 * later writes. A failure is reported once.
 */
class BackgroundSync {
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

interface Shared {
  readonly appender: FileAppender;
  /** By which it is found: the paths asked for, and where their folders really are. */
  readonly keys: Set<string>;
  users: number;
  /** How often it was given back by the last user, and is not closed yet. */
  closing: number;
}

/** A part in the appender of a file, until it is given back. */
export interface AppenderLease {
  readonly appender: FileAppender;
  release(): void;
}

const shared = perFileSystem(() => new Map<string, Shared>());

/**
 * The one appender that this process has for a file: two of them would tear each other's lines, and one would take
 * for torn what the other is about to write. It is closed when its last user releases it. A file that is reached by
 * way of symbolic links to its folder is the same file; the first path asked for is the one written to. The file is
 * created with the permissions that all of its users allow.
 */
export function leaseAppender(path: string, options: AppenderOptions): AppenderLease {
  const name = resolve(path);
  const entry = shared().get(name) ?? entryAt(join(realFolder(dirname(name)), basename(name)), path, options);
  entry.appender.limitMode(options.mode ?? FILE_MODE);
  entry.keys.add(name);
  for (const key of entry.keys) shared().set(key, entry);
  entry.users++;
  return { appender: entry.appender, release: () => release(entry) };
}

function entryAt(realPath: string, path: string, options: AppenderOptions): Shared {
  const known = shared().get(realPath);
  if (known !== undefined) return known;
  return { appender: new FileAppender(path, options), keys: new Set([realPath]), users: 0, closing: 0 };
}

function release(entry: Shared): void {
  entry.users--;
  if (entry.users > 0) return;
  entry.closing++;
  const forget = () => {
    entry.closing--;
    // Who comes before all it has to do is done has to share it: until then, another one could tear its lines.
    if (entry.users > 0 || entry.closing > 0) return;
    for (const key of entry.keys) shared().delete(key);
  };
  entry.appender.aside(() => EMPTY).subscribe({ complete: forget });
}

/** Without symbolic links, as far as the folder exists: what is missing is made later, and is not a link. */
function realFolder(folder: string): string {
  try {
    return fileSystem.realpathSync.native(folder);
  } catch {
    const parent = dirname(folder);
    return parent === folder ? folder : join(realFolder(parent), basename(folder));
  }
}

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

  /** Not a `Pump`, because each job is awaited. */
  async #runWaiting(): Promise<void> {
    this.#isBusy = true;
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      if (!job.isCancelled()) await job.run();
    }
    this.#isBusy = false;
  }
}
