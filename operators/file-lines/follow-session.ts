import { concat, exhaustMap, ignoreElements, of, Subscription, tap, timer } from 'rxjs';
import { counted } from '../counted.ts';
import { Arrivals } from './arrivals.ts';
import { ChangeWatches } from './change-watches.ts';
import { ChunkReader } from './chunk-reader.ts';
import { Descriptors } from './descriptors.ts';
import { earlierFiles } from './earlier-files.ts';
import { FileTable } from './file-table.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FollowedFile } from './followed-file.ts';
import type { LineBatch } from './line-batch.ts';
import { findMoved } from './moved-files.ts';
import { PathChecks } from './path-checks.ts';
import { PathScanner, type Seen } from './path-scanner.ts';
import { Problems } from './problems.ts';
import { ReadPump } from './read-pump.ts';
import { mayRest } from './resting.ts';
import { replace } from './truncation.ts';

/** What a session emits to: a subscriber. */
export interface LineOutput {
  next(batch: LineBatch): void;
  complete(): void;
  error(error: Error): void;
}

/** One subscription to `followFiles`: finds the files, tells the pump which of them to read, and forgets them. */
export class FollowSession {
  readonly #patterns: readonly string[];
  readonly #settings: FollowSettings;
  readonly #output: LineOutput;
  readonly #table: FileTable;
  readonly #descriptors: Descriptors;
  readonly #pump: ReadPump;
  readonly #scanner: PathScanner;
  readonly #problems: Problems;
  readonly #watches = new ChangeWatches();
  readonly #checks: PathChecks;
  readonly #subscriptions = new Subscription();
  readonly #arrivals: Arrivals;
  /** With `once`: what could not be read, by path. */
  readonly #unreadable = new Map<string, NodeJS.ErrnoException>();
  #reportedBacklog = 0;

