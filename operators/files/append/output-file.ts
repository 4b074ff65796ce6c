import fs from 'node:fs';
import { basename, dirname } from 'node:path';
import { counted } from '../../support/counted.ts';
import { closeFile, fileSystem, fsCall, readAt, writeAll } from '../../support/file-system.ts';
import { FILE_MODE, FOLDER_MODE, OUTPUT_FLAGS } from './output-rules.ts';
import { repairTail } from './torn-tail.ts';

/** Where the next write to a file goes. */
export interface OutputPlace {
  readonly id: OutputId;
  /** Bytes from the start of the file. */
  readonly length: number;
}

/** What a failed write left at the end of a file, and could not be cut off yet. */
export interface Leftover extends OutputPlace {
  readonly end: number;
}

export interface OutputLog {
  warn(message: string): void;
}

interface OpenFileOptions {
  /** What the last write to this path left behind. */
  readonly leftover: Leftover | undefined;
  readonly log: OutputLog;
  readonly mode: number;
}

const NEWLINE = Buffer.from('\n');

/** A file open for appending that keeps no more than what was confirmed. One operation at a time, except for `sync`. */
export class OutputFile {
  readonly path: string;
  readonly id: OutputId;
  leftover: Leftover | undefined;
  readonly #fd: number;
  /** Bytes, if no other program writes to it. */
  #length: number;
  #lengthBefore: number;
  /** How many changes have to be forced to the disk, and how many of them were. */
  #changes = 0;
  #synced = 0;
  /** Its entry in the folder was not forced to the disk. */
  #isNew: boolean;
  /** Milliseconds since 1970; undefined if it is new. */
  #writtenAt: number | undefined;

  private constructor(path: string, { fd, id, size, writtenAt, isNew }: OpenOutput) {
    this.path = path;
    this.id = id;
    this.#fd = fd;
    this.#length = size;
    this.#lengthBefore = size;
    this.#isNew = isNew;
    this.#writtenAt = isNew ? undefined : writtenAt;
    this.#changes = isNew ? 1 : 0;
  }

