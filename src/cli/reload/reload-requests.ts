import { createHash } from 'node:crypto';
import fs, { watch } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  auditTime,
  concatMap,
  debounce,
  defer,
  distinctUntilChanged,
  merge,
  Observable,
  skip,
  startWith,
  timer,
} from 'rxjs';
import { isGlob } from '../../../operators/files/follow/expand-paths.ts';
import { configFiles } from '../config-files.ts';

/** Editors write a file in several steps. */
const SETTLED_MS = 100;

/**
 * Emits when the content of one of the files has changed. Folders are watched, because editors and configuration
 * managements replace a file, or a link on the way to it.
 *
 * @param before the {@link digestOf} the files before they were loaded
 */
export function fileChanges(args: readonly string[], before: string): Observable<unknown> {
  return defer(() => {
    return merge(...watchedFolders(args).map(changesIn)).pipe(
      // Logs may be written to the same folder without end: that must not put it off.
      auditTime(SETTLED_MS),
      startWith(undefined),
      concatMap(() => digestOf(args)),
      startWith(before),
      distinctUntilChanged(),
      skip(1),
      // `debounceTime` asks the system's clock, which may be set back meanwhile.
      debounce(() => timer(SETTLED_MS)),
    );
  });
}

function changesIn(folder: string): Observable<unknown> {
  return new Observable((subscriber) => {
    const watcher = watch(folder, (event) => subscriber.next(event));
    // A folder that is removed is watched no more; SIGHUP reloads all the same.
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  });
}

/** Where files may change, or be added to a folder or a glob. */
function watchedFolders(args: readonly string[]): string[] {
  const folders = args.map((arg) => {
    const path = resolve(arg);
    if (fs.statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
    let folder = dirname(path);
    while (isGlob(folder)) folder = dirname(folder);
    return folder;
  });
  return [...new Set(folders)];
}

/** Of the names and contents of the files. Those that cannot be read or found count as empty: the reload says why. */
export async function digestOf(args: readonly string[]): Promise<string> {
  const files = await configFiles(args).catch(() => []);
  const hash = createHash('sha256');
  for (const file of files) {
    hash.update(`${file}\0`);
    try {
      hash.update(fs.readFileSync(file)).update('\0');
    } catch {
      hash.update('\0');
    }
  }
  return hash.digest('hex');
}
