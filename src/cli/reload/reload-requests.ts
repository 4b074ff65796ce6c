import { createHash } from 'node:crypto';
import fs, { watch } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  auditTime,
  debounce,
  defer,
  distinctUntilChanged,
  map,
  merge,
  Observable,
  skip,
  startWith,
  timer,
} from 'rxjs';

/** Editors write a file in several steps. */
const SETTLED_MS = 100;

/**
 * Emits when the content of one of the files has changed. Folders are watched, because editors and configuration
 * managements replace a file, or a link on the way to it.
 */
export function fileChanges(files: readonly string[]): Observable<unknown> {
  const folders = new Set(files.map((file) => dirname(resolve(file))));
  return defer(() => {
    return merge(...[...folders].map(changesIn)).pipe(
      // Logs may be written to the same folder without end: that must not put it off.
      auditTime(SETTLED_MS),
      map(() => digestOf(files)),
      startWith(digestOf(files)),
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

/** One that cannot be read counts as empty: the reload says why. */
function digestOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) {
    try {
      hash.update(fs.readFileSync(file)).update('\0');
    } catch {
      hash.update('\0');
    }
  }
  return hash.digest('hex');
}
