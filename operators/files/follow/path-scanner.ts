import { lastValueFrom, Subject, takeUntil, timer } from 'rxjs';
import { closeFile, isMissing } from '../../support/file-system.ts';
import type { Descriptors } from './descriptors.ts';
import { expandPaths, GlobListings } from './expand-paths.ts';
import { eachLimited, type FileChange, type FileId, isShortage, openFile, statFile } from './file-status.ts';
import { findRotated } from './find-rotated.ts';
import type { FollowProblems } from './follow-problems.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FollowedFile } from './followed-file.ts';
import type { FollowedFiles } from './followed-files.ts';
import { isGlob } from './glob-pattern.ts';
import type { LookSchedule } from './look-schedule.ts';
import type { Seen, Sighting } from './sighting.ts';

/** The maximum number of concurrent status calls: with more, reads would wait for them in the thread pool. */
const PROBES_AT_A_TIME = 16;
/** Milliseconds to the next look at a path where nothing is, and how often: between its two renames a rotation has a gap. */
const GAP_MS = 20;
const LOOKS_INTO_A_GAP = 50;

interface PathScannerParts {
  readonly settings: FollowSettings;
  readonly files: FollowedFiles;
  readonly descriptors: Descriptors;
  readonly looks: LookSchedule;
  readonly problems: FollowProblems;
}

/** Looks at the files that `patterns` lead to. */
export class PathScanner {
  readonly #patterns: readonly string[];
  readonly #parts: PathScannerParts;
  readonly #listings: GlobListings;
  /** The patterns that are paths. */
  readonly #literals: ReadonlySet<string>;
  /** The folders that could not be listed last time. */
  #unlisted: ReadonlyMap<string, unknown> = new Map();
  /** The paths where files are searched for that were rotated away unseen; fulfilled when the search is over. */
  readonly #searches = new Map<string, Promise<unknown>>();
  /** The files whose paths are being checked; true if they changed meanwhile. */
  readonly #checks = new Map<FollowedFile, boolean>();
  readonly #closed$ = new Subject<void>();
  #isClosed = false;

  constructor(patterns: readonly string[], parts: PathScannerParts) {
    this.#patterns = patterns;
    this.#parts = parts;
    this.#listings = new GlobListings(parts.settings.isExcluded);
    this.#literals = new Set(patterns.filter((pattern) => !isGlob(pattern)));
  }

