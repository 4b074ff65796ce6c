import fs from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Ledger } from './ledger.ts';

/** Bytes in which a program writes that buffers its log. */
const BLOCK = 4096;

/** A file of a log, under whatever name. */
export interface LogFile {
  name: string;
  readonly ids: number[];
  /** What is in it, and what is written to it later, may be lost: it was deleted, or rotated away unseen. */
  isForsaken: boolean;
  /** It was rotated before it was seen, by a process that is to find it all the same. */
  isUnseen: boolean;
  isLocked: boolean;
}

export interface LogWriterOptions {
  readonly name: string;
  readonly ledger: Ledger;
  /** The folder, which may be renamed meanwhile. */
  readonly folder: () => string;
  /** Whether a line that is written now has to come. */
  readonly isPromised: () => boolean;
  /** Write to the end of the file; otherwise, at the position after the last write, as without O_APPEND. */
  readonly appends: boolean;
  /** How rotated files are named: `a.log.1`, shifted, or `a.log-1`, counting. */
  readonly naming: 'shift' | 'count';
  /** Characters of each line, at least. */
  readonly width: number;
}

/** A program that writes a log and keeps it open, together with the logrotate that works on its files. */
export class LogWriter {
  readonly name: string;
  readonly #options: LogWriterOptions;
  #file: LogFile;
  #fd: number | undefined;
  #position = 0;
  /** Lines that are to be written; the start of the first one may have been. */
  #buffer = '';
  #rotated: LogFile[] = [];
  #rotations = 0;

  constructor(options: LogWriterOptions) {
    this.#options = options;
    this.name = options.name;
    this.#file = this.#newFile();
  }

  /** The file that the program has open, or will open with its next write. */
  get file(): LogFile {
    return this.#file;
  }

  /** Whether that file is there, and has the log's own name. */
  get isCurrent(): boolean {
    return this.#fd !== undefined && this.#file.name === this.name && !this.#file.isForsaken;
  }

  /** Rotated files that are there, newest first. */
  get rotated(): readonly LogFile[] {
    return this.#rotated;
  }

  append(count: number): void {
    this.#compose(count);
    this.#flush(this.#buffer.length);
  }

  /** Writes whole blocks, which end within a line. */
  appendBlocks(count: number): void {
    this.#compose(count);
    this.#flush(this.#buffer.length - (this.#buffer.length % BLOCK));
  }

