import { basename, dirname, join, resolve } from 'node:path';
import { EMPTY } from 'rxjs';
import { fileSystem, perFileSystem } from '../../support/file-system.ts';
import { type AppenderOptions, FileAppender } from './file-appender.ts';

interface Shared {
  readonly appender: FileAppender;
  /** By which it is found: the paths asked for, and where their folders really are. */
  readonly keys: Set<string>;
  users: number;
  /** How often it was given back by the last user, and is not closed yet. */
  closing: number;
}

/** A part in the appender of a file, until it is given back. */
export interface AppenderLease {
  readonly appender: FileAppender;
  release(): void;
}

const shared = perFileSystem(() => new Map<string, Shared>());

/**
 * The one appender that this process has for a file: two of them would tear each other's lines, and one would take
 * for torn what the other is about to write. It is closed when its last user releases it. A file that is reached by
 * way of symbolic links to its folder is the same file; the first path asked for is the one written to.
 */
export function leaseAppender(path: string, options: AppenderOptions): AppenderLease {
  const name = resolve(path);
  const entry = shared().get(name) ?? entryAt(join(realFolder(dirname(name)), basename(name)), path, options);
  entry.keys.add(name);
  for (const key of entry.keys) shared().set(key, entry);
  entry.users++;
  return { appender: entry.appender, release: () => release(entry) };
}

function entryAt(realPath: string, path: string, options: AppenderOptions): Shared {
  const known = shared().get(realPath);
  if (known !== undefined) return known;
  return { appender: new FileAppender(path, options), keys: new Set([realPath]), users: 0, closing: 0 };
}

function release(entry: Shared): void {
  entry.users--;
  if (entry.users > 0) return;
  entry.closing++;
  const forget = () => {
    entry.closing--;
    // Who comes before all it has to do is done has to share it: until then, another one could tear its lines.
    if (entry.users > 0 || entry.closing > 0) return;
    for (const key of entry.keys) shared().delete(key);
  };
  entry.appender.aside(() => EMPTY).subscribe({ complete: forget });
}

/** Without symbolic links, as far as the folder exists: what is missing is made later, and is not a link. */
function realFolder(folder: string): string {
  try {
    return fileSystem.realpathSync.native(folder);
  } catch {
    const parent = dirname(folder);
    return parent === folder ? folder : join(realFolder(parent), basename(folder));
  }
}
