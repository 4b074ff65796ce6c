import fs from 'node:fs';

/** More than LMDB writes at a time beside the records: its first pages, and copies of the pages above a record. */
const OVERHEAD = 128 * 1024;
const NOTHING = Buffer.alloc(64 * 1024);

/**
 * Makes sure that a file can be made at `path` with so many bytes and more, then removes it. LMDB itself ends the
 * process by a segmentation fault when there is no room for a new store, and writes to standard error each time that
 * a transaction does not fit.
 *
 * @throws an error of the operating system
 */
export function checkRoom(path: string, bytes: number): void {
  const file = fs.openSync(path, 'w', 0o600);
  try {
    for (let left = bytes + OVERHEAD; left > 0; left -= NOTHING.length) fs.writeSync(file, NOTHING);
  } finally {
    fs.closeSync(file);
    fs.rmSync(path, { force: true });
  }
}
