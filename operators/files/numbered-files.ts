import fs from 'node:fs';
import { join } from 'node:path';
import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  finalize,
  from,
  type Observable,
  throwError,
} from 'rxjs';
import { BOOLEAN, type Checks, COUNT_FROM_0, checkOptions } from '../support/check-options.ts';
import { SerialJobs } from '../support/serial-jobs.ts';
import { fileCall } from './append/file-call.ts';
import { makeFolder } from './append/make-folder.ts';
import { FILE_MODE, syncFolder } from './append/open-output.ts';
import { removeFile, takeName } from './append/take-name.ts';
import { isAbandoned, temporaryName } from './append/temporary-name.ts';
import { writeError } from './append/write-error.ts';

export interface NumberedFilesOptions {
  /** Forces each file to the disk before it gets its name. Default: false. */
  readonly flush?: boolean | undefined;
  /** The permissions of the files; the umask can only take some away. Default: 0o640. */
  readonly mode?: number | undefined;
}

const CHECKS: Checks<NumberedFilesOptions> = { flush: BOOLEAN, mode: COUNT_FROM_0 };

/**
 * Writes each text to a file of its own, `<prefix><n><suffix>` in `folder`, where n goes on from the highest number
 * that is there. A file gets its name when it is complete, so that nobody sees a part of one, and never the name of
 * another one. The folder is made when first written to.
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
    return this.#jobs.runAll((isCancelled) => {
      const temporaries = texts.map(() => temporaryName(this.#prefix));
      const paths = temporaries.map(({ name }) => join(this.#folder, name));
      const finals: string[] = [];
      const removeAll = (all: readonly string[]) => from(all).pipe(concatMap(removeFile));
      return concat(
        defer(() => (this.#last === undefined ? this.#prepare() : EMPTY)),
        from(paths).pipe(concatMap((path, index) => this.#writeFile(path, texts[index] as string))),
        from(paths).pipe(concatMap((path) => this.#number(path, finals))),
        defer(() => (this.#flush ? syncFolder(this.#folder) : EMPTY)),
        // Nobody takes it for written any more, so it will come again.
        defer(() => (isCancelled() ? removeAll(finals) : EMPTY)),
      ).pipe(
        catchError((error) => {
          // The folder may have to be made, or looked at, again.
          this.#last = undefined;
          return concat(
            removeAll([...paths, ...finals]),
            throwError(() => writeError(this.#folder, error)),
          );
        }),
        finalize(() => {
          for (const temporary of temporaries) temporary.release();
        }),
      );
    });
  }

  #prepare(): Observable<unknown> {
    return concat(
      makeFolder(this.#folder),
      fileCall<string[]>((done) => fs.readdir(this.#folder, done)),
    ).pipe(
      concatMap((names) => {
        this.#last = names.reduce((last, name) => Math.max(last, this.#numberOf(name)), 0);
        const abandoned = names.filter((name) => isAbandoned(name, this.#prefix));
        return from(abandoned).pipe(concatMap((name) => removeFile(join(this.#folder, name))));
      }),
    );
  }

  #numberOf(name: string): number {
    if (!name.startsWith(this.#prefix) || !name.endsWith(this.#suffix)) return 0;
    const digits = name.slice(this.#prefix.length, -this.#suffix.length);
    return /^\d{1,15}$/.test(digits) ? Number(digits) : 0;
  }

  #writeFile(path: string, text: string): Observable<unknown> {
    const options = { flag: 'wx', mode: this.#mode, flush: this.#flush };
    return fileCall((done) => fs.writeFile(path, text, options, done));
  }

  /** Gives a complete file the next number that is free. */
  #number(path: string, finals: string[]): Observable<never> {
    this.#last = (this.#last ?? 0) + 1;
    const final = join(this.#folder, `${this.#prefix}${this.#last}${this.#suffix}`);
    return concat(
      takeName(path, final),
      defer(() => {
        finals.push(final);
        return EMPTY;
      }),
    ).pipe(
      catchError((error: NodeJS.ErrnoException) =>
        error.code === 'EEXIST' ? this.#number(path, finals) : throwError(() => error),
      ),
    );
  }
}
