import fs, { type Dirent } from 'node:fs';
import { fromRawPath, toRawPath } from './raw-path.ts';

type Done = (error: NodeJS.ErrnoException | null, entries: Dirent[]) => void;

/** Where a name was decoded, what is not UTF-8 became this. */
const UNDECODED = '\ufffd';

/** The entries of a folder, whatever bytes their names are. */
export function listFolder(folder: string, done: Done): void {
  const path = toRawPath(folder);
  fs.readdir(path, { withFileTypes: true }, (error, entries) => {
    if (error !== null) done(error, []);
    else if (!entries.some(({ name }) => name.includes(UNDECODED))) done(null, entries);
    else
      fs.readdir(path, { withFileTypes: true, encoding: 'buffer' }, (failure, raw) =>
        done(failure, decoded(raw)),
      );
  });
}

/** When names in a folder were changed last: nanoseconds, to be compared only. */
export function folderModified(folder: string, done: (modified: bigint | undefined) => void): void {
  fs.stat(toRawPath(folder), { bigint: true }, (_, stats) => done(stats?.mtimeNs));
}

/** Bytes only where they are needed: to decode 10,000 names one by one takes its time. */
function decoded(entries: Dirent<Buffer>[] | undefined = []): Dirent[] {
  return entries.map((entry) => Object.assign(entry as unknown as Dirent, { name: fromRawPath(entry.name) }));
}

/** Whether a path is known to lead to no file. After any other error nobody knows: it may be there all the same. */
export function isAbsence({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Whether the process, or the system, has no descriptor left: it works again when one is closed. */
export function isShortage({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EMFILE' || code === 'ENFILE';
}
