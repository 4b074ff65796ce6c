import {
  concat,
  exhaustMap,
  finalize,
  ignoreElements,
  type Observable,
  Subscription,
  takeWhile,
  tap,
  timer,
} from 'rxjs';
import { counted } from '../../support/counted.ts';
import { Arrivals } from './arrivals.ts';
import { ChangeWatches } from './change-watches.ts';
import { ChunkReader } from './chunk-reader.ts';
import { Descriptors } from './descriptors.ts';
import { earlierFiles } from './earlier-files.ts';
import { FileTable } from './file-table.ts';
import type { FollowSettings, KnownFile } from './follow-settings.ts';
import type { FollowedFile } from './followed-file.ts';
import type { LineBatch } from './line-batch.ts';
import { isAbsence, isShortage } from './list-folder.ts';
import { findMoved } from './moved-files.ts';
import { PathChecks } from './path-checks.ts';
import { PathScanner, type Seen } from './path-scanner.ts';
import { Problems } from './problems.ts';
import { ReadPump } from './read-pump.ts';
import type { FileId } from './regular-file.ts';
import { mayRest } from './resting.ts';
import { replace } from './truncation.ts';

/** Milliseconds after which files are read again for which no descriptor was left. */
const SHORTAGE_MS = 250;
/** Every so many polls, files of earlier runs are looked for that could not be opened before. */
const EARLIER_POLLS = 5;
/** Milliseconds after which positions are looked through that are kept for files that are gone. */
const HOUR_MS = 3600_000;

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
  /** The files that wait for a descriptor to be free. */
  readonly #waiting = new Set<FollowedFile>();
  #isSeeking = false;
  /** Files of earlier runs that may have been renamed, and were not opened yet. */
  #earlier: readonly KnownFile[] = [];
  /** Some of them for want of descriptors. */
  #isShort = false;
  /** With `once`: what could not be read, by path. */
  readonly #unreadable = new Map<string, NodeJS.ErrnoException>();
  #reportedBacklog = 0;

  constructor(patterns: readonly string[], settings: FollowSettings, output: LineOutput) {
    this.#patterns = patterns;
    this.#settings = settings;
    this.#output = output;
    this.#problems = new Problems(settings.log);
    this.#table = new FileTable(settings);
    this.#descriptors = new Descriptors(settings.maxOpenFiles);
    const reader = new ChunkReader(this.#descriptors, settings, (file, start) => {
      settings.positions.recognised?.(file.id, file.head.fingerprint, start);
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
      isExcluded: settings.isExcluded,
      known: () => this.#table.paths(),
      expected: (path) => this.#table.at(path),
      isKnown: (id) => this.#table.get(id) !== undefined,
      // At once, so that it can be read even if it is rotated away before its turn comes.
      mayKeepOpen: () => this.#descriptors.hasRoom,
      resting: (path) => this.#resting(path),
      rotated: (path, id) => this.#rotated(path, id),
      foundRotated: (path, opened) => this.#arrivals.foundRotated(path, opened),
      found: (found) => {
        if ('fd' in found.status) this.#problems.over(found.path);
        return this.#arrivals.found(found);
      },
      notFound: (path, error) => this.#notFound(path, error),
      unmatched: (pattern, excluded) => this.#missing(pattern, unmatched(excluded)),
      unlisted: (path, error) => this.#unlisted(path, error),
      listed: (path) => this.#problems.over(path),
      scanned: (seen, isComplete) => this.#sweep(seen, isComplete),
    });
    this.#checks = new PathChecks((path, done) => this.#scanner.look(path, done), settings.scheduler);
  }

  start(): void {
    const { once, pollMs, positions, scheduler } = this.#settings;
    const polls = timer(0, pollMs, scheduler).pipe(takeWhile(() => !once || !this.#arrivals.hasBegun));
    const scan = (poll: number) => {
      if (poll === 0) this.#earlier = [...(positions.known?.() ?? [])];
      return poll % EARLIER_POLLS === 0
        ? concat(this.#findEarlier(), this.#scanner.scan())
        : this.#scanner.scan();
    };
    this.#subscriptions.add(polls.pipe(exhaustMap(scan)).subscribe());
    this.#subscriptions.add(this.#settings.demand.room$.subscribe(() => this.#pump.run()));
    const isThere = (id: FileId) => this.#table.get(id) !== undefined;
    if (!once)
      this.#subscriptions.add(timer(HOUR_MS, HOUR_MS, scheduler).subscribe(() => positions.found?.(isThere)));
  }

  #findEarlier(): Observable<never> {
    const later: KnownFile[] = [];
    this.#isShort = false;
    const notNow = (file: KnownFile, path: string, error?: NodeJS.ErrnoException) => {
      later.push(file);
      if (error === undefined) return;
      this.#isShort ||= isShortage(error);
      if (!isAbsence(error) && !isShortage(error)) this.#report(path, error);
    };
    const files = this.#earlier.filter(({ id }) => this.#table.get(id) === undefined);
    return earlierFiles(files, notNow).pipe(
      tap((earlier) => {
        this.#problems.over(earlier.path);
        this.#arrivals.foundEarlier(earlier);
      }),
      ignoreElements(),
      finalize(() => {
        this.#earlier = later;
      }),
    );
  }

  close(): void {
    this.#subscriptions.unsubscribe();
    this.#scanner.close();
    this.#pump.close();
    this.#table.close();
    this.#watches.endAll();
    this.#checks.close();
    this.#descriptors.releaseAll();
  }

  #notFound(path: string, error: NodeJS.ErrnoException): FollowedFile | undefined {
    const file = this.#table.at(path);
    if (file !== undefined) file.rests = 0;
    if (isAbsence(error)) {
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
  #sweep(seen: Seen, isComplete: boolean): void {
    this.#table.prune(seen);
    const { once, positions } = this.#settings;
    if (!this.#arrivals.hasBegun && isComplete && !this.#isShort) {
      positions.found?.((id) => this.#table.get(id) !== undefined);
      this.#tellFollowed();
      this.#arrivals.hasBegun = true;
    }
    if (!once) {
      for (const file of [...this.#table.files()]) this.#inspect(file, !seen.has(file));
      this.#seek();
    }
    this.#reportBacklog();
    this.#rest();
  }

  #tellFollowed(): void {
    const all = [...this.#table.files()];
    const files = all.filter(({ isReadable }) => isReadable).length;
    const others = all.length - files;
    const more = others === 0 ? '' : `; ${counted(others, 'other')} cannot be read`;
    this.#settings.log.info(`following ${counted(files, 'file')}${more}`, { files });
  }

  #inspect(file: FollowedFile, isGone: boolean): void {
    file.isGone = isGone;
    if (!isGone) file.isMoved = undefined;
    if (isLost(file)) {
      if (file.isMoved === false) this.#forget(file);
      return;
    }
    if (file.isAtEnd) file.quietPolls++;
    const { quietPolls, flushPolls } = this.#settings;
    if (file.isAtEnd && file.quietPolls >= quietPolls) this.#pump.freeSuccessors(file);
    file.isFinishing = isGone
      ? file.quietPolls >= quietPolls
      : file.isHolding && file.quietPolls >= flushPolls;
    // Whoever wrote to a file that was rotated away may go on for a while.
    if (isGone || file.isFinishing) this.#pump.add(file);
  }

  /** Files that were rotated away while they were not open are found by their new names, or given up at the next poll. */
  #seek(): void {
    const lost = new Set([...this.#table.files()].filter((file) => isLost(file)));
    if (lost.size === 0 || this.#isSeeking) return;
    this.#isSeeking = true;
    const next = ({ file, path }: { file: FollowedFile; path: string }) => {
      lost.delete(file);
      file.isMoved = true;
      file.path = path;
      this.#pump.add(file);
    };
    const complete = () => {
      this.#isSeeking = false;
      for (const file of lost) file.isMoved = false;
    };
    const unknown = (file: FollowedFile, error: NodeJS.ErrnoException) => {
      if (!isAbsence(error)) lost.delete(file);
    };
    this.#subscriptions.add(findMoved(lost, unknown).subscribe({ next, complete }));
  }

  #resting(path: string): FollowedFile | undefined {
    const file = this.#table.at(path);
    return file !== undefined && mayRest(file, this.#watches.has(file)) ? file : undefined;
  }

  /** What a glob matches under its new name is found anyway. */
  #rotated(path: string, id: FileId | undefined): FollowedFile | undefined {
    const last = this.#table.at(path);
    if (last === undefined || last.id === id || last.isLinked || this.#settings.once) return undefined;
    return this.#patterns.includes(path) ? last : undefined;
  }

  #changed(file: FollowedFile, mayHaveMoved: boolean): void {
    const wasAtEnd = file.isAtEnd;
    file.rests = 0;
    // What is open is read whatever its path leads to by now.
    if (file.fd !== undefined) this.#pump.add(file);
    // What took a name that is not followed is not looked at: it would count as followed there.
    const isAtItsPath = !file.isGone && !file.isRenamed;
    if (isAtItsPath && (wasAtEnd || mayHaveMoved)) this.#checks.check(file);
  }

  /** One that is read stays known until all paths were looked at: another of them may lead to it. */
  #finished(file: FollowedFile): void {
    if (this.#arrivals.hasBegun || file.isGone) this.#forget(file);
    else this.#descriptors.release(file);
  }

  #forget(file: FollowedFile): void {
    const { path, unread: bytes } = file;
    const { log, onGap, positions } = this.#settings;
    // Of one that is there, and cannot be read, was said why.
    if (bytes > 0 && file.isGone) {
      onGap(bytes);
      log.warn(`${path} went away before it was read to its end`, { path, bytes });
    }
    this.#watches.end(file);
    this.#table.remove(file);
    this.#waiting.delete(file);
    if (file.isGone) {
      const { id, lines } = file;
      const { offset, isUnterminated, tail } = lines;
      positions.forget(id, { offset, isUnterminated, tail });
      this.#descriptors.releaseGone(file, () => positions.deleted?.(id));
    }
    this.#descriptors.release(file);
    this.#pump.remove(file);
    this.#reportBacklog();
  }

  #failed(file: FollowedFile, error: NodeJS.ErrnoException): void {
    if (isShortage(error)) this.#wait(file, error);
    else if (this.#settings.once || !(error.code === 'MOVED' || isAbsence(error)))
      this.#report(file.path, error);
    // By now it may have another name again.
    else file.isMoved = undefined;
    this.#table.count(file);
    this.#reportBacklog();
  }

  /** There is no descriptor for a file: one is closed that can be opened again, and it is tried again. */
  #wait(file: FollowedFile, error: NodeJS.ErrnoException): void {
    this.#descriptors.makeRoom();
    if (this.#waiting.size === 0) {
      const retry = timer(SHORTAGE_MS, this.#settings.scheduler).subscribe(() => this.#readWaiting());
      this.#subscriptions.add(retry);
      const text =
        'too few descriptors to open files: trying again; raise the limit of open files (ulimit -n)';
      this.#problems.report(SHORTAGE, error.code as string, text);
    }
    this.#waiting.add(file);
  }

  #readWaiting(): void {
    const files = [...this.#waiting];
    this.#waiting.clear();
    for (const file of files) this.#pump.add(file);
    if (this.#waiting.size === 0) this.#problems.over(SHORTAGE);
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
    if (!this.#settings.once || !this.#arrivals.hasBegun) return;
    if (!this.#pump.isIdle || this.#waiting.size > 0) return;
    const all = [...this.#unreadable];
    if (all.length === 0) this.#output.complete();
    else this.#output.error(unreadable(all));
  }

  #missing(path: string, what: string): void {
    const { once, allowMissing } = this.#settings;
    if (once && !allowMissing) this.#unreadable.set(path, missing(what));
    this.#problems.report(path, 'ENOENT', `${what}: ${path}${once ? '' : '; waiting for one'}`);
  }

  /** It may hold files for all that is known. */
  #unlisted(folder: string, error: NodeJS.ErrnoException): void {
    // Then it is listed again.
    if (isShortage(error) && !this.#arrivals.hasBegun) return;
    if (this.#settings.once) this.#unreadable.set(folder, error);
    this.#problems.report(folder, error.code ?? error.name, `cannot list ${folder}: ${error.message}`);
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

/** A shortage of descriptors is not the fault of one path. */
const SHORTAGE = 'descriptors';

/** Whether a file is gone that is not open, and is not found by a new name. */
function isLost({ isGone, isBusy, isMoved, fd }: FollowedFile): boolean {
  return isGone && fd === undefined && !isBusy && isMoved !== true;
}

function unmatched(excluded: number): string {
  return excluded === 0 ? 'no file matches' : `no file matches but ${excluded} that \`exclude\` leaves out`;
}

function missing(what: string): NodeJS.ErrnoException {
  const message = `${what}; correct \`paths\`, or set \`allow_missing: true\` if that may be`;
  return Object.assign(new Error(message), { code: 'NO_FILE' });
}

/** Errors that waiting and trying again cannot fix. */
const FOREVER = new Set(['NOT_TEXT', 'NOT_A_FILE', 'NO_FILE', 'EACCES', 'EPERM']);

function unreadable(all: readonly [path: string, error: NodeJS.ErrnoException][]): Error {
  const [[path, error]] = all as [(typeof all)[number]];
  const more = all.length === 1 ? '' : `; nor ${counted(all.length - 1, 'other')}`;
  const { code, syscall = 'read' } = error;
  const text = `cannot read ${path}: ${error.message}${more}`;
  const fatal = all.every(([, { code = '' }]) => FOREVER.has(code));
  // The path is one of the configuration: nothing of an event is in the message.
  return Object.assign(new Error(text), { code, syscall, path, loggable: true, fatal });
}
