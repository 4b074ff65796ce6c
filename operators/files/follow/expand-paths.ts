import type fs from 'node:fs';
import { dirname, posix, resolve } from 'node:path';
import type { FileSystemAdapter } from 'tinyglobby';
import { fileSystem, isMissing } from '../../support/file-system.ts';
import {
  eachLimited,
  type FolderStatus,
  folderStatus,
  fromRawPath,
  listFolder,
  toRawPath,
} from './file-status.ts';
import { isGlob, toPicomatch } from './glob-pattern.ts';

interface ExpandedPaths {
  readonly paths: ReadonlySet<string>;
  /** The globs that match no file, and how many match that are excluded. */
  readonly unmatched: readonly { readonly pattern: string; readonly excluded: number }[];
  /** The folders that could not be listed, and why. */
  readonly unlisted: ReadonlyMap<string, NodeJS.ErrnoException>;
  /** A folder is another one than before: any file below it may be another one too. */
  readonly isFolderReplaced: boolean;
}

interface ExpandOptions {
  readonly listings: GlobListings;
  /** Paths of files that were found before. */
  known(): Iterable<string>;
}

/**
 * The files that `patterns` name now, spelled as the patterns are: absolute or relative. What has no glob
 * characters is taken literally, whatever else it contains. Hidden files match only patterns that spell out the
 * dot, as in a shell. In a folder that cannot be listed now the files are taken to be there that were known before.
 */
export async function expandPaths(
  patterns: readonly string[],
  { listings, known }: ExpandOptions,
): Promise<ExpandedPaths> {
  const paths = new Set<string>();
  const unmatched: { pattern: string; excluded: number }[] = [];
  const unlisted = new Map<string, NodeJS.ErrnoException>();
  const unknown = new Set<string>();
  let isFolderReplaced = false;
  for (const pattern of patterns) {
    if (!isGlob(pattern)) {
      paths.add(pattern);
      continue;
    }
    const matches = await listings.matches(pattern);
    isFolderReplaced ||= matches.isFolderReplaced;
    if (matches.paths.length === 0 && matches.unlisted.size === 0) {
      unmatched.push({ pattern, excluded: matches.excluded });
    }
    for (const path of matches.paths) paths.add(path);
    for (const [folder, error] of matches.unlisted) unlisted.set(folder, error);
    for (const path of [...matches.unlisted.keys(), ...matches.unresolved]) unknown.add(path);
  }
  if (unknown.size > 0) {
    for (const path of known()) if (isWithin(resolve(path), unknown)) paths.add(path);
  }
  return { paths, unmatched, unlisted, isFolderReplaced };
}

/** Whether a path is one of these, or leads through one. */
function isWithin(path: string, these: ReadonlySet<string>): boolean {
  const parent = dirname(path);
  return these.has(path) || (parent !== path && isWithin(parent, these));
}

/** Listings that are taken from before in a row. */
const REUSES = 59;
/** The number of reuses if there are links: their targets can appear without a change of the folder. */
const REUSES_WITH_LINKS = 4;
const SPECIAL = /[*?[\]{}!@+()\\]/;
/** Folders that are looked at at a time. */
const LOOKS_AT_A_TIME = 16;

/** What a glob matches now, as far as that is known. */
interface Matches {
  /** The files that are not left out, sorted. */
  readonly paths: readonly string[];
  /** How many files are left out. */
  readonly excluded: number;
  /** The folders that could not be listed, and why: files may be in them. */
  readonly unlisted: ReadonlyMap<string, NodeJS.ErrnoException>;
  /** The links that could not be followed. */
  readonly unresolved: readonly string[];
  /** A folder is another one than at the listing before. */
  readonly isFolderReplaced: boolean;
}

interface Listing extends Matches {
  /** The folders that were listed, as they were then. */
  readonly folders: ReadonlyMap<string, FolderStatus | undefined>;
  /** The folders were as they are at the listing before. One within the same tick of their clock may have missed a file. */
  readonly isStable: boolean;
  readonly hasLinks: boolean;
  reuses: number;
}

/** What globs match. Nothing is listed again while its folders are as they were: 10,000 names take 30 ms. */
export class GlobListings {
  readonly #isExcluded: (path: string) => boolean;
  readonly #listings = new Map<string, Listing>();

  /** @param isExcluded whether a file that a glob matches is left out */
  constructor(isExcluded: (path: string) => boolean = () => false) {
    this.#isExcluded = isExcluded;
  }

