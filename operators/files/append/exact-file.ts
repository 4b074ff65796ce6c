import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { concat, defer, from, type Observable, of } from 'rxjs';
import { counted } from '../../support/counted.ts';
import {
  closeFile,
  fileSystem,
  fsCall,
  isMissing,
  readAt,
  removeFile,
  writeAll,
} from '../../support/file-system.ts';
import type { FileAppender } from './file-appender.ts';
import type { OutputFile, OutputLog, OutputPlace } from './output-file.ts';
import { openOutput, outputStatus, syncFolder } from './output-file.ts';
import { writeError } from './write-error.ts';

/** How far one file belongs to what is confirmed: JSON. */
export type FileMark = {
  /** Device and inode. */
  readonly id: string;
  /** Where the file was. It may have been renamed since. */
  readonly path: string;
  /** Bytes. */
  readonly length: number;
  /** A digest of its first bytes: an inode is used again, and another file must not be cut. */
  readonly head: string;
};

/** Bytes by which a file is recognised, as far as it has them. */
const HEAD_BYTES = 1024;

interface ExactFileOptions {
  readonly log: OutputLog;
  /** Called ahead of each write, with the mark of where it goes: it may have to be kept before anything is written. */
  readonly begun: (mark: FileMark) => Observable<unknown>;
  /** Called with a file that was removed, and how long it was: see {@link FileAppender.removed$}. */
  readonly removed: (file: OutputPlace) => void;
}

/** Writes texts to one file and says how far it goes, so that what was not confirmed can be cut off after a crash. */
export class ExactFile {
  readonly #appender: FileAppender;
  readonly #options: ExactFileOptions;
  #id: string | undefined;
  #length = 0;
  #head: Buffer = Buffer.alloc(0);
  #fullDigest: string | undefined;

  constructor(appender: FileAppender, options: ExactFileOptions) {
    this.#appender = appender;
    this.#options = options;
    appender.removed$.subscribe(options.removed);
    appender.rotation?.hold();
  }

  /**
   * Cuts off what lies past the marks. Errors if that cannot be, as {@link cutBack} does. With `lost` sources, of which
   * lines may be there that do not come again, it is set aside first.
   */
  restore(marks: readonly FileMark[], lost: readonly string[] = []): Observable<never> {
    return this.#appender.aside(() => from(this.#cutAll(marks, lost)));
  }

  /** Appends all of `texts` or none; emits the marks after each of them, once. */
  write(texts: readonly string[]): Observable<readonly FileMark[]> {
    const bytes = texts.map((text) => Buffer.from(text));
    return concat(
      this.#appender.append(Buffer.concat(bytes), {
        fsync: 'interval',
        before: (file) => this.#beforeWrite(file),
      }),
      defer(() => of(bytes.map((text) => this.#advance(text)))),
    );
  }

  /** What was written up to a mark is confirmed: nothing before it is cut off any more. */
  committed({ id }: Pick<FileMark, 'id'>): void {
    this.#appender.rotation?.release(id);
  }

  sync(): Observable<never> {
    return this.#appender.sync();
  }

  async #cutAll(marks: readonly FileMark[], lost: readonly string[]): Promise<void> {
    const { log } = this.#options;
    const gone = lost.length === 0 ? '' : namesOf(lost);
    for (const mark of marks) {
      const { path } = mark;
      const cut = await cutBack(mark, { setsAside: lost.length > 0 });
      if (cut === 'gone') {
        log.warn(
          lost.length === 0
            ? `${path} is gone, of which nothing was confirmed; all that was in it is written again. If it was moved or compressed, delete that copy`
            : `${path} is gone, of which nothing was confirmed. If it was moved or compressed, keep that copy: lines of ${gone} in it cannot be read again; all other lines in it are written again`,
        );
      } else if (cut.bytes > 0) {
        const what = `${path}: what was not confirmed, ${counted(cut.bytes, 'byte')}, was`;
        log.warn(
          cut.aside === undefined
            ? `${what} cut off, and is written again: all of it can be read again from its sources`
            : `${what} moved to ${cut.aside}: it has lines of ${gone}, which cannot be read again. Lines of other ` +
                'sources in it are written again. Keep that file, or put the sources back as they were, uncompressed, ' +
                'and then delete it',
        );
      }
    }
  }

  #beforeWrite(file: OutputFile): Observable<unknown> {
    const { id, length } = file.place;
    const isKnown = id === this.#id && length === this.#length;
    return concat(
      isKnown ? [] : defer(() => this.#readHead(file)),
      defer(() => {
        this.#length = length;
        return this.#options.begun(this.#mark());
      }),
    );
  }

  /** Another file, or one that another program has written to or truncated. */
  async #readHead(file: OutputFile): Promise<void> {
    this.#head = await file.read(HEAD_BYTES);
    this.#id = file.id;
    this.#fullDigest = undefined;
  }

  #advance(text: Buffer): FileMark {
    this.#length += text.length;
    if (this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, text]).subarray(0, HEAD_BYTES);
      this.#fullDigest = undefined;
    }
    return this.#mark();
  }

  #mark(): FileMark {
    this.#fullDigest ??= headDigest(this.#head, this.#length);
    return { id: this.#id ?? '', path: this.#appender.path, length: this.#length, head: this.#fullDigest };
  }
}

/** The digest of the first bytes of a file of this length. */
function headDigest(head: Uint8Array, length: number): string {
  return createHash('sha256').update(head.subarray(0, length)).digest('hex').slice(0, 16);
}

/** The most sources that a message names. */
const MOST_NAMES = 3;

