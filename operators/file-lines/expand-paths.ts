import { isAbsolute } from 'node:path';
import { glob } from 'tinyglobby';

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
export async function expandPaths(patterns: readonly string[]): Promise<ExpandedPaths> {
  const paths = new Set<string>();
  const unmatched: string[] = [];
  for (const pattern of patterns) {
    if (!GLOB.test(pattern)) {
      paths.add(pattern);
      continue;
    }
    const options = { absolute: isAbsolute(pattern), expandDirectories: false };
    // A pattern that cannot be followed to the end must not stop the others.
    const matches = await glob(pattern, options).catch(() => []);
    if (matches.length === 0) unmatched.push(pattern);
    for (const path of matches.sort()) paths.add(path);
  }
  return { paths, unmatched };
}