  /** Promises are tinyglobby's only interface that does not block. */
  async matches(pattern: string): Promise<Matches> {
    const last = this.#listings.get(pattern);
    const changes = await changesOf(last?.folders ?? new Map());
    const isUnchanged = last !== undefined && changes === 'none';
    const reuses = last?.hasLinks ? REUSES_WITH_LINKS : REUSES;
    if (isUnchanged && last.isStable && last.reuses < reuses) {
      last.reuses++;
      return last;
    }
    const { paths: all, ...listed } = await list(pattern);
    const paths = all.filter((path) => !this.#isExcluded(path));
    const isFolderReplaced = changes === 'replaced';
    const excluded = all.length - paths.length;
    const listing = { ...listed, paths, excluded, isFolderReplaced, isStable: isUnchanged, reuses: 0 };
    this.#listings.set(pattern, listing);
    return listing;
  }
}

let tinyglobby: Promise<typeof import('tinyglobby')> | undefined;

/** Not loaded at the top, because most paths are not globs. A test in virtual time loads it before the time starts. */
export function loadGlob(): Promise<typeof import('tinyglobby')> {
  tinyglobby ??= import('tinyglobby');
  return tinyglobby;
}

type Listed = Pick<Listing, 'paths' | 'folders' | 'unlisted' | 'unresolved' | 'hasLinks'>;

async function list(pattern: string): Promise<Listed> {
  const folders = new Map<string, FolderStatus | undefined>();
  const unlisted = new Map<string, NodeJS.ErrnoException>();
  const unresolved: string[] = [];
  let hasLinks = false;
  /** The link by which a folder is reached that is listed by another path. */
  const links = new Map<string, string>();
  const readdir = async (path: string, _: unknown, done: (error: null, entries: fs.Dirent[]) => void) => {
    const folder = resolve(path);
    folders.set(folder, await folderStatus(folder));
    const entries = await listFolder(folder).catch((error: NodeJS.ErrnoException) => {
      if (!isMissing(error)) unlisted.set(links.get(folder) ?? folder, error);
      return [];
    });
    hasLinks ||= entries.some((entry) => entry.isSymbolicLink());
    done(null, entries);
  };
  const realpath = (link: string, done: (error: Error | null, path: string) => void) => {
    fileSystem.realpath.native(toRawPath(link), { encoding: 'buffer' }, (error, bytes) => {
      const path = error === null ? fromRawPath(bytes) : '';
      if (error === null) links.set(path, link);
      else if (!isMissing(error)) unresolved.push(resolve(link));
      done(error, path);
    });
  };
  const stat = (path: string, done: (error: NodeJS.ErrnoException | null, stats: fs.Stats) => void) => {
    fileSystem.stat(toRawPath(path), (error, stats) => {
      if (error !== null && !isMissing(error)) unresolved.push(resolve(links.get(path) ?? path));
      done(error, stats);
    });
  };
  const { glob } = await loadGlob();
  const adapter = { readdir, realpath, stat } as unknown as FileSystemAdapter;
  const { base, rest } = split(pattern);
  const options = { cwd: resolve(base), expandDirectories: false, extglob: false, fs: adapter };
  // A pattern that cannot be followed to the end must not stop the others.
  const matches = await glob(toPicomatch(rest, { dot: false }), options).catch(() => []);
  const paths = matches.map((match) => posix.join(base, match)).sort();
  return { paths, folders, unlisted, unresolved, hasLinks };
}

/** The folder that a pattern starts with, and what is to be matched below it: no folder above need be listed. */
function split(pattern: string): { base: string; rest: string } {
  const parts = pattern.split('/');
  const first = parts.findIndex((part) => SPECIAL.test(part));
  const base = first === 0 ? '.' : parts.slice(0, first).join('/') || '/';
  return { base, rest: parts.slice(first).join('/') };
}

/** `replaced`: one of them is another folder. The files of one that is gone are gone too, which the listing shows. */
async function changesOf(folders: Listing['folders']): Promise<'none' | 'modified' | 'replaced'> {
  let isModified = false;
  let isReplaced = false;
  await eachLimited(folders, LOOKS_AT_A_TIME, async ([folder, before]) => {
    const now = await folderStatus(folder);
    isModified ||= now === undefined || now.modified !== before?.modified;
    isReplaced ||= now !== undefined && before !== undefined && now.id !== before.id;
  });
  return isReplaced ? 'replaced' : isModified ? 'modified' : 'none';
}
