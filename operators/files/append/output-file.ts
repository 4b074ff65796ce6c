import type fs from 'node:fs';
import { basename, dirname } from 'node:path';
import { counted } from '../../support/counted.ts';
import { fileSystem } from '../../support/file-system.ts';
import { closeFile, fsCall, readAt, writeAll } from '../../support/fs-calls.ts';
import { type OpenOutput, type OutputId, openOutput, syncFolder } from './open-output.ts';
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

export interface OpenFileOptions {
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

  private constructor(path: string, { fd, id, size, isNew }: OpenOutput) {
    this.path = path;
    this.id = id;
    this.#fd = fd;
    this.#length = size;
    this.#lengthBefore = size;
    this.#isNew = isNew;
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
