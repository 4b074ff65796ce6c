import fs from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/**
 * A file that a forwarder writes, be it there yet or not, and by which other paths it can be reached. Looked up once,
 * when it is first asked for.
 *
 * @example
 * new WrittenFile('/var/log/out.jsonl').path; // '/var/log/out.jsonl'
 */
export class WrittenFile {
  /** Absolute. */
  readonly path: string;
  #id: string | undefined;
  #below: Map<string, Set<string>> | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Device and inode of the regular file that is there now; undefined without one. */
  get id(): string | undefined {
    this.#id ??= fileId(this.path) ?? '';
    return this.#id === '' ? undefined : this.#id;
  }

  /** Its paths from a folder that holds it, whatever link or mount leads to that folder; none if it does not. */
  below(folder: string): ReadonlySet<string> {
    this.#below ??= foldersAbove(this.path);
    return this.#below.get(folder) ?? NONE;
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Device and inode of the regular file at a path, links followed; undefined without one. */
export function fileId(path: string): string | undefined {
  return idOf(path, (stats) => stats.isFile());
}

/** Device and inode of the folder at a path, links followed; undefined without one. */
export function folderId(path: string): string | undefined {
  return idOf(path, (stats) => stats.isDirectory());
}

function idOf(path: string, isWanted: (stats: fs.BigIntStats) => boolean): string | undefined {
  try {
    const stats = fs.statSync(path, { bigint: true });
    return isWanted(stats) ? `${stats.dev}:${stats.ino}` : undefined;
  } catch {
    return undefined;
  }
}

/** The paths to a file from each folder above it, by the folder's id: above the path as written, and its real one. */
function foldersAbove(path: string): Map<string, Set<string>> {
  const below = new Map<string, Set<string>>();
  for (const way of new Set([path, join(realFolder(dirname(path)), basename(path))])) {
    let folder = way;
    while (folder !== dirname(folder)) {
      folder = dirname(folder);
      const id = folderId(folder);
      if (id === undefined) continue;
      const paths = below.get(id) ?? new Set();
      below.set(id, paths.add(relative(folder, way)));
    }
  }
  return below;
}

/** The real path of a folder, of which the last parts need not be there. */
function realFolder(folder: string): string {
  try {
    return fs.realpathSync(folder);
  } catch {
    return folder === dirname(folder) ? folder : join(realFolder(dirname(folder)), basename(folder));
  }
}
