import type { FollowedFile } from './followed-file.ts';
import {
  closeFile,
  type FileChange,
  type FileId,
  type OpenFile,
  openFile,
  statFile,
} from './regular-file.ts';

/** What was found at a path. */
export interface Probe {
  readonly path: string;
  readonly status: FileChange | OpenFile;
  /** The first bytes of a file that was not known; undefined if it cannot be read. */
  readonly head: Buffer | undefined;
  /**
   * Bytes that had been read of the file at this path, in which life of it, when it was asked for: if it has less, it
   * was truncated.
   */
  readonly before: ReadBefore;
  /** The file that was expected at this path. */
  readonly expected: FollowedFile | undefined;
}

interface ReadBefore {
  readonly bytes: number;
  readonly life: number;
}

interface Known {
  expected(path: string): FollowedFile | undefined;
  isKnown(id: FileId): boolean;
  /** Whether a file that is not known may be kept open. */
  mayKeepOpen(): boolean;
}

type Done = (error: NodeJS.ErrnoException | null, probe?: Probe) => void;

/** Looks at a path, and into the file there if it is not known. */
export function probe(path: string, known: Known, done: Done): void {
  const expected = known.expected(path);
  const before = { bytes: expected?.lines.readOffset ?? 0, life: expected?.life ?? 0 };
  statFile(path, (error, status) => {
    if (status === undefined) {
      done(error);
      return;
    }
    if (known.isKnown(status.id)) {
      done(null, { path, status, head: undefined, before, expected });
      return;
    }
    openFile(path, status, (_, opened) => {
      const head = opened?.head;
      // What cannot be opened now is followed all the same: its first read tells why.
      if (opened === undefined) done(null, { path, status, head, before, expected });
      else if (known.mayKeepOpen()) done(null, { path, status: opened, head, before, expected });
      else {
        closeFile(opened.fd);
        const { fd: _fd, ...closed } = opened;
        done(null, { path, status: closed, head, before, expected });
      }
    });
  });
}

/** Calls `visit` for every item, at most `limit` at a time, then `done`. Does not recurse. */
export function eachLimited<T>(
  items: Iterable<T>,
  limit: number,
  visit: (item: T, next: () => void) => void,
  done: () => void,
): void {
  const iterator = items[Symbol.iterator]();
  let open = 0;
  let isFilling = false;
  const fill = () => {
    if (isFilling) return;
    isFilling = true;
    let item = open < limit ? iterator.next() : undefined;
    while (item !== undefined && item.done !== true) {
      open++;
      visit(item.value, close);
      item = open < limit ? iterator.next() : undefined;
    }
    isFilling = false;
    if (open === 0) done();
  };
  const close = () => {
    open--;
    fill();
  };
  fill();
}
