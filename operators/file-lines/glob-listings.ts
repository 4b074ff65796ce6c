import fs from 'node:fs';
import { dirname, isAbsolute } from 'node:path';

/** Listings that are taken from before in a row: what a link leads to can appear without a trace on the folder. */
const REUSES = 4;
const SPECIAL = /[*?[\]{}!@+()\\]/;

interface Listing {
  readonly paths: readonly string[];
  /** When the folder was modified last: nanoseconds, to be compared only. */
  readonly modified: bigint | undefined;
  /** The folder was as it is at the listing before. One within the same tick of its clock may have missed a file. */
  readonly isSettled: boolean;
  reuses: number;
}

/** What globs match. One folder is not listed again while it is as it was: 10,000 names take 30 ms. */
export class GlobListings {
  readonly #listings = new Map<string, Listing>();

  /** The files that a glob matches, sorted. Promises are tinyglobby's only interface that does not block. */
  async matches(pattern: string): Promise<readonly string[]> {
    const folder = dirname(pattern);
    if (SPECIAL.test(folder)) return list(pattern);
    const modified = await modifiedAt(folder);
    const last = this.#listings.get(pattern);
    const isUnchanged = modified !== undefined && last?.modified === modified;
    if (isUnchanged && last.isSettled && last.reuses < REUSES) {
      last.reuses++;
      return last.paths;
    }
    const paths = await list(pattern);
    this.#listings.set(pattern, { paths, modified, isSettled: isUnchanged, reuses: 0 });
    return paths;
  }
}

async function list(pattern: string): Promise<readonly string[]> {
  // Not at the top: most paths are no globs.
  const { glob } = await import('tinyglobby');
  const options = { absolute: isAbsolute(pattern), expandDirectories: false };
  // A pattern that cannot be followed to the end must not stop the others.
  const matches = await glob(pattern, options).catch(() => []);
  return matches.sort();
}

function modifiedAt(folder: string): Promise<bigint | undefined> {
  return new Promise((resolve) => {
    fs.stat(folder, { bigint: true }, (_, stats) => resolve(stats?.mtimeNs));
  });
}
