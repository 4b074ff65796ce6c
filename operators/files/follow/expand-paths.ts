import { dirname, resolve } from 'node:path';
import type { GlobListings } from './glob-listings.ts';

const GLOB = /[*?]|\[.+\]|\{.+[,.].+\}|[!@+]\(.+\)/;

export interface ExpandedPaths {
  readonly paths: ReadonlySet<string>;
  /** The globs that match no file, and how many match that are excluded. */
  readonly unmatched: readonly { readonly pattern: string; readonly excluded: number }[];
  /** The folders that could not be listed, and why. */
  readonly unlisted: ReadonlyMap<string, NodeJS.ErrnoException>;
}

/** What decides about the files that globs match. */
export interface ExpandOptions {
  readonly listings: GlobListings;
  /** Whether a file that a glob matches is left out. */
  isExcluded(path: string): boolean;
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
  { listings, isExcluded, known }: ExpandOptions,
): Promise<ExpandedPaths> {
  const paths = new Set<string>();
  const unmatched: { pattern: string; excluded: number }[] = [];
  const unlisted = new Map<string, NodeJS.ErrnoException>();
  const unknown = new Set<string>();
  for (const pattern of patterns) {
    if (!isGlob(pattern)) {
      paths.add(pattern);
      continue;
    }
    const matches = await listings.matches(pattern);
    const included = matches.paths.filter((path) => !isExcluded(path));
    if (included.length === 0 && matches.unlisted.size === 0) {
      unmatched.push({ pattern, excluded: matches.paths.length });
    }
    for (const path of included) paths.add(path);
    for (const [folder, error] of matches.unlisted) unlisted.set(folder, error);
    for (const path of [...matches.unlisted.keys(), ...matches.unresolved]) unknown.add(path);
  }
  if (unknown.size > 0) {
    for (const path of known()) if (isWithin(resolve(path), unknown)) paths.add(path);
  }
  return { paths, unmatched, unlisted };
}

/** Whether a pattern is more than the path of one file. */
export function isGlob(pattern: string): boolean {
  return GLOB.test(pattern);
}

/** Whether a path is one of these, or leads through one. */
function isWithin(path: string, these: ReadonlySet<string>): boolean {
  const parent = dirname(path);
  return these.has(path) || (parent !== path && isWithin(parent, these));
}