function namesOf(lost: readonly string[]): string {
  const more = lost.length - MOST_NAMES;
  return `${lost.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${counted(more, 'other source')}` : ''}`;
}

interface CutOptions {
  /** What is cut off is copied to a file of its own. */
  readonly setsAside: boolean;
}

interface Cut {
  /** Bytes that were cut off. */
  readonly bytes: number;
  /** The file that has them now. */
  readonly aside?: string;
}

/**
 * Cuts off what lies past a mark, in the file that the mark was made of, wherever in its folder that is by now, or in a
 * copy of it that was put back at its path. Resolves with what was cut off, or that the file is gone of which nothing was
 * confirmed.
 *
 * Rejects, permanently, if there is no such file, if it is shorter than the mark, or if it starts differently.
 */
async function cutBack(mark: FileMark, options: CutOptions): Promise<Cut | 'gone'> {
  try {
    const path = (await findMarked(mark)) ?? (await findCopy(mark));
    if (path !== undefined) return await cutFile(path, mark, options);
  } catch (error) {
    throw (error as { permanent?: boolean }).permanent === true
      ? error
      : writeError(mark.path, error as NodeJS.ErrnoException);
  }
  // A power cut may have taken it with all that was in it.
  if (mark.length === 0) return 'gone';
  throw refusal(mark, 'it is gone');
}

/** The path of the file with this identity. */
async function findMarked({ id, path }: FileMark): Promise<string | undefined> {
  const folder = dirname(path);
  const names = await unlessMissing(fsCall<string[]>((done) => fileSystem.readdir(folder, done)));
  for (const candidate of [path, ...(names ?? []).map((name) => join(folder, name))]) {
    const status = await unlessMissing(outputStatus(candidate));
    if (status?.id === id) return candidate;
  }
  return undefined;
}

/** The path of the mark, if a copy of its file is there. */
async function findCopy({ path, length, head }: FileMark): Promise<string | undefined> {
  const status = await unlessMissing(outputStatus(path));
  if (length === 0 || status === undefined || status.size < length) return undefined;
  const digest = await unlessMissing(withOutput(path, ({ fd }) => digestOf(fd, length)));
  return digest === head ? path : undefined;
}

function cutFile(path: string, mark: FileMark, { setsAside }: CutOptions): Promise<Cut> {
  return withOutput(path, async ({ fd, size }) => {
    const { length, head } = mark;
    const digest = await digestOf(fd, length);
    if (size < length) {
      throw refusal(mark, `it has ${counted(size, 'byte')}, of ${length} that were confirmed`);
    }
    if (digest !== head) throw refusal(mark, 'it no longer starts with the same bytes');
    if (size === length) return { bytes: 0 };
    const aside = setsAside ? await copyAside(fd, { path, from: length, to: size }) : undefined;
    await fsCall((done) => fileSystem.ftruncate(fd, length, done));
    await fsCall((done) => fileSystem.fdatasync(fd, done));
    return { bytes: size - length, ...(aside !== undefined && { aside }) };
  });
}

const ASIDE_FLAGS = fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL;
const COPIED_BYTES = 256 * 1024;

/** Copies a part of an open file to a new one beside it, which the disk has then. Returns the path of that. */
async function copyAside(
  fd: number,
  { path, from, to }: { readonly path: string; readonly from: number; readonly to: number },
): Promise<string> {
  const { mode } = await fsCall<fs.Stats>((done) => fileSystem.fstat(fd, done));
  const { aside, copy } = await createAside(path, mode & 0o777);
  try {
    for (let at = from; at < to; at += COPIED_BYTES) {
      const bytes = await readAt(fd, at, Buffer.allocUnsafe(Math.min(COPIED_BYTES, to - at)));
      const { error } = await writeAll(copy, bytes);
      if (error !== undefined) throw error;
    }
    await fsCall((done) => fileSystem.fsync(copy, done));
    await syncFolder(dirname(aside));
    return aside;
  } catch (error) {
    await removeFile(aside);
    throw error;
  } finally {
    await closeFile(copy);
  }
}

async function createAside(path: string, mode: number): Promise<{ aside: string; copy: number }> {
  for (let n = 1; ; n++) {
    const aside = `${path}.uncommitted-${n}`;
    try {
      const copy = await fsCall<number>((done) => fileSystem.open(aside, ASIDE_FLAGS, mode, done));
      return { aside, copy };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

async function withOutput<T>(
  path: string,
  work: (opened: { readonly fd: number; readonly size: number }) => Promise<T>,
): Promise<T> {
  const opened = await openOutput(path);
  try {
    return await work(opened);
  } finally {
    await closeFile(opened.fd);
  }
}

/** The digest of the first bytes of an open file, as far as a mark of this length covers them. */
async function digestOf(fd: number, length: number): Promise<string> {
  return headDigest(await readAt(fd, 0, Buffer.alloc(Math.min(HEAD_BYTES, length))), length);
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function refusal({ path, length }: FileMark, why: string): Error {
  const text =
    `cannot go on with ${path} exactly once: ${why}. Its first ${counted(length, 'byte')} were committed; what follows ` +
    'them was not, has to be cut off, and is written again. If the file was moved or compressed, put it back at ' +
    `${path}, uncompressed, and start again. If it is lost, run the pipeline once with \`exactly_once: false\`: it ` +
    'goes on behind the last commit in a new file, and what was written after that commit is written a second time';
  return Object.assign(new Error(text), { code: 'OUTPUT_CHANGED', permanent: true, loggable: true });
}