  /** Writes a part of a line. The next write begins with the rest of it. */
  appendPart(share: number): void {
    if (this.#buffer === '') this.#compose(1);
    this.#flush(Math.floor(this.#buffer.length * share));
  }

  finishLine(): void {
    this.#flush(this.#buffer.length);
  }

  /** Opens the file of the log's name, which may be a new one. */
  reopen(): void {
    this.finishLine();
    if (this.isCurrent) return;
    this.close();
    this.#file = this.#newFile();
    this.#open();
  }

  close(): void {
    if (this.#fd !== undefined) fs.closeSync(this.#fd);
    this.#fd = undefined;
  }

  /** Renames the current file. The program goes on writing to it until it reopens its log. */
  rotate({ isKnown }: { isKnown: boolean }): void {
    const { naming } = this.#options;
    if (naming === 'shift') {
      for (const [n, file] of [...this.#rotated.entries()].reverse()) this.#rename(file, n + 2);
    }
    this.#rename(this.#file, naming === 'shift' ? 1 : ++this.#rotations);
    this.#rotated.unshift(this.#file);
    // A file that came and went unseen is found only if the paths match its new name.
    if (!isKnown) this.#forsake(this.#file);
  }

  /** Rotated files that were not seen yet, and would be found by the process that is no more, may be lost. */
  forsakeUnseen(delivered: ReadonlySet<number>): void {
    for (const file of this.#rotated) {
      if (file.isUnseen && !file.ids.some((id) => delivered.has(id))) this.#forsake(file);
      file.isUnseen = false;
    }
  }

  /** Of files that were found after all the rest has to come, whatever their names will be. Returns whether there are any. */
  reclaim(delivered: ReadonlySet<number>): boolean {
    let isAny = false;
    for (const file of this.#rotated) {
      const first = file.ids.findIndex((id) => delivered.has(id));
      if (!file.isForsaken || first === -1) continue;
      file.isForsaken = false;
      this.#options.ledger.promised(file.ids.slice(first));
      isAny = true;
    }
    return isAny;
  }

  /** Makes the new file of the log's name, as logrotate does before the program reopens its log. */
  create(): void {
    fs.closeSync(fs.openSync(join(this.#options.folder(), this.name), 'a', 0o640));
  }

  /** Truncates the current file, as copytruncate does. The rest of a line that it cuts is never written. */
  truncate(): void {
    fs.truncateSync(this.#path(this.#file));
    const { appends, ledger } = this.#options;
    if (appends && ledger.banner !== '') fs.writeSync(this.#fd as number, `${ledger.banner}\n`);
    this.#buffer = this.#buffer.slice(this.#buffer.indexOf('\n') + 1);
    const unwritten = this.#buffer.split('\n').length - 1;
    const { ids } = this.#file;
    this.#options.ledger.deleted(ids.splice(0, ids.length - unwritten));
  }

  remove(): void {
    fs.rmSync(this.#path(this.#file));
    this.#forsake(this.#file);
  }

  /** Replaces a rotated file by a compressed one. */
  compress(index: number): void {
    const [file] = this.#rotated.splice(index, 1) as [LogFile];
    const path = this.#path(file);
    fs.writeFileSync(`${path}-${this.#options.ledger.written}.gz`, gzipSync(fs.readFileSync(path)));
    fs.rmSync(path);
    this.#forsake(file);
  }

  /** Gives or takes the right to read the current file. */
  setReadable(isReadable: boolean): void {
    const file = this.#file;
    file.isLocked = !isReadable;
    fs.chmodSync(this.#path(file), isReadable ? 0o640 : 0);
  }

  unlockAll(): void {
    for (const file of [this.#file, ...this.#rotated]) {
      if (file.isLocked && fs.existsSync(this.#path(file))) fs.chmodSync(this.#path(file), 0o640);
      file.isLocked = false;
    }
  }

  #compose(count: number): void {
    const { ledger, isPromised, width } = this.#options;
    for (let n = 0; n < count; n++) {
      const { id, text } = ledger.line(this.name, width, !isPromised() || this.#file.isForsaken);
      this.#file.ids.push(id);
      this.#buffer += `${text}\n`;
    }
  }

  #flush(bytes: number): void {
    const text = this.#buffer.slice(0, bytes);
    this.#buffer = this.#buffer.slice(bytes);
    if (this.#fd === undefined) this.#open();
    const fd = this.#fd as number;
    // In two writes, between which a reader may look.
    for (const part of [text.slice(0, bytes / 3), text.slice(bytes / 3)]) {
      fs.writeSync(fd, part, this.#options.appends ? null : this.#position);
      this.#position += part.length;
    }
  }

  #open(): void {
    const path = this.#path(this.#file);
    const { banner } = this.#options.ledger;
    this.#fd = fs.openSync(
      path,
      this.#options.appends ? 'a' : fs.constants.O_WRONLY | fs.constants.O_CREAT,
      0o640,
    );
    this.#position = fs.fstatSync(this.#fd).size;
    if (banner !== '' && this.#position === 0) this.#position += fs.writeSync(this.#fd, `${banner}\n`);
  }

  #rename(file: LogFile, number: number): void {
    const name = `${this.name}${this.#options.naming === 'shift' ? '.' : '-'}${number}`;
    const from = this.#path(file);
    file.name = name;
    fs.renameSync(from, this.#path(file));
  }

  #forsake(file: LogFile): void {
    file.isForsaken = true;
    this.#options.ledger.deleted(file.ids);
  }

  #newFile(): LogFile {
    return { name: this.name, ids: [], isForsaken: false, isUnseen: false, isLocked: false };
  }

  #path(file: LogFile): string {
    return join(this.#options.folder(), file.name);
  }
}