  constructor(patterns: readonly string[], settings: FollowSettings, output: LineOutput) {
    this.#patterns = patterns;
    this.#settings = settings;
    this.#output = output;
    this.#problems = new Problems(settings.log);
    this.#table = new FileTable(settings.maxLineBytes);
    this.#descriptors = new Descriptors(settings.maxOpenFiles);
    const reader = new ChunkReader(this.#descriptors, settings, (file) => {
      settings.positions.recognised?.(file.id, file.head.fingerprint);
    });
    this.#pump = new ReadPump(settings, reader, {
      batch: (batch) => output.next(batch),
      progress: (file) => this.#progressed(file),
      replaced: (file) => replace(file, settings),
      failed: (file, error) => this.#failed(file, error),
      finished: (file) => this.#finished(file),
      idle: () => this.#rest(),
    });
    this.#arrivals = new Arrivals({
      settings,
      table: this.#table,
      descriptors: this.#descriptors,
      watches: this.#watches,
      pump: this.#pump,
      changed: (file, hasMoved) => this.#changed(file, hasMoved),
    });
    this.#scanner = new PathScanner(patterns, {
      expected: (path) => this.#table.at(path),
      isKnown: (id) => this.#table.get(id) !== undefined,
      // At once, so that it can be read even if it is rotated away before its turn comes.
      mayKeepOpen: () => this.#descriptors.hasRoom,
      resting: (path) => this.#resting(path),
      found: (found) => {
        if ('fd' in found.status) this.#problems.over(found.path);
        return this.#arrivals.found(found);
      },
      notFound: (path, error) => this.#notFound(path, error),
      unmatched: (pattern) => this.#missing(pattern, 'no file matches'),
      scanned: (seen) => this.#sweep(seen),
    });
    this.#checks = new PathChecks((path, done) => this.#scanner.look(path, done));
  }

  start(): void {
    const polls = this.#settings.once ? of(0) : timer(0, this.#settings.pollMs);
    const earlier$ = earlierFiles(this.#settings.positions).pipe(
      tap((earlier) => this.#arrivals.foundEarlier(earlier)),
      ignoreElements(),
    );
    const scan = (poll: number) =>
      poll === 0 ? concat(earlier$, this.#scanner.scan()) : this.#scanner.scan();
    this.#subscriptions.add(polls.pipe(exhaustMap(scan)).subscribe());
    this.#subscriptions.add(this.#settings.demand.room$.subscribe(() => this.#pump.run()));
  }

  close(): void {
    this.#subscriptions.unsubscribe();
    this.#scanner.close();
    this.#pump.close();
    this.#watches.endAll();
    this.#checks.close();
    this.#descriptors.releaseAll();
  }

  #notFound(path: string, error: NodeJS.ErrnoException): FollowedFile | undefined {
    const file = this.#table.at(path);
    if (file !== undefined) file.rests = 0;
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
      // `lstat` found the link itself.
      const what = error.syscall === 'stat' ? 'a symbolic link leads to no file' : 'there is no file';
      // One that was just rotated away is no news.
      if (file === undefined) this.#missing(path, what);
      return undefined;
    }
    this.#report(path, error);
    return file;
  }

  /** All paths were looked at. */
  #sweep(seen: Seen): void {
    this.#table.prune(seen);
    const { once, log, positions } = this.#settings;
    if (!this.#arrivals.hasBegun) {
      positions.found?.((id) => this.#table.get(id) !== undefined);
      const { size: files } = this.#table;
      log.info(`following ${counted(files, 'file')}`, { files });
    }
    this.#arrivals.hasBegun = true;
    if (!once) for (const file of this.#table.files()) this.#inspect(file, !seen.has(file));
    this.#reportBacklog();
    this.#rest();
  }

  #inspect(file: FollowedFile, isGone: boolean): void {
    file.isGone = isGone;
    if (isGone && file.fd === undefined && !file.isBusy && file.isMoved !== true) {
      this.#seek(file);
      return;
    }
    if (file.isAtEnd) file.quietPolls++;
    const { quietPolls, flushPolls } = this.#settings;
    file.isFinishing = isGone
      ? file.quietPolls >= quietPolls
      : file.isHolding && file.quietPolls >= flushPolls;
    // Whoever wrote to a file that was rotated away may go on for a while.
    if (isGone || file.isFinishing) this.#pump.add(file);
  }

  /** A file that was rotated away while it was not open is found by its new name, or given up. */
  #seek(file: FollowedFile): void {
    if (file.isMoved !== undefined) return;
    file.isMoved = false;
    const found = ({ path }: { path: string }) => {
      file.isMoved = true;
      file.path = path;
    };
    const complete = () => (file.isMoved ? this.#pump.add(file) : this.#forget(file));
    this.#subscriptions.add(findMoved([file]).subscribe({ next: found, complete }));
  }

  #resting(path: string): FollowedFile | undefined {
    const file = this.#table.at(path);
    return file !== undefined && mayRest(file, this.#watches.has(file)) ? file : undefined;
  }

  #changed(file: FollowedFile, mayHaveMoved: boolean): void {
    const wasAtEnd = file.isAtEnd;
    file.rests = 0;
    // What is open is read whatever its path leads to by now.
    if (file.fd !== undefined) this.#pump.add(file);
    if (!file.isGone && (wasAtEnd || mayHaveMoved)) this.#checks.check(file);
  }

  /** One that is read stays known until all paths were looked at: another of them may lead to it. */
  #finished(file: FollowedFile): void {
    if (this.#arrivals.hasBegun || file.isGone) this.#forget(file);
    else this.#descriptors.release(file);
  }

  #forget(file: FollowedFile): void {
    const { path, unread: bytes } = file;
    const { log, onGap } = this.#settings;
    if (bytes > 0 && file.isGone) onGap(bytes);
    if (bytes > 0) log.warn(`${path} went away or failed before it was read to its end`, { path, bytes });
    this.#watches.end(file);
    this.#descriptors.release(file);
    this.#table.remove(file);
    this.#pump.remove(file);
    if (file.isGone) this.#settings.positions.forget(file.id, file.lines.offset);
    this.#reportBacklog();
  }

  #failed(file: FollowedFile, error: NodeJS.ErrnoException): void {
    this.#report(file.path, error);
    this.#table.count(file);
    this.#reportBacklog();
  }

  #progressed(file: FollowedFile): void {
    file.size = Math.max(file.size, file.lines.readOffset);
    this.#reportSkipped(file);
    this.#problems.over(file.path);
    this.#table.count(file);
    this.#reportBacklog();
  }

  #reportSkipped(file: FollowedFile): void {
    const { path } = file;
    const { log } = this.#settings;
    const bytes = file.lines.takeHoleBytes();
    if (bytes > 0) {
      log.warn(
        `${path} begins with ${counted(bytes, 'NUL byte')}, which were skipped: it was truncated, and its writer does ` +
          'not open it for appending',
        { path, bytes },
      );
    }
    if (file.takeIsMidLine()) {
      log.warn(`${path} ended in a line longer than \`max_line_bytes\`: starting behind it`, { path });
    }
  }

  #rest(): void {
    if (!this.#settings.once || !this.#arrivals.hasBegun || !this.#pump.isIdle) return;
    const all = [...this.#unreadable];
    if (all.length === 0) this.#output.complete();
    else this.#output.error(unreadable(all));
  }

  #missing(path: string, what: string): void {
    const outcome = this.#settings.once ? '' : '; waiting for one';
    this.#problems.report(path, 'ENOENT', `${what}: ${path}${outcome}`);
  }

  #report(path: string, error: NodeJS.ErrnoException): void {
    if (this.#settings.once && !this.#mayPass(path, error)) this.#unreadable.set(path, error);
    this.#problems.report(path, error.code ?? error.name, `cannot read ${path}: ${error.message}`);
  }

  /** With `once`, no reason to fail: what was rotated just now, and what is no file and was not asked for by its name. */
  #mayPass(path: string, { code }: NodeJS.ErrnoException): boolean {
    return code === 'MOVED' || (code === 'NOT_A_FILE' && !this.#patterns.includes(path));
  }

  #reportBacklog(): void {
    if (this.#table.unread === this.#reportedBacklog) return;
    this.#reportedBacklog = this.#table.unread;
    this.#settings.onBacklog(this.#reportedBacklog);
  }
}

/** It is not by waiting that another try succeeds. */
const FOREVER = new Set(['NOT_TEXT', 'NOT_A_FILE', 'EACCES', 'EPERM']);

function unreadable(all: readonly [path: string, error: NodeJS.ErrnoException][]): Error {
  const [[path, error]] = all as [(typeof all)[number]];
  const more = all.length === 1 ? '' : `; nor ${counted(all.length - 1, 'other')}`;
  const { code, syscall = 'read' } = error;
  const text = `cannot read ${path}: ${error.message}${more}`;
  const fatal = all.every(([, { code = '' }]) => FOREVER.has(code));
  // The path is one of the configuration: nothing of an event is in the message.
  return Object.assign(new Error(text), { code, syscall, path, loggable: true, fatal });
}
