import type { GlobListings } from './glob-listings.ts';

const GLOB = /[*?]|\[.+\]|\{.+[,.].+\}|[!@+]\(.+\)/;

export interface ExpandedPaths {
  readonly paths: ReadonlySet<string>;
  /** The globs that match no file. */
  readonly unmatched: readonly string[];
}

/**
 * The files that `patterns` name now, spelled as the patterns are: absolute or relative. What has no glob
 * characters is taken literally, whatever else it contains. Hidden files match only patterns that spell out the
 * dot, as in a shell; folders that cannot be read match nothing.
 */
export async function expandPaths(
  patterns: readonly string[],
  listings: GlobListings,
): Promise<ExpandedPaths> {
  const paths = new Set<string>();
  const unmatched: string[] = [];
  for (const pattern of patterns) {
    if (!isGlob(pattern)) {
      paths.add(pattern);
      continue;
    }
    const matches = await listings.matches(pattern);
    if (matches.length === 0) unmatched.push(pattern);
    for (const path of matches) paths.add(path);
  }
  return { paths, unmatched };
}

/** Whether a pattern is more than the path of one file. */
export function isGlob(pattern: string): boolean {
  return GLOB.test(pattern);
}
