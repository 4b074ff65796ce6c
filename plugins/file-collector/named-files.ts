import { type Dirent, readdirSync } from 'node:fs';
import { basename, dirname, join, normalize, resolve, sep } from 'node:path';
import picomatch from 'picomatch';
import { GLOB_OPTIONS, isGlob, toPicomatch } from '../../operators/internal-files.ts';
import { fileId, folderId, type WrittenFile } from '../../src/sdk/index.ts';

/** A pattern for all of a file system would hold back the start. */
const MOST_PATHS = 100_000;

/** The files that patterns name, to be asked whether a file that is written is one of them. */
export class NamedFiles {
  readonly #patterns: readonly NamedPattern[];
  #ids: ReadonlySet<string> | undefined;

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns.map((pattern) => new NamedPattern(normalize(pattern)));
  }

  /** By its path, by another path to one of its folders, or by its device and inode. */
  has(file: WrittenFile): boolean {
    if (this.#patterns.some((pattern) => pattern.names(file))) return true;
    if (file.id === undefined) return false;
    this.#ids ??= new Set(this.#patterns.flatMap((pattern) => pattern.ids()));
    return this.#ids.has(file.id);
  }
}

type NamingPaths = { readonly paths: readonly string[] };

const namedFiles = new WeakMap<NamingPaths, NamedFiles>();

/** Whether one of `paths` names this file, be it there or not, by whatever path it is written. */
export function reads({ config, file }: { config: NamingPaths; file: WrittenFile }): boolean {
  let named = namedFiles.get(config);
  if (named === undefined) {
    named = new NamedFiles(config.paths);
    namedFiles.set(config, named);
  }
  return named.has(file);
}

class NamedPattern {
  readonly #pattern: string;
  /** The folder from which the rest of the pattern leads on: absolute, with a separator after it. */
  readonly #folder: string;
  readonly #folderId: string | undefined;
  /** The rest leads through folders. */
  readonly #isDeep: boolean;
  readonly #matchesRest: (path: string) => boolean;

  constructor(pattern: string) {
    const { base, rest } = split(pattern);
    this.#pattern = pattern;
    this.#folder = join(resolve(base), sep);
    this.#folderId = folderId(this.#folder);
    this.#isDeep = rest.includes('/');
    this.#matchesRest = matcher(rest);
  }

  names(file: WrittenFile): boolean {
    if (file.path.startsWith(this.#folder) && this.#matchesRest(file.path.slice(this.#folder.length)))
      return true;
    if (this.#folderId === undefined) return false;
    for (const path of file.below(this.#folderId)) if (this.#matchesRest(path)) return true;
    return false;
  }

  /** Device and inode of each file that it names now. */
  ids(): string[] {
    if (!isGlob(this.#pattern)) {
      const id = fileId(this.#pattern);
      return id === undefined ? [] : [id];
    }
    const paths = pathsIn(this.#folder, this.#isDeep).filter((path) => this.#matchesRest(path));
    return paths.flatMap((path) => fileId(join(this.#folder, path)) ?? []);
  }
}

/** What is below a folder now: at once, since nothing runs yet. Nothing of folders that cannot be read. */
function pathsIn(folder: string, isDeep: boolean): string[] {
  const paths: string[] = [];
  const folders = [''];
  for (let next = folders.pop(); next !== undefined && paths.length < MOST_PATHS; next = folders.pop()) {
    for (const entry of entriesOf(join(folder, next))) {
      const path = join(next, entry.name);
      if (isDeep && entry.isDirectory()) folders.push(path);
      else paths.push(path);
    }
  }
  return paths;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function matcher(pattern: string): (path: string) => boolean {
  return isGlob(pattern) ? globMatcher(pattern, { dot: false }) : (path) => path === pattern;
}

function split(pattern: string): { base: string; rest: string } {
  if (!isGlob(pattern)) return { base: dirname(pattern), rest: basename(pattern) };
  const parts = pattern.split('/');
  const first = parts.findIndex((_, index) => isGlob(parts.slice(0, index + 1).join('/')));
  return {
    base: parts.slice(0, first).join('/') || (first === 0 ? '.' : '/'),
    rest: parts.slice(first).join('/'),
  };
}

function globMatcher(pattern: string, { dot }: { dot: boolean }): (path: string) => boolean {
  return picomatch(toPicomatch(pattern, { dot }), { ...GLOB_OPTIONS, dot });
}

/** Tells whether one of `patterns` names a file of a path, be it there or not. */
export function namedBy(patterns: readonly string[]): (path: string) => boolean {
  const matchers = patterns.map(matcher);
  return (path) => matchers.some((matches) => matches(path));
}

/** Tells whether one of `patterns` excludes a path: by the name of the file, or by all of it if the pattern has a slash. */
export function excludedBy(patterns: readonly string[]): (path: string) => boolean {
  const matchers = patterns.map((pattern) => {
    const matches = globMatcher(pattern, { dot: true });
    return pattern.includes('/') ? matches : (path: string) => matches(basename(path));
  });
  return (path) => matchers.some((matches) => matches(path));
}
