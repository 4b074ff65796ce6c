import { resolve } from 'node:path';
import { EMPTY } from 'rxjs';
import { type AppenderOptions, FileAppender } from '../append-file.ts';

interface Shared {
  readonly appender: FileAppender;
  users: number;
}

/** A part in the appender of a file, until it is given back. */
export interface AppenderLease {
  readonly appender: FileAppender;
  release(): void;
}

const shared = new Map<string, Shared>();

/**
 * The one appender that this process has for a file: two of them would tear each other's lines, and one would take
 * for torn what the other is about to write. Closed when nobody has a part in it any more.
 */
export function leaseAppender(path: string, options: AppenderOptions): AppenderLease {
  const key = resolve(path);
  const entry = shared.get(key) ?? { appender: new FileAppender(path, options), users: 0 };
  shared.set(key, entry);
  entry.users++;
  return {
    appender: entry.appender,
    release: () => {
      entry.users--;
      if (entry.users > 0) return;
      const forget = () => {
        if (entry.users === 0) shared.delete(key);
      };
      entry.appender.aside(() => EMPTY).subscribe({ complete: forget });
    },
  };
}
