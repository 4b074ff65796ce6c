import { exhaustMap, Subscription, takeWhile, timer } from 'rxjs';
import { counted } from '../../support/counted.ts';
import { closeFile, isMissing } from '../../support/file-system.ts';
import { Backlog } from './backlog.ts';
import { ChunkReader } from './chunk-reader.ts';
import { Descriptors } from './descriptors.ts';
import { earlierFiles } from './earlier-files.ts';
import { isShortage } from './file-status.ts';
import { findMoved } from './find-moved.ts';
import { FollowProblems } from './follow-problems.ts';
import type { FollowSettings, KnownFile } from './follow-settings.ts';
import type { FollowedFile } from './followed-file.ts';
import { FollowedFiles } from './followed-files.ts';
import type { LineBatch } from './line-block.ts';
import { LookSchedule } from './look-schedule.ts';
import { LossReport } from './loss-report.ts';
import { PathScanner } from './path-scanner.ts';
import { ReadPump } from './read-pump.ts';
import type { Seen } from './sighting.ts';

/** Milliseconds after which files are read again for which no descriptor was left. */
const SHORTAGE_MS = 250;
/** Polls between two searches for files of earlier runs that could not be opened before. */
const EARLIER_POLLS = 5;
/** Polls between two notes of how long files are that are not read to their ends. */
const SIZE_POLLS = 5;
/** Milliseconds between two clean-ups of the positions of files that are gone. */
const HOUR_MS = 3600_000;

interface LineOutput {
  next(batch: LineBatch): void;
  complete(): void;
  error(error: Error): void;
}

/** One subscription to `followFiles`: polls the paths, tells the pump which files to read, and forgets them. */
export class FollowSession {
  readonly #settings: FollowSettings;
  readonly #output: LineOutput;
  readonly #problems: FollowProblems;
  readonly #descriptors: Descriptors;
  readonly #pump: ReadPump;
  readonly #files: FollowedFiles;
  readonly #looks = new LookSchedule();
  readonly #losses: LossReport;
  readonly #backlog: Backlog;
  readonly #scanner: PathScanner;
  readonly #subscriptions = new Subscription();
  /** The files that wait for a descriptor to be free. */
  readonly #waiting = new Set<FollowedFile>();
  #isSeeking = false;
  /** Files of earlier runs that may have been renamed, and were not opened yet. */
  #earlier: readonly KnownFile[] = [];
  /** Some of them could not be opened for lack of descriptors. */
  #isShort = false;

