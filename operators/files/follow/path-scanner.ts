import { from, mergeMap, Observable } from 'rxjs';
import { type ExpandedPaths, expandPaths } from './expand-paths.ts';
import type { FollowedFile } from './followed-file.ts';
import { GlobListings } from './glob-listings.ts';
import { isAbsence, isShortage } from './list-folder.ts';
import { closeFile, type FileId, type OpenFile } from './regular-file.ts';
import { findRotated } from './rotated-siblings.ts';
import { eachLimited, type Probe, probe } from './scan.ts';

/** Status calls under way at a time: more would make reads wait in the thread pool behind them. */
const PROBES_AT_A_TIME = 16;

/** The paths at which each file was found. */
export type Seen = Map<FollowedFile, Set<string>>;

/** What the scanner tells its owner, who keeps the files. */
export interface ScanEvents {
  /** Whether a file that a glob matches is left out. */
  isExcluded(path: string): boolean;
  /** The paths at which files are followed. */
  known(): Iterable<string>;
  /** The file that is expected at `path`. */
  expected(path: string): FollowedFile | undefined;
  isKnown(id: FileId): boolean;
  /** Whether a file that is not known may be kept open. */
  mayKeepOpen(): boolean;
  /** The file at `path` if nothing can have happened to it unnoticed: it is not looked at this time. */
  resting(path: string): FollowedFile | undefined;
  /** The file that was at `path`, if there is none now or another one, and others may have been there in between. */
  rotated(path: string, id: FileId | undefined): FollowedFile | undefined;
  /** A file was at `path`, and was rotated away before it was seen there. */
  foundRotated(path: string, file: OpenFile): void;
  /** There is a file. Returns which one it is. */
  found(found: Probe): FollowedFile;
  /** There is none. Returns the one that is there all the same, though it cannot be looked at. */
  notFound(path: string, error: NodeJS.ErrnoException): FollowedFile | undefined;
  /** No file matches a glob, but for so many that are excluded. */
  unmatched(pattern: string, excluded: number): void;
  /** A folder cannot be listed. */
  unlisted(folder: string, error: NodeJS.ErrnoException): void;
  /** A folder can be listed again. */
  listed(folder: string): void;
  /** All paths were looked at. `isComplete`: but for what a lack of descriptors hides. */
  scanned(seen: Seen, isComplete: boolean): void;
}

/** What came of a look at a path. */
interface Look {
  readonly error: NodeJS.ErrnoException | null;
  readonly found: Probe | undefined;
  done(file: FollowedFile | undefined): void;
}

/** Looks at what `patterns` lead to. */
export class PathScanner {
  readonly #patterns: readonly string[];
  readonly #events: ScanEvents;
  readonly #listings = new GlobListings();
  /** The folders that could not be listed last time. */
  #unlisted: ReadonlyMap<string, unknown> = new Map();
  /** The paths where files are looked for that were rotated away unseen, with the looks that wait for the end of it. */
  readonly #searches = new Map<string, (() => void)[]>();
  #isClosed = false;

  constructor(patterns: readonly string[], events: ScanEvents) {
    this.#patterns = patterns;
    this.#events = events;
  }

  /** Looks at all paths once. The promise is tinyglobby's only interface that does not block. */
  scan(): Observable<never> {
    const { isExcluded, known } = this.#events;
    return from(expandPaths(this.#patterns, { listings: this.#listings, isExcluded, known })).pipe(
      mergeMap((expanded) => this.#lookAtAll(expanded)),
    );
  }

  /** Looks at one path. `inGap`: if nothing is there, also for what was there and was rotated away unseen. */
  look(path: string, done: (file: FollowedFile | undefined) => void, { inGap = false } = {}): void {
    const again = () => this.look(path, done, { inGap });
    const search = this.#searches.get(path);
    if (search !== undefined) {
      search.push(again);
      return;
    }
    probe(path, this.#events, (error, found) => {
      const meanwhile = this.#searches.get(path);
      if (meanwhile !== undefined) {
        // It may be older than what the search finds.
        if (found !== undefined && 'fd' in found.status) closeFile(found.status.fd);
        meanwhile.push(again);
        return;
      }
      const mayHaveRotated = !this.#isClosed && (error === null || (inGap && isAbsence(error)));
      const last = mayHaveRotated ? this.#events.rotated(path, found?.status.id) : undefined;
      if (last === undefined) {
        this.#settle(path, { error, found, done });
        return;
      }
      const waiting: (() => void)[] = [];
      this.#searches.set(path, waiting);
      findRotated(path, last, this.#events, (files) => {
        for (const file of files) {
          if (this.#isClosed) closeFile(file.fd);
          else this.#events.foundRotated(path, file);
        }
        // It was rotated during the search: by now another one is at the path.
        if (files.some(({ id }) => id === found?.status.id)) {
          if (found !== undefined && 'fd' in found.status) closeFile(found.status.fd);
          waiting.unshift(again);
        } else this.#settle(path, { error, found, done });
        this.#searches.delete(path);
        for (const look of waiting) look();
      });
    });
  }

  #settle(path: string, { error, found, done }: Look): void {
    if (this.#isClosed) {
      if (found !== undefined && 'fd' in found.status) closeFile(found.status.fd);
      done(undefined);
    } else if (found !== undefined) {
      done(this.#events.found(found));
    } else {
      done(error === null ? undefined : this.#events.notFound(path, error));
    }
  }

  /** What is under way ends without a word. */
  close(): void {
    this.#isClosed = true;
  }

  #lookAtAll({ paths, unmatched, unlisted }: ExpandedPaths): Observable<never> {
    return new Observable((subscriber) => {
      for (const { pattern, excluded } of unmatched) this.#events.unmatched(pattern, excluded);
      for (const [folder, error] of unlisted) this.#events.unlisted(folder, error);
      for (const folder of this.#unlisted.keys()) if (!unlisted.has(folder)) this.#events.listed(folder);
      this.#unlisted = unlisted;
      const isComplete = ![...unlisted.values()].some(isShortage);
      const seen: Seen = new Map();
      const look = (path: string, next: () => void) => {
        const resting = this.#events.resting(path);
        if (resting !== undefined) {
          note(seen, resting, path);
          next();
          return;
        }
        const looked = (file: FollowedFile | undefined) => {
          if (file !== undefined) note(seen, file, path);
          next();
        };
        this.look(path, looked, { inGap: true });
      };
      eachLimited(this.#isClosed ? [] : paths, PROBES_AT_A_TIME, look, () => {
        if (!this.#isClosed) this.#events.scanned(seen, isComplete);
        subscriber.complete();
      });
    });
  }
}

function note(seen: Seen, file: FollowedFile, path: string): void {
  const paths = seen.get(file);
  if (paths === undefined) seen.set(file, new Set([path]));
  else paths.add(path);
}
