import { join } from 'node:path';
import type { Observable } from 'rxjs';
import { BOOLEAN, type Checks, COUNT_FROM_0, checkOptions } from '../support/check-options.ts';
import { fileSystem, fsCall, perFileSystem, removeFile } from '../support/file-system.ts';
import { SerialJobs } from './append/file-appender.ts';
import { makeFolder, outputStatus, syncFolder } from './append/output-file.ts';
import { FILE_MODE } from './append/output-rules.ts';
import { writeError } from './append/write-error.ts';

export interface NumberedFilesOptions {
  /** Forces each file to the disk before it gets its name. Default: false. */
  readonly flush?: boolean | undefined;
  /** The permissions of the files; the umask can only remove some. Default: 0o640. */
  readonly mode?: number | undefined;
}

const CHECKS: Checks<NumberedFilesOptions> = { flush: BOOLEAN, mode: COUNT_FROM_0 };

/**
 * Writes each text to a separate file, `<prefix><n><suffix>` in `folder`, where n continues after the highest existing
 * number. A file gets its name when it is complete, so no reader sees a part of it, and never replaces another file. The
 * first write creates the folder.
 *
 * @example
 * const files = new NumberedFiles(`${folder}/out`, 'event-dump-', '.json');
 * await lastValueFrom(files.write(['{}', '[]']), { defaultValue: 'written' }); // 'written'
 * fs.readdirSync(`${folder}/out`); // ['event-dump-1.json', 'event-dump-2.json']
 */
export class NumberedFiles {
  readonly #folder: string;
  readonly #prefix: string;
  readonly #suffix: string;
  readonly #flush: boolean;
  readonly #mode: number;
  readonly #jobs = new SerialJobs();
  /** The last number used; undefined until the folder was looked at. */
  #last: number | undefined;

  /** @throws TypeError for an option that is unknown or of the wrong type. */
  constructor(folder: string, prefix: string, suffix: string, options: NumberedFilesOptions = {}) {
    checkOptions('NumberedFiles', options, CHECKS);
    const { flush = false, mode = FILE_MODE } = options;
    this.#folder = folder;
    this.#prefix = prefix;
    this.#suffix = suffix;
    this.#flush = flush;
    this.#mode = mode;
  }

  /** Writes all of `texts` on subscription, in order, and completes; if one fails, none is left behind. */
  write(texts: readonly string[]): Observable<never> {
    return this.#jobs.run(async (isCancelled) => {
      const temporaries = texts.map(() => temporaryName(this.#prefix));
      const paths = temporaries.map((name) => join(this.#folder, name));
      const finals: string[] = [];
      try {
        if (this.#last === undefined) await this.#prepare();
        const options = { flag: 'wx', mode: this.#mode, flush: this.#flush };
        for (const [i, path] of paths.entries()) {
          await fsCall((done) => fileSystem.writeFile(path, texts[i] as string, options, done));
        }
        for (const path of paths) finals.push(await this.#number(path));
        if (this.#flush) await syncFolder(this.#folder);
        // A write that was cancelled is repeated later.
        if (isCancelled()) await removeAll(finals);
      } catch (error) {
        // The folder may have to be made, or looked at, again.
        this.#last = undefined;
        await removeAll([...paths, ...finals]);
        throw writeError(this.#folder, error as Error);
      } finally {
        for (const name of temporaries) inUse().delete(name);
      }
    });
  }

  async #prepare(): Promise<void> {
    await makeFolder(this.#folder);
    const names = await fsCall<string[]>((done) => fileSystem.readdir(this.#folder, done));
    this.#last = names.reduce((last, name) => Math.max(last, this.#numberOf(name)), 0);
    const abandoned = names.filter((name) => isAbandoned(name, this.#prefix));
    await removeAll(abandoned.map((name) => join(this.#folder, name)));
  }

  #numberOf(name: string): number {
    if (!name.startsWith(this.#prefix) || !name.endsWith(this.#suffix)) return 0;
    const digits = name.slice(this.#prefix.length, -this.#suffix.length);
    return /^\d{1,15}$/.test(digits) ? Number(digits) : 0;
  }

  /** Gives a complete file the next number that is free. */
  async #number(path: string): Promise<string> {
    for (;;) {
      this.#last = (this.#last ?? 0) + 1;
      const final = join(this.#folder, `${this.#prefix}${this.#last}${this.#suffix}`);
      if (await takeName(path, final)) return final;
    }
  }
}

/** Errors of file systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Gives a complete file its final name at once. False if there is a file of that name already. */
async function takeName(temporary: string, final: string): Promise<boolean> {
  try {
    // Not `rename`, which would replace a file that is there.
    await fsCall((done) => fileSystem.link(temporary, final, done));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (!NO_LINKS.has(code)) throw error;
    // Two processes could take the same name between this look and the renaming.
    if (await exists(final)) return false;
    await fsCall((done) => fileSystem.rename(temporary, final, done));
    return true;
  }
  await removeFile(temporary);
  return true;
}

async function exists(path: string): Promise<boolean> {
  try {
    await outputStatus(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

async function removeAll(paths: readonly string[]): Promise<void> {
  for (const path of paths) await removeFile(path);
}

/** Temporary names of this process, to tell its files from those of an earlier process with the same pid. */
const inUse = perFileSystem(() => new Set<string>());
let count = 0;

/** A name for a file that is not complete yet: hidden, so that patterns for the final names do not match it. */
function temporaryName(prefix: string): string {
  const name = `.${prefix}${process.pid}-${count++}.tmp`;
  inUse().add(name);
  return name;
}

/** Whether a name is that of a file whose process was killed before it was complete. */
function isAbandoned(name: string, prefix: string): boolean {
  if (!name.startsWith(`.${prefix}`) || inUse().has(name)) return false;
  const pid = /^(\d{1,10})-\d+\.tmp$/.exec(name.slice(prefix.length + 1))?.[1];
  return pid !== undefined && (Number(pid) === process.pid || !isAlive(Number(pid)));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
