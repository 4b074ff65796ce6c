import fs from 'node:fs';

/** The functions of `node:fs` that files are followed, appended to and remembered with. */
type NodeFunctions = Pick<
  typeof fs,
  | 'close'
  | 'fdatasync'
  | 'fstat'
  | 'fsync'
  | 'ftruncate'
  | 'link'
  | 'lstat'
  | 'mkdir'
  | 'open'
  | 'read'
  | 'readdir'
  | 'readlink'
  | 'realpath'
  | 'rename'
  | 'stat'
  | 'unlink'
  | 'write'
  | 'writeFile'
  | 'closeSync'
  | 'existsSync'
  | 'fstatSync'
  | 'openSync'
  | 'readFileSync'
  | 'realpathSync'
  | 'renameSync'
  | 'rmSync'
  | 'statSync'
  | 'writeFileSync'
>;

/** Tells of changes to a file, until it is closed. */
export interface FileWatch {
  /** Whether changes are still told of. */
  readonly isAlive: boolean;
  unwatch(): void;
}

/** What the code of this package knows of files: `node:fs`, or what stands in for it in a test. */
export interface FileSystem extends NodeFunctions {
  /** Takes the place of a watch by the library `tail`, which knows Node's files only. */
  watchChanges?(path: string, changed: (mayHaveMoved: boolean) => void): FileWatch;
  /** Told of work that threads of Node do, such as compression. Virtual time stands still until it is done. */
  waitFor?(work: Promise<unknown>): void;
}

/**
 * The file system that files are read from and written to: Node's own. A test in virtual time puts another one in its
 * place, as it does with the clocks.
 */
export let fileSystem: FileSystem = fs;

/** Replaces {@link fileSystem}, and returns what puts the one before back. */
export function replaceFileSystem(other: FileSystem): () => void {
  const before = fileSystem;
  fileSystem = other;
  return () => {
    fileSystem = before;
  };
}

/**
 * Something that a process has once, such as a table of its open files. It is another one for another file system, so
 * that a run that a test kills leaves nothing behind in the next one.
 */
export function perFileSystem<T>(make: () => T): () => T {
  const made = new WeakMap<FileSystem, T>();
  return () => {
    let one = made.get(fileSystem);
    if (one === undefined) {
      one = make();
      made.set(fileSystem, one);
    }
    return one;
  };
}

/** Calls a function of `fs` that takes a callback. Not `fs.promises`: the files here are plain descriptors. */
export function fsCall<T = void>(
  call: (done: (error: Error | null, result?: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, result) => (error === null ? resolve(result as T) : reject(error)));
  });
}

/** Fills `bytes` from `position` on; returns fewer if the file ends before. */
export async function readAt(fd: number, position: number, bytes: Buffer): Promise<Buffer> {
  let read = 0;
  while (read < bytes.length) {
    const [from, length] = [position + read, bytes.length - read];
    const count = await fsCall<number>((done) => fileSystem.read(fd, bytes, read, length, from, done));
    if (count === 0) break;
    read += count;
  }
  return bytes.subarray(0, read);
}

/** How much of some bytes was written, and what prevented the rest. */
interface WriteResult {
  /** Bytes. */
  readonly written: number;
  readonly error?: NodeJS.ErrnoException;
}

/** Appends all of `bytes`, in as many writes as it takes. Never rejects. */
export async function writeAll(fd: number, bytes: Uint8Array): Promise<WriteResult> {
  let written = 0;
  try {
    do {
      const [at, length] = [written, bytes.length - written];
      written += await fsCall<number>((done) => fileSystem.write(fd, bytes, at, length, null, done));
    } while (written < bytes.length);
    return { written };
  } catch (error) {
    return { written, error: error as NodeJS.ErrnoException };
  }
}

/** Never rejects: a write is confirmed, or reported as failed, before its file is closed. */
export function closeFile(fd: number): Promise<void> {
  return fsCall((done) => fileSystem.close(fd, () => done(null)));
}

/** Never rejects. */
export function removeFile(path: string): Promise<void> {
  return fsCall((done) => fileSystem.unlink(path, () => done(null)));
}

/** Whether a path leads to nothing. */
export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
