import fs from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import {
  closeFile,
  fileSystem,
  fsCall,
  isMissing,
  readAt,
  removeFile,
  writeAll,
} from '../../support/file-system.ts';
import { type OutputLog, outputStatus, syncFolder } from './output-file.ts';
import { OUTPUT_FLAGS } from './output-rules.ts';
import { writeError } from './write-error.ts';

/** When a file is rotated, and what becomes of it then. */
export interface RotationOptions {
  /** A file is rotated before a write that would make it larger. */
  readonly bytes?: number | undefined;
  /** Milliseconds: a file is rotated before the first write of a new period. Periods are counted from 1970, in UTC. */
  readonly period?: number | undefined;
  /** What is done with rotated files. Default: none. */
  readonly compression?: 'gzip' | 'none' | undefined;
  /** Which rotated files are kept: the newest ones, as far as all of these allow. Default: all. */
  readonly keep?:
    | {
        readonly files?: number | undefined;
        readonly bytes?: number | undefined;
        /** Milliseconds since the rotation. */
        readonly age?: number | undefined;
      }
    | undefined;
}

/** What a rotation has to know of the file that is open. */
export interface RotatedOutput {
  readonly place: { readonly id: string; readonly length: number };
  /** When it was written to last, in milliseconds; undefined if it is new. */
  readonly writtenAt: number | undefined;
}

/** A rotated file. */
interface Rotated {
  readonly name: string;
  readonly isCompressed: boolean;
  readonly rotatedAt: number;
  /** Distinguishes files of one second. */
  readonly number: number;
}

const GZIP = '.gz';
/** What a compression has not finished, with the process that does it: several may write to one folder. */
const UNFINISHED = /^(.*\.gz)\.(\d+)\.tmp$/;
const COPIED_BYTES = 256 * 1024;

/**
 * Rotates one file: renames it to a name with the time in UTC, in the same folder, such as
 * `events-20260102T030405Z.jsonl`. Then it compresses rotated files, and deletes those that are not to be kept.
 *
 * A compressed file takes the place of the other one when the disk has all of it, so a crash at any point loses nothing. A
 * file that may have to be cut back is neither compressed nor deleted: see {@link hold}.
 */
export class FileRotation {
  readonly #path: string;
  readonly #options: RotationOptions;
  readonly #log: OutputLog;
  readonly #scheduler: SchedulerLike;
  readonly #pattern: RegExp;
  /** Files that were rotated and may have to be cut back, in order. Undefined if none ever has to be. */
  #held: string[] | undefined;
  #maintaining: Promise<void> = Promise.resolve();
  #isTidy = false;
  #hasFailed = false;

  constructor(
    path: string,
    options: RotationOptions,
    log: OutputLog,
    scheduler: SchedulerLike = asyncScheduler,
  ) {
    this.#path = path;
    this.#options = options;
    this.#log = log;
    this.#scheduler = scheduler;
    const { stem, ext } = this.#parts;
    this.#pattern = new RegExp(`^${escaped(stem)}-(\\d{8}T\\d{6}Z)(?:-(\\d+))?${escaped(ext)}(\\.gz)?$`);
  }

  /** From now on, rotated files stay as they are until {@link release} says that they are not cut back any more. */
  hold(): void {
    this.#held ??= [];
    this.#isTidy = true;
  }