  constructor(patterns: readonly string[], settings: FollowSettings, output: LineOutput) {
    this.#settings = settings;
    this.#output = output;
    this.#problems = new FollowProblems(patterns, settings);
    this.#losses = new LossReport(settings);
    this.#backlog = new Backlog(settings.onBacklog);
    this.#descriptors = new Descriptors(settings.maxOpenFiles);
    const reader = new ChunkReader(this.#descriptors, settings, (file, start) => {
      settings.positions.recognised?.(file.id, file.reading.fingerprint, start);
    });
    this.#pump = new ReadPump(settings, reader, {
      batch: (batch) => output.next(batch),
      progress: (file) => this.#progressed(file),
      startsOver: (file, verdict) => this.#losses.startsOver(file, verdict),
      failed: (file, error) => this.#failed(file, error),
      finished: (file) => this.#finished(file),
      idle: () => this.#completeIfDone(),
    });
    const parts = { settings, descriptors: this.#descriptors, looks: this.#looks };
    this.#files = new FollowedFiles({
      ...parts,
      backlog: this.#backlog,
      losses: this.#losses,
      pump: this.#pump,
      changed: (file, mayHaveMoved) => this.#changed(file, mayHaveMoved),
    });
    this.#scanner = new PathScanner(patterns, { ...parts, files: this.#files, problems: this.#problems });
  }

  start(): void {
    const { once, pollMs, scheduler, demand } = this.#settings;
    const polls = timer(0, pollMs, scheduler).pipe(
      takeWhile(() => !once || !this.#files.hasBegun),
      exhaustMap((poll) => this.#poll(poll)),
    );
    this.#subscriptions.add(polls.subscribe());
    this.#subscriptions.add(demand.room$.subscribe(() => this.#pump.run()));
    if (once) return;
    const hours = timer(HOUR_MS, HOUR_MS, scheduler);
    this.#subscriptions.add(hours.subscribe(() => this.#reportFound()));
  }

  close(): void {
    this.#subscriptions.unsubscribe();
    this.#scanner.close();
    this.#pump.close();
    this.#looks.close();
    this.#files.close();
    this.#descriptors.close();
  }

  async #poll(poll: number): Promise<void> {
    if (poll === 0) this.#earlier = [...(this.#settings.positions.known?.() ?? [])];
    if (poll % EARLIER_POLLS === 0) await this.#findEarlier();
    const { seen, isComplete } = await this.#scanner.scan();
    if (this.#subscriptions.closed) return;
    this.#scanned(seen, isComplete);
    if (poll % SIZE_POLLS === 0) this.#noteSizes();
  }

  async #findEarlier(): Promise<void> {
    const later: KnownFile[] = [];
    this.#isShort = false;
    const notNow = (file: KnownFile, path: string, error?: NodeJS.ErrnoException) => {
      later.push(file);
      if (error === undefined) return;
      this.#isShort ||= isShortage(error);
      if (!isMissing(error) && !isShortage(error)) this.#problems.unreadable(path, error);
    };
    const files = this.#earlier.filter(({ id }) => !this.#files.has(id));
    for await (const earlier of earlierFiles(files, notNow)) {
      if (this.#subscriptions.closed) {
        closeFile(earlier.opened.fd);
        return;
      }
      this.#problems.over(earlier.path);
      this.#files.foundEarlier(earlier);
    }
    this.#earlier = later;
  }

  #scanned(seen: Seen, isComplete: boolean): void {
    this.#files.prune(seen);
    const { once } = this.#settings;
    if (!this.#files.hasBegun && isComplete && !this.#isShort) {
      this.#reportFound();
      this.#logFollowed();
      this.#files.begin();
    }
    if (!once) {
      for (const file of this.#files.all) this.#inspect(file, seen.has(file));
      this.#findLost();
    }
    this.#backlog.report();
    this.#completeIfDone();
  }

  #reportFound(): void {
    const later = new Set(this.#earlier.map(({ id }) => id));
    this.#settings.positions.found?.(
      (id) => this.#files.has(id),
      (id) => later.has(id),
    );
  }

  /** What becomes of a file that is gone by the next run is known only from its position. */
  #noteSizes(): void {
    for (const { id, size, unread } of this.#files.all) {
      if (unread > 0) this.#settings.positions.seen?.(id, size);
    }
  }

  #logFollowed(): void {
    const { all } = this.#files;
    const files = all.filter(({ isReadable }) => isReadable).length;
    const others = all.length - files;
    const more = others === 0 ? '' : `; ${counted(others, 'other')} cannot be read`;
    this.#settings.log.info(`following ${counted(files, 'file')}${more}`, { files });
  }

  #inspect(file: FollowedFile, isThere: boolean): void {
    file.scanned({ isThere });
    if (!this.#isOutOfReach(file)) this.#pump.polled(file);
    else if (file.isLost) this.#forget(file);
  }

  /** Whether a file is gone that is not open, and was not found by a new name. */
  #isOutOfReach(file: FollowedFile): boolean {
    if (file.canBeReopened) return false;
    return this.#descriptors.of(file) === undefined && !this.#descriptors.isBusy(file);
  }

  /** Files that were rotated away while they were not open are found by their new names, or given up at the next poll. */
  async #findLost(): Promise<void> {
    const lost = new Set(this.#files.all.filter((file) => this.#isOutOfReach(file)));
    if (lost.size === 0 || this.#isSeeking) return;
    this.#isSeeking = true;
    const found = ({ file, path }: { file: FollowedFile; path: string }) => {
      lost.delete(file);
      if (this.#subscriptions.closed) return;
      file.foundElsewhere(path);
      this.#pump.add(file);
    };
    const unknown = (file: FollowedFile, error: NodeJS.ErrnoException) => {
      if (!isMissing(error)) lost.delete(file);
    };
    await findMoved([...lost], found, unknown);
    this.#isSeeking = false;
    for (const file of lost) file.notFound();
  }

  #changed(file: FollowedFile, mayHaveMoved: boolean): void {
    const wasAtEnd = file.end.isReached;
    // What is open is read whatever its path leads to by now.
    if (this.#descriptors.of(file) !== undefined) this.#pump.add(file);
    // A file that took a name that is not followed is not looked at: it would count as followed there.
    const isAtItsPath = !file.isGone && !file.isRenamed;
    if (isAtItsPath && (wasAtEnd || mayHaveMoved)) this.#scanner.check(file);
  }

  /** A file that is read stays known until all paths were looked at: another of them may lead to it. */
  #finished(file: FollowedFile): void {
    if (this.#files.hasBegun || file.isGone) this.#forget(file);
    else this.#descriptors.release(file);
  }

  #forget(file: FollowedFile): void {
    const { id } = file;
    const { positions } = this.#settings;
    this.#losses.gone(file);
    this.#files.remove(file);
    this.#waiting.delete(file);
    if (file.isGone) {
      const { offset, isUnterminated, tail } = file.reading.lines;
      positions.forget(id, { offset, isUnterminated, tail });
      this.#descriptors.releaseGone(file, () => positions.deleted?.(id));
    }
    this.#descriptors.release(file);
    this.#pump.remove(file);
    this.#backlog.report();
  }

  #failed(file: FollowedFile, error: NodeJS.ErrnoException): void {
    if (isShortage(error)) this.#waitForDescriptor(file, error);
    else if (this.#settings.once || !(error.code === 'MOVED' || isMissing(error)))
      this.#problems.unreadable(file.path, error);
    // It may have been renamed once more: it is searched for again.
    else file.moved();
    if (error.code === 'NOT_TEXT') file.refused();
    this.#backlog.count(file);
    this.#backlog.report();
  }

  /** There is no descriptor for a file: closes one that can be opened again, and tries again later. */
  #waitForDescriptor(file: FollowedFile, error: NodeJS.ErrnoException): void {
    this.#descriptors.makeRoom();
    if (this.#waiting.size === 0) {
      const retry = timer(SHORTAGE_MS, this.#settings.scheduler).subscribe(() => this.#readWaiting());
      this.#subscriptions.add(retry);
      this.#problems.shortage(error);
    }
    this.#waiting.add(file);
  }

  #readWaiting(): void {
    const files = [...this.#waiting];
    this.#waiting.clear();
    for (const file of files) this.#pump.add(file);
    if (this.#waiting.size === 0) this.#problems.shortageOver();
  }

  #progressed(file: FollowedFile): void {
    file.progressed();
    this.#losses.skipped(file);
    this.#problems.over(file.path);
    this.#backlog.count(file);
    this.#backlog.report();
  }

  /** With `once`, completes when everything is read. */
  #completeIfDone(): void {
    if (!this.#settings.once || !this.#files.hasBegun) return;
    if (!this.#pump.isIdle || this.#waiting.size > 0) return;
    const { failure } = this.#problems;
    if (failure === undefined) this.#output.complete();
    else this.#output.error(failure);
  }
}