  /** Looks at all paths once. `isComplete`: except for what a lack of descriptors hides. */
  async scan(): Promise<{ readonly seen: Seen; readonly isComplete: boolean }> {
    const { files, looks, problems } = this.#parts;
    const { paths, unmatched, unlisted, isFolderReplaced } = await expandPaths(this.#patterns, {
      listings: this.#listings,
      known: () => files.paths(),
    });
    const seen: Seen = new Map();
    if (this.#isClosed) return { seen, isComplete: false };
    for (const { pattern, excluded } of unmatched) problems.unmatched(pattern, excluded);
    for (const [folder, error] of unlisted) {
      // At the start, a folder that a shortage hides is listed again before anything else.
      if (files.hasBegun || !isShortage(error)) problems.unlisted(folder, error);
    }
    for (const folder of this.#unlisted.keys()) if (!unlisted.has(folder)) problems.over(folder);
    this.#unlisted = unlisted;
    if (isFolderReplaced) looks.expectAll();
    const see = (path: string, file: FollowedFile) => {
      const places = seen.get(file);
      if (places === undefined) seen.set(file, [path]);
      else places.push(path);
    };
    const toLookAt: string[] = [];
    for (const path of paths) {
      // Only a glob tells that a folder was replaced, which no watch on a file in it shows.
      const file = files.at(path);
      if (file !== undefined && looks.skips(file, { mayRest: !this.#literals.has(path) })) see(path, file);
      else toLookAt.push(path);
    }
    await eachLimited(toLookAt, PROBES_AT_A_TIME, async (path) => {
      const file = await this.#look(path, { inGap: true });
      if (file !== undefined) see(path, file);
    });
    return { seen, isComplete: ![...unlisted.values()].some(isShortage) };
  }

  /** Looks at the path of a file that changed between two polls. A change during the look causes one more. */
  async check(file: FollowedFile): Promise<void> {
    if (this.#checks.has(file)) {
      this.#checks.set(file, true);
      return;
    }
    do {
      this.#checks.set(file, false);
      for (let looks = 0; looks <= LOOKS_INTO_A_GAP; looks++) {
        if ((await this.#look(file.path)) !== undefined || this.#isClosed) break;
        if (looks < LOOKS_INTO_A_GAP) await this.#pause(GAP_MS);
      }
    } while (this.#checks.get(file) === true && !this.#isClosed);
    this.#checks.delete(file);
  }

  /** Looks that are under way have no effect any more. */
  close(): void {
    this.#isClosed = true;
    this.#closed$.next();
  }

  /** Looks at one path. `inGap`: if nothing is there, also for files that were there and were rotated away unseen. */
  async #look(path: string, { inGap = false } = {}): Promise<FollowedFile | undefined> {
    while (!this.#isClosed) {
      await this.#searches.get(path);
      const found = await this.#probe(path);
      const isFound = 'status' in found;
      if (this.#isClosed) {
        if (isFound) closeSighting(found);
        return undefined;
      }
      if (this.#searches.has(path)) {
        // It may be older than what the search finds.
        if (isFound) closeSighting(found);
        continue;
      }
      const mayHaveRotated = isFound || (inGap && isMissing(found.error));
      const last = mayHaveRotated
        ? this.#rotatedFrom(path, isFound ? found.status.id : undefined)
        : undefined;
      if (last === undefined) return this.#takeIn(path, found);
      const search = this.#searchRotated(path, last, found);
      this.#searches.set(path, search);
      const taken = await search;
      if (taken !== 'rotated') return taken.file;
    }
    return undefined;
  }

  /** The file that was at `path`, if there is none now or another one, and others may have been there in between. */
  #rotatedFrom(path: string, id: FileId | undefined): FollowedFile | undefined {
    const { settings, files } = this.#parts;
    const last = files.at(path);
    if (last === undefined || last.id === id || last.isLinked || settings.once) return undefined;
    // What a glob matches is found by its new name anyway.
    return this.#literals.has(path) ? last : undefined;
  }

  /** Takes in the files that were rotated away unseen, then what is at the path. `rotated`: that was one of them. */
  async #searchRotated(
    path: string,
    last: FollowedFile,
    found: Sighting | Failure,
  ): Promise<{ readonly file: FollowedFile | undefined } | 'rotated'> {
    const { settings, files, descriptors } = this.#parts;
    const { isExcluded } = settings;
    const rotated = await findRotated(path, last, {
      isExcluded,
      isKnown: (file) => files.isKnown(file),
      descriptor: () => descriptors.of(last),
    });
    for (const file of rotated) {
      if (this.#isClosed) closeFile(file.fd);
      else files.foundRotated(path, file);
    }
    this.#searches.delete(path);
    const isFound = 'status' in found;
    if (this.#isClosed || (isFound && rotated.some(({ id }) => id === found.status.id))) {
      if (isFound) closeSighting(found);
      return this.#isClosed ? { file: undefined } : 'rotated';
    }
    return { file: this.#takeIn(path, found) };
  }

  #takeIn(path: string, found: Sighting | Failure): FollowedFile | undefined {
    const { files, looks, problems } = this.#parts;
    if ('status' in found) {
      if ('fd' in found.status) problems.over(path);
      return files.found(found);
    }
    const { error } = found;
    const file = files.at(path);
    if (file !== undefined) looks.expect(file);
    if (!isMissing(error)) {
      problems.unreadable(path, error);
      return file;
    }
    // One that was just rotated away is not reported.
    if (file === undefined) problems.missing(path, error);
    return undefined;
  }

  /** Looks at a path, and into the file there if it is not known. */
  async #probe(path: string): Promise<Sighting | Failure> {
    const { files, descriptors } = this.#parts;
    const expected = files.at(path);
    const reading = expected?.reading;
    const before = { bytes: reading?.lines.readOffset ?? 0, restarts: reading?.restarts ?? 0 };
    let status: FileChange;
    try {
      status = await statFile(path);
    } catch (error) {
      return { error: error as NodeJS.ErrnoException };
    }
    // What cannot be opened now is followed all the same: its first read tells why.
    const opened = files.has(status.id) ? undefined : await openFile(path, status).catch(() => undefined);
    const sighting = { path, status, head: opened?.head, expected, before };
    if (opened === undefined) return sighting;
    // Kept open, so that it can be read even if it is rotated away before its turn comes.
    if (descriptors.hasRoom) return { ...sighting, status: opened };
    closeFile(opened.fd);
    const { fd: _, ...closed } = opened;
    return { ...sighting, status: closed };
  }

  #pause(ms: number): Promise<unknown> {
    const wait$ = timer(ms, this.#parts.settings.scheduler).pipe(takeUntil(this.#closed$));
    return lastValueFrom(wait$, { defaultValue: undefined });
  }
}

interface Failure {
  readonly error: NodeJS.ErrnoException;
}

function closeSighting({ status }: Sighting): void {
  if ('fd' in status) closeFile(status.fd);
}
