import { exhaustMap, of, Subscription, timer } from 'rxjs';
import { ChangeWatches } from './change-watches.ts';
import { ChunkReader } from './chunk-reader.ts';
import { Descriptors } from './descriptors.ts';
import { FileTable } from './file-table.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FollowedFile } from './followed-file.ts';
import type { LineBatch } from './line-batch.ts';
import { PathChecks } from './path-checks.ts';
import { PathScanner, type Seen } from './path-scanner.ts';
import { Problems } from './problems.ts';
import { ReadPump } from './read-pump.ts';
import type { Probe } from './scan.ts';

/** Watches save the wait for the next poll, which serves the files beyond. */
const MOST_WATCHES = 1024;

/** What a session emits to: a subscriber. */
export interface LineOutput {
  next(batch: LineBatch): void;
  complete(): void;
}

/** One subscription to `followFiles`: finds the files, tells the pump which of them to read, and forgets them. */
export class FollowSession {
  readonly #settings: FollowSettings;
  readonly #output: LineOutput;
  readonly #table = new FileTable();
  readonly #descriptors: Descriptors;
  readonly #pump: ReadPump;
  readonly #scanner: PathScanner;
  readonly #problems: Problems;
  readonly #watches = new ChangeWatches(MOST_WATCHES);
  readonly #checks: PathChecks;
  readonly #subscriptions = new Subscription();
  #hasScanned = false;
  #reportedBacklog = 0;

  constructor(patterns: readonly string[], settings: FollowSettings, output: LineOutput) {
    this.#settings = settings;
    this.#output = output;
    this.#problems = new Problems(settings.log);
    this.#descriptors = new Descriptors(settings.maxOpenFiles);
    this.#pump = new ReadPump(settings, new ChunkReader(this.#descriptors, settings.chunkBytes), {
      batch: (batch) => output.next(batch),
      progress: (file) => this.#progressed(file),
      failed: (file, error) => this.#report(file.path, error),
      finished: (file) => this.#forget(file),
      idle: () => this.#rest(),
    });
    this.#scanner = new PathScanner(patterns, {
      expected: (path) => this.#table.at(path),
      // At once, so that it can be read even if it is rotated away before its turn comes.
      mayOpen: ({ id }) => this.#table.get(id) === undefined && this.#descriptors.hasRoom,
      found: (found) => this.#found(found),
      notFound: (path, error) => this.#notFound(path, error),
      unmatched: (pattern) => this.#missing(pattern, 'no file matches'),
      scanned: (seen) => this.#sweep(seen),
    });
    this.#checks = new PathChecks((path, done) => this.#scanner.look(path, done));
  }

  start(): void {
    const polls = this.#settings.once ? of(0) : timer(0, this.#settings.pollMs);
    this.#subscriptions.add(polls.pipe(exhaustMap(() => this.#scanner.scan())).subscribe());
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
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
      // One that was just rotated away is no news.
      if (file === undefined) this.#missing(path, 'there is no file');
      return undefined;
    }
    this.#report(path, error);
    return file;
  }

  #found({ path, status, readBefore, expected }: Probe): FollowedFile {
    const known = this.#table.get(status.id);
    const file = known ?? this.#adopt(path, status);
    if ('fd' in status) {
      this.#problems.over(path);
      this.#descriptors.attach(file, status.fd);
    }
    if (known !== undefined) this.#update(known, status.size, known === expected ? readBefore : 0);
    this.#table.lead(path, file);
    if (known === undefined) this.#pump.add(file);
    return file;
  }

  #adopt(path: string, { id, size }: Probe['status']): FollowedFile {
    const found = { id, size, path, existed: !this.#hasScanned };
    const offset = this.#settings.positions.startAt(found);
    const file = this.#table.add(found, offset <= size ? offset : 0);
    file.isFinishing = this.#settings.once;
    const previous = this.#table.at(path);
    if (previous !== undefined) {
      file.isHeldBack = true;
      previous.successors.push(file);
      this.#pump.add(previous);
    }
    if (!this.#settings.once) this.#watches.start(file, (hasMoved) => this.#changed(file, hasMoved));
    return file;
  }

  #update(file: FollowedFile, size: number, readBefore: number): void {
    if (size < readBefore) file.isTruncated = true;
    file.size = file.isTruncated ? size : Math.max(size, file.lines.readOffset);
    this.#table.count(file);
    if (file.unread > 0 || file.isTruncated) this.#pump.add(file);
  }

  /** All paths were looked at. */
  #sweep(seen: Seen): void {
    this.#table.prune(seen);
    const { once, quietPolls, log } = this.#settings;
    if (!this.#hasScanned) log.info(`following ${this.#table.size} files`, { files: this.#table.size });
    this.#hasScanned = true;
    if (!once) for (const file of this.#table.files()) this.#inspect(file, !seen.has(file), quietPolls);
    this.#reportBacklog();
    this.#rest();
  }

  #inspect(file: FollowedFile, isGone: boolean, quietPolls: number): void {
    file.isGone = isGone;
    if (isGone && file.fd === undefined && !file.isBusy) {
      this.#forget(file);
      return;
    }
    if (file.isAtEnd) file.quietPolls++;
    file.isFinishing = file.quietPolls >= quietPolls && (isGone || file.lines.isHolding);
    // Whoever wrote to a file that was rotated away may go on for a while.
    if (isGone || file.isFinishing) this.#pump.add(file);
  }

  #changed(file: FollowedFile, mayHaveMoved: boolean): void {
    const wasAtEnd = file.isAtEnd;
    // What is open is read whatever its path leads to by now.
    if (file.fd !== undefined) this.#pump.add(file);
    if (!file.isGone && (wasAtEnd || mayHaveMoved)) this.#checks.check(file);
  }

  #forget(file: FollowedFile): void {
    if (file.unread > 0) {
      const fields = { path: file.path, bytes: file.unread };
      this.#settings.log.warn(`${file.path} went away or failed before it was read to its end`, fields);
    }
    this.#watches.end(file);
    this.#descriptors.release(file);
    this.#table.remove(file);
    this.#pump.remove(file);
    if (file.isGone) this.#settings.positions.forget(file.id);
    this.#reportBacklog();
  }

  #progressed(file: FollowedFile): void {
    file.size = Math.max(file.size, file.lines.readOffset);
    this.#problems.over(file.path);
    this.#table.count(file);
    this.#reportBacklog();
  }

  #rest(): void {
    if (this.#settings.once && this.#hasScanned && this.#pump.isIdle) this.#output.complete();
  }

  #missing(path: string, what: string): void {
    const outcome = this.#settings.once ? '' : '; waiting for one';
    this.#problems.report(path, 'ENOENT', `${what}: ${path}${outcome}`);
  }

  #report(path: string, error: NodeJS.ErrnoException): void {
    this.#problems.report(path, error.code ?? error.name, `cannot read ${path}: ${error.message}`);
  }

  #reportBacklog(): void {
    const { unread } = this.#table;
    if (unread === this.#reportedBacklog) return;
    this.#reportedBacklog = unread;
    this.#settings.onBacklog(unread);
  }
}
