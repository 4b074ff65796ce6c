import { isUtf8 } from 'node:buffer';
import fs, { type Dirent } from 'node:fs';
import { closeFile, fileSystem, fsCall, readAt } from '../../support/file-system.ts';
import { HEAD_BYTES } from './file-fingerprint.ts';

/** Identifies a file whatever its path: device and inode, as digits because they may exceed 2^53. */
export type FileId = `${bigint}:${bigint}`;

/** A device may have another number after a remount; the inode stays. */
export function inodeOf(id: FileId): string {
  return id.slice(id.indexOf(':') + 1);
}

export interface FileStatus {
  readonly id: FileId;
  readonly size: number;
}

/** What tells whether a file may have changed since it was last looked at. */
export interface FileChange extends FileStatus {
  /** Nanoseconds; to be compared only. */
  readonly modified: bigint;
  /** When it, its name included, was changed last, and when it was made; 0 where the file system does not tell. */
  readonly changed: bigint;
  readonly born: bigint;
  /** A symbolic link leads to it, which may be led elsewhere without a trace on the file. */
  readonly isLinked: boolean;
}

export interface OpenFile extends FileChange {
  readonly fd: number;
  readonly head: Buffer;
}

/** The status of the file at a path, symbolic links followed. Rejects on anything that is not a regular file. */
export async function statFile(path: string): Promise<FileChange> {
  if (path.includes('\0')) {
    // fs.stat would throw.
    throw Object.assign(new Error('a path with a NUL character names no file'), { code: 'ENOENT' });
  }
  const raw = toRawPath(path);
  const stats = await fsCall<fs.BigIntStats>((done) => fileSystem.lstat(raw, { bigint: true }, done));
  if (!stats.isSymbolicLink()) return statusOf(stats, false);
  return statusOf(await fsCall<fs.BigIntStats>((done) => fileSystem.stat(raw, { bigint: true }, done)), true);
}

/** {@link statFile}, or undefined if that fails. */
export function findFile(path: string): Promise<FileChange | undefined> {
  return statFile(path).catch(() => undefined);
}

/**
 * Opens a regular file for reading; the status is of what was opened, whatever the path leads to by then. Rejects if its
 * first bytes cannot be read: without them it cannot be told from another one.
 */
export async function openFile(path: string, { isLinked }: { isLinked: boolean }): Promise<OpenFile> {
  // O_NONBLOCK: opening a pipe that has no writer would hold a thread of the pool forever.
  const flags = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK;
  const fd = await fsCall<number>((done) => fileSystem.open(toRawPath(path), flags, done));
  try {
    const stats = await fsCall<fs.BigIntStats>((done) => fileSystem.fstat(fd, { bigint: true }, done));
    const status = statusOf(stats, isLinked);
    const head = Buffer.alloc(HEAD_BYTES);
    const count = await fsCall<number>((done) => fileSystem.read(fd, head, 0, HEAD_BYTES, 0, done));
    return { ...status, fd, head: head.subarray(0, count) };
  } catch (error) {
    closeFile(fd);
    throw error;
  }
}

function statusOf(stats: fs.BigIntStats, isLinked: boolean): FileChange {
  if (!stats.isFile()) {
    const message = stats.isDirectory()
      ? 'it is a folder; expected a file, or a pattern of files such as FOLDER/*.log'
      : 'it is not a regular file; expected one, for of a pipe or a device nothing can be read twice';
    throw Object.assign(new Error(message), { code: 'NOT_A_FILE' });
  }
  const { dev, ino, size, mtimeNs: modified, ctimeNs: changed, birthtimeNs: born } = stats;
  return { id: `${dev}:${ino}`, size: Number(size), modified, changed, born, isLinked };
}

/** The bytes from `from` to `to`; undefined if there are fewer by now. */
export async function readSpan(fd: number, from: number, to: number): Promise<Buffer | undefined> {
  const bytes = await readAt(fd, from, Buffer.allocUnsafe(to - from));
  return bytes.length === to - from ? bytes : undefined;
}

/** Where a name was decoded, what is not UTF-8 became this. */
const UNDECODED = '\ufffd';

/** The entries of a folder, whatever bytes their names are. */
export async function listFolder(folder: string): Promise<Dirent[]> {
  const path = toRawPath(folder);
  const entries = await fsCall<Dirent[]>((done) => fileSystem.readdir(path, { withFileTypes: true }, done));
  // Bytes only where they are needed: decoding 10,000 names one by one takes long.
  if (!entries.some(({ name }) => name.includes(UNDECODED))) return entries;
  const raw = await fsCall<Dirent<Buffer>[]>((done) =>
    fileSystem.readdir(path, { withFileTypes: true, encoding: 'buffer' }, done),
  );
  return raw.map((entry) => Object.assign(entry as unknown as Dirent, { name: fromRawPath(entry.name) }));
}

export interface FolderStatus {
  readonly id: FileId;
  /** When names in it were changed last: nanoseconds, to be compared only. */
  readonly modified: bigint;
}

/** The status of the folder at a path; undefined where there is none. */
export async function folderStatus(folder: string): Promise<FolderStatus | undefined> {
  try {
    const path = toRawPath(folder);
    const stats = await fsCall<fs.BigIntStats>((done) => fileSystem.stat(path, { bigint: true }, done));
    return { id: `${stats.dev}:${stats.ino}`, modified: stats.mtimeNs };
  } catch {
    return undefined;
  }
}

/** Whether the process, or the system, has no descriptor left: it works again when one is closed. */
export function isShortage(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE';
}

/** Calls `visit` for every item, at most `limit` at a time. */
export async function eachLimited<T>(
  items: Iterable<T>,
  limit: number,
  visit: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const visitNext = async () => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) await visit(next.value);
  };
  await Promise.all(Array.from({ length: limit }, visitNext));
}

/**
 * File names are bytes. In a path, each byte above ASCII of a name that is not UTF-8 stands as one of these characters,
 * U+DC80 to U+DCFF, which no UTF-8 decodes to: the path leads back to the same bytes.
 */
const ESCAPED_BYTES = /([\udc80-\udcff]+)/u;
const ESCAPE = 0xdc00;
const ASCII_END = 0x80;

/** The name, or path, that these bytes are. */
export function fromRawPath(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  return Array.from(bytes, (byte) => String.fromCharCode(byte < ASCII_END ? byte : ESCAPE + byte)).join('');
}

/** What the calls of `fs` take for a path: bytes where it is not UTF-8. */
export function toRawPath(path: string): string | Buffer {
  if (!ESCAPED_BYTES.test(path)) return path;
  // Every other part is escaped: of each character only the low byte counts.
  const parts = path.split(ESCAPED_BYTES);
  return Buffer.concat(parts.map((part, i) => Buffer.from(part, i % 2 === 0 ? 'utf8' : 'latin1')));
}
