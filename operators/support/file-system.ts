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
