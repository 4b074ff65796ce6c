import { fstatSync, readSync, statSync } from 'node:fs';

/**
 * Whether an output was closed when the process started (`>&-`). Node has opened /dev/null in its place then, which can be
 * read, unlike that of `> /dev/null`. A parent process may have opened it in the same way, so that what is written is lost
 * too.
 */
export function isClosed(fd: number): boolean {
  try {
    if (fstatSync(fd).rdev !== statSync('/dev/null').rdev) return false;
    readSync(fd, Buffer.alloc(1));
    return true;
  } catch {
    return false;
  }
}