  static async open(path: string, { leftover, log, mode }: OpenFileOptions): Promise<OutputFile> {
    const file = new OutputFile(path, await openOutput(path, mode));
    try {
      const hasLeftover = leftover?.id === file.id && leftover.end === file.#length;
      if (hasLeftover) await file.#truncate(leftover.length);
      await file.#repair(log);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** When it was written to before it was opened, or since as {@link written} says. */
  get writtenAt(): number | undefined {
    return this.#writtenAt;
  }

  written(now: number): void {
    this.#writtenAt = now;
  }

  get place(): OutputPlace {
    return { id: this.id, length: this.#length };
  }

  /** Appends all of `bytes`. When it rejects, the file has none of it, or `leftover` tells what it still has. */
  async append(bytes: Buffer): Promise<void> {
    this.#lengthBefore = this.#length;
    const { written, error } = await writeAll(this.#fd, bytes);
    this.#length += written;
    if (error !== undefined) {
      await this.undo();
      throw error;
    }
    // Not before: a `sync` that starts during the write would count what the disk may not have.
    this.#changes++;
  }

  /**
   * Cuts off what the last `append` has written, unless another program has written since. Never rejects. If the file was
   * emptied right before that write, it holds that write alone.
   */
  async undo(): Promise<void> {
    const length = this.#lengthBefore;
    const end = this.#length;
    if (end <= length) return;
    try {
      const { size } = await fsCall<fs.Stats>((done) => fileSystem.fstat(this.#fd, done));
      if (size === end) await this.#truncate(length);
      else if (size === end - length) await this.#truncate(0);
    } catch {
      this.leftover = { id: this.id, length, end };
    }
  }

  /**
   * Whether it was removed under the name by which it was opened. A file that was renamed before, as by logrotate, was
   * read in full by the program that compressed it. Never rejects.
   */
  async wasRemoved(): Promise<boolean> {
    try {
      const { nlink } = await fsCall<fs.Stats>((done) => fileSystem.fstat(this.#fd, done));
      if (nlink > 0) return false;
      // Linux shows the last name of a file that has none left.
      const name = await fsCall<string>((done) => fileSystem.readlink(`/proc/self/fd/${this.#fd}`, done));
      return basename(name) === `${basename(this.path)} (deleted)`;
    } catch {
      return true;
    }
  }

  /** Up to `length` bytes from its start. */
  read(length: number): Promise<Buffer> {
    return readAt(this.#fd, 0, Buffer.alloc(length));
  }

  /** Forces what was written until now to the disk. It may be written to meanwhile, but not closed. */
  async sync(): Promise<void> {
    const upTo = this.#changes;
    if (upTo === this.#synced) return;
    await fsCall((done) => fileSystem.fdatasync(this.#fd, done));
    if (this.#isNew) await syncFolder(dirname(this.path));
    this.#synced = Math.max(this.#synced, upTo);
    this.#isNew = false;
  }

  /** Takes note of what other programs did to it: `size` is that of the file now. */
  resized(size: number): void {
    this.#length = size;
  }

  close(): Promise<void> {
    return closeFile(this.#fd);
  }

  async #repair(log: OutputLog): Promise<void> {
    const { length, isTerminated } = await repairTail(this.#fd, this.#length);
    const torn = this.#length - length;
    this.#length = length;
    if (torn > 0) {
      log.warn(
        `${this.path} ended with ${counted(torn, 'byte')} of a write that was never confirmed; that was cut off`,
      );
    }
    if (isTerminated) return;
    await this.append(NEWLINE);
    log.warn(`${this.path} ended in the middle of a line that is not ours; it got a newline`);
  }

  async #truncate(length: number): Promise<void> {
    await fsCall((done) => fileSystem.ftruncate(this.#fd, length, done));
    this.#length = length;
  }
}

const FLAGS = OUTPUT_FLAGS | fs.constants.O_RDWR | fs.constants.O_APPEND;

/** Device and inode, as digits because they may exceed 2^53. */
type OutputId = `${bigint}:${bigint}`;

interface OutputStatus {
  readonly id: OutputId;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly writtenAt: number;
}

interface OpenOutput extends OutputStatus {
  readonly fd: number;
  readonly isNew: boolean;
}

/** Opens a regular file for appending, created with its folder if need be. One that exists keeps its permissions. */
export async function openOutput(path: string, mode = FILE_MODE): Promise<OpenOutput> {
  const { fd, isNew } = await openOrCreate(path, mode);
  try {
    const stats = await fsCall<fs.BigIntStats>((done) => fileSystem.fstat(fd, { bigint: true }, done));
    if (stats.isFile()) return { fd, isNew, ...statusOf(stats) };
    throw Object.assign(new Error('it is not a regular file'), { code: 'NOT_A_FILE', syscall: 'open' });
  } catch (error) {
    await closeFile(fd);
    throw error;
  }
}

/** The status of what is at a path, which may be a symbolic link. */
export async function outputStatus(path: string): Promise<OutputStatus> {
  return statusOf(await fsCall<fs.BigIntStats>((done) => fileSystem.lstat(path, { bigint: true }, done)));
}

/** Forces a folder's entries to the disk: without that, a new file can be gone after a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const fd = await open(path, fs.constants.O_RDONLY);
  try {
    await fsCall((done) => fileSystem.fsync(fd, done));
  } finally {
    await closeFile(fd);
  }
}

/** Makes a folder as `makeFolderSync` does. */
export async function makeFolder(path: string, mode = FOLDER_MODE): Promise<void> {
  try {
    await makeOneFolder(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent, mode);
    await makeOneFolder(path, mode);
  }
}

async function makeOneFolder(path: string, mode: number): Promise<void> {
  try {
    await fsCall((done) => fileSystem.mkdir(path, mode, done));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    const stats = await fsCall<fs.Stats>((done) => fileSystem.stat(path, done)).catch(() =>
      Promise.reject(error),
    );
    if (stats.isDirectory()) return;
    const what = `ENOTDIR: not a directory, mkdir '${path}'`;
    throw Object.assign(new Error(what), { code: 'ENOTDIR', syscall: 'mkdir' });
  }
}

async function openOrCreate(path: string, mode: number): Promise<{ fd: number; isNew: boolean }> {
  try {
    return { fd: await open(path, FLAGS), isNew: false };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await makeFolder(dirname(path));
  try {
    const fd = await open(path, FLAGS | fs.constants.O_CREAT | fs.constants.O_EXCL, mode);
    return { fd, isNew: true };
  } catch (error) {
    // Another program has just created it, or it is a symbolic link that leads nowhere.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return { fd: await open(path, FLAGS), isNew: false };
  }
}

function open(path: string, flags: number, mode?: number): Promise<number> {
  return fsCall<number>((done) => fileSystem.open(path, flags, mode, done));
}

function statusOf({ dev, ino, size, mtimeMs }: fs.BigIntStats): OutputStatus {
  return { id: `${dev}:${ino}`, size: Number(size), writtenAt: Number(mtimeMs) };
}