  /** Nothing before the file with this identity is cut back any more. */
  release(id: string): void {
    if (this.#held === undefined) return;
    const at = this.#held.indexOf(id);
    const released = this.#held.splice(0, at === -1 ? this.#held.length : at);
    if (released.length > 0 || this.#isTidy) this.#maintain();
    this.#isTidy = false;
  }

  /** Whether the file is to be rotated before so many bytes are written to it. */
  isDue({ place: { length }, writtenAt }: RotatedOutput, bytes: number): boolean {
    if (this.#held === undefined && !this.#isTidy) {
      // What an earlier process has left.
      this.#isTidy = true;
      this.#maintain();
    }
    if (length === 0) return false;
    const { bytes: most = Number.POSITIVE_INFINITY, period } = this.#options;
    if (length + bytes > most) return true;
    if (period === undefined || writtenAt === undefined) return false;
    return Math.floor(writtenAt / period) < Math.floor(this.#scheduler.now() / period);
  }

  /** Renames the file, which is closed. If that fails, it stays where it is, and is written to: a warning says so. */
  async rotate({ place: { id } }: RotatedOutput): Promise<void> {
    try {
      // Another process may have rotated it meanwhile.
      if ((await outputStatus(this.#path)).id !== id) return;
      const to = await this.#freePath();
      await fsCall((done) => fileSystem.rename(this.#path, to, done));
      this.#hasFailed = false;
    } catch (error) {
      if (isMissing(error)) return;
      this.#warn('cannot be rotated, and is written to as it is', error);
      return;
    }
    if (this.#held === undefined) this.#maintain();
    else this.#held.push(id);
  }

  /** Resolves when rotated files are compressed and deleted as far as they are to be. */
  get settled(): Promise<void> {
    return this.#maintaining;
  }

  get #parts(): { readonly folder: string; readonly stem: string; readonly ext: string } {
    const name = basename(this.#path);
    const ext = extname(name);
    return { folder: dirname(this.#path), stem: name.slice(0, name.length - ext.length), ext };
  }

  /** A path that sorts after those of all rotated files of this second, of which some may be deleted already. */
  async #freePath(): Promise<string> {
    const { folder, stem, ext } = this.#parts;
    const second = Math.floor(this.#scheduler.now() / 1000) * 1000;
    const date = new Date(second).toISOString().replace(/[-:]|\.000/g, '');
    const last = this.#rotatedOf(await this.#names()).findLast(({ rotatedAt }) => rotatedAt === second);
    return join(folder, `${stem}-${date}${last === undefined ? '' : `-${last.number + 1}`}${ext}`);
  }

  /** After what is under way, which may take long. Never rejects. */
  #maintain(): void {
    this.#maintaining = this.#maintaining.then(async () => {
      try {
        if (this.#options.compression === 'gzip') await this.#compressAll();
        await this.#deleteSurplus();
      } catch (error) {
        if (!isMissing(error)) this.#warn('has rotated files that cannot be compressed or deleted', error);
      }
    });
  }

  async #compressAll(): Promise<void> {
    const { folder } = this.#parts;
    const names = await this.#names();
    for (const name of names) {
      const [, of = '', pid = ''] = UNFINISHED.exec(name) ?? [];
      if (this.#read(of) !== undefined && !isOther(Number(pid))) await removeFile(join(folder, name));
    }
    for (const { name, isCompressed } of this.#rotatedOf(names)) {
      const path = join(folder, name);
      if (isCompressed || (await this.#isHeld(path))) continue;
      if (!names.includes(name + GZIP)) await compress(path);
      await fsCall((done) => fileSystem.unlink(path, done));
    }
  }

  async #deleteSurplus(): Promise<void> {
    const { files, bytes, age } = this.#options.keep ?? {};
    if (files === undefined && bytes === undefined && age === undefined) return;
    const { folder } = this.#parts;
    let [count, total] = [0, 0];
    for (const { name, rotatedAt } of this.#rotatedOf(await this.#names()).reverse()) {
      const path = join(folder, name);
      const { size } = await outputStatus(path);
      count++;
      total += size;
      const isKept =
        count <= (files ?? Number.POSITIVE_INFINITY) &&
        total <= (bytes ?? Number.POSITIVE_INFINITY) &&
        this.#scheduler.now() - rotatedAt <= (age ?? Number.POSITIVE_INFINITY);
      if (!isKept && !(await this.#isHeld(path))) await fsCall((done) => fileSystem.unlink(path, done));
    }
  }

  async #isHeld(path: string): Promise<boolean> {
    return this.#held?.includes((await outputStatus(path)).id) === true;
  }

  #names(): Promise<string[]> {
    return fsCall<string[]>((done) => fileSystem.readdir(this.#parts.folder, done));
  }

  /** From the oldest to the newest. */
  #rotatedOf(names: readonly string[]): Rotated[] {
    return names
      .flatMap((name) => this.#read(name) ?? [])
      .sort((one, other) => one.rotatedAt - other.rotatedAt || one.number - other.number);
  }

  #read(name: string): Rotated | undefined {
    const [, date = '', number = '1', gzip] = this.#pattern.exec(name) ?? [];
    const iso = date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z');
    const rotatedAt = Date.parse(iso);
    if (Number.isNaN(rotatedAt)) return undefined;
    return { name, isCompressed: gzip !== undefined, rotatedAt, number: Number(number) };
  }

  /** Once for each series of failures. */
  #warn(what: string, error: unknown): void {
    const { message } = writeError(this.#path, error as NodeJS.ErrnoException);
    if (!this.#hasFailed) this.#log.warn(`${this.#path} ${what}: ${message}`);
    this.#hasFailed = true;
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Whether another process runs under a number. In this one, nothing else compresses the same files. */
function isOther(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0) === true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Writes a compressed copy of a file, which has its name when the disk has all of it. */
async function compress(path: string): Promise<void> {
  const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = fs.constants;
  // Never created: another process may have compressed and removed it.
  const fd = await fsCall<number>((done) => fileSystem.open(path, O_RDONLY | OUTPUT_FLAGS, done));
  const unfinished = `${path}${GZIP}.${process.pid}.tmp`;
  try {
    const { mode, size } = await fsCall<fs.Stats>((done) => fileSystem.fstat(fd, done));
    const flags = O_WRONLY | O_CREAT | O_EXCL;
    const copy = await fsCall<number>((done) => fileSystem.open(unfinished, flags, mode & 0o777, done));
    try {
      const written = pipeline(chunksOf(fd, size), createGzip(), async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) {
          const { error } = await writeAll(copy, chunk);
          if (error !== undefined) throw error;
        }
      });
      fileSystem.waitFor?.(written);
      await written;
      await fsCall((done) => fileSystem.fsync(copy, done));
    } finally {
      await closeFile(copy);
    }
    await fsCall((done) => fileSystem.rename(unfinished, path + GZIP, done));
    await syncFolder(dirname(path));
  } catch (error) {
    await removeFile(unfinished);
    throw error;
  } finally {
    await closeFile(fd);
  }
}

async function* chunksOf(fd: number, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; at += COPIED_BYTES)
    yield await readAt(fd, at, Buffer.allocUnsafe(Math.min(COPIED_BYTES, size - at)));
}
