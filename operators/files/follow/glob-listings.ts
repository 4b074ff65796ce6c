import fs from 'node:fs';
import { posix, resolve } from 'node:path';
import type { FileSystemAdapter } from 'tinyglobby';
import { folderModified, isAbsence, listFolder } from './list-folder.ts';
import { fromRawPath, toRawPath } from './raw-path.ts';
import { eachLimited } from './scan.ts';

/** Listings that are taken from before in a row: what a link leads to can appear without a trace on the folder. */
const REUSES = 4;
const SPECIAL = /[*?[\]{}!@+()\\]/;
/** Folders that are looked at at a time. */
const LOOKS_AT_A_TIME = 16;

/** What a glob matches now, as far as that is known. */
export interface Matches {
  /** The files, sorted. */
  readonly paths: readonly string[];
  /** The folders that could not be listed, and why: files may be in them. */
  readonly unlisted: ReadonlyMap<string, NodeJS.ErrnoException>;
  /** The links that could not be followed. */
  readonly unresolved: readonly string[];
}

interface Listing extends Matches {
  /** When each folder that was listed was modified last: nanoseconds, to be compared only. */
  readonly folders: ReadonlyMap<string, bigint | undefined>;
  /** The folders were as they are at the listing before. One within the same tick of their clock may have missed a file. */
  readonly isSettled: boolean;
  reuses: number;
}

/** What globs match. Nothing is listed again while its folders are as they were: 10,000 names take 30 ms. */
export class GlobListings {
  readonly #listings = new Map<string, Listing>();

  /** Promises are tinyglobby's only interface that does not block. */
  async matches(pattern: string): Promise<Matches> {
    const last = this.#listings.get(pattern);
    const isUnchanged = last !== undefined && (await areUnchanged(last.folders));
    if (isUnchanged && last.isSettled && last.reuses < REUSES) {
      last.reuses++;
      return last;
    }
    const listing = { ...(await list(pattern)), isSettled: isUnchanged, reuses: 0 };
    this.#listings.set(pattern, listing);
    return listing;
  }
}

async function list(pattern: string): Promise<Omit<Listing, 'isSettled' | 'reuses'>> {
  const folders = new Map<string, bigint | undefined>();
  const unlisted = new Map<string, NodeJS.ErrnoException>();
  const unresolved: string[] = [];
  /** The link by which a folder is reached that is listed by another path. */
  const links = new Map<string, string>();
  const readdir = (path: string, _: unknown, done: (error: Error | null, entries: fs.Dirent[]) => void) => {
    const folder = resolve(path);
    folderModified(folder, (modified) => {
      folders.set(folder, modified);
      listFolder(folder, (error, entries) => {
        if (error !== null && !isAbsence(error)) unlisted.set(links.get(folder) ?? folder, error);
        done(null, entries);
      });
    });
  };
  const realpath = (link: string, done: (error: Error | null, path: string) => void) => {
    fs.realpath.native(toRawPath(link), { encoding: 'buffer' }, (error, bytes) => {
      const path = error === null ? fromRawPath(bytes) : '';
      if (error === null) links.set(path, link);
      else if (!isAbsence(error)) unresolved.push(resolve(link));
      done(error, path);
    });
  };
  const stat = (path: string, done: (error: NodeJS.ErrnoException | null, stats: fs.Stats) => void) => {
    fs.stat(toRawPath(path), (error, stats) => {
      if (error !== null && !isAbsence(error)) unresolved.push(resolve(links.get(path) ?? path));
      done(error, stats);
    });
  };
  // Not at the top: most paths are no globs.
  const { glob } = await import('tinyglobby');
  const adapter = { readdir, realpath, stat } as unknown as FileSystemAdapter;
  const { base, rest } = split(pattern);
  const options = { cwd: resolve(base), expandDirectories: false, fs: adapter };
  // A pattern that cannot be followed to the end must not stop the others.
  const matches = await glob(rest, options).catch(() => []);
  const paths = matches.map((match) => posix.join(base, match)).sort();
  return { paths, folders, unlisted, unresolved };
}

/** The folder that a pattern begins with, and what is to be matched below it: no folder above need be listed. */
function split(pattern: string): { base: string; rest: string } {
  const parts = pattern.split('/');
  const first = parts.findIndex((part) => SPECIAL.test(part));
  const base = first === 0 ? '.' : parts.slice(0, first).join('/') || '/';
  return { base, rest: parts.slice(first).join('/') };
}

function areUnchanged(folders: Listing['folders']): Promise<boolean> {
  return new Promise((done) => {
    let areSame = true;
    const look = ([folder, before]: [string, bigint | undefined], next: () => void) =>
      folderModified(folder, (modified) => {
        areSame &&= modified !== undefined && modified === before;
        next();
      });
    eachLimited(folders, LOOKS_AT_A_TIME, look, () => done(areSame));
  });
}
