import fs from 'node:fs';
import { join } from 'node:path';
import type { Observable } from 'rxjs';
import { type Job, SerialJobs } from './serial-jobs.ts';

type Done = Parameters<Job>[0];

/**
 * Writes each text to a file of its own, `<prefix><n><suffix>` in `folder`, where n goes on from the highest number
 * that is there. Never overwrites a file. The folder is made when first written to.
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
  readonly #jobs = new SerialJobs();
  /** The last number used; undefined until the folder was looked at. */
  #last: number | undefined;

  constructor(folder: string, prefix: string, suffix: string) {
    this.#folder = folder;
    this.#prefix = prefix;
    this.#suffix = suffix;
  }

  /** Writes all of `texts` on subscription, in order, and completes; if one fails, none is left behind. */
  write(texts: readonly string[]): Observable<never> {
    return this.#jobs.run((done) =>
      this.#prepare((error) => {
        if (error === null) this.#writeFrom(texts, [], done);
        else done(error);
      }),
    );
  }

  #prepare(done: Done): void {
    if (this.#last !== undefined) {
      done(null);
      return;
    }
    fs.mkdir(this.#folder, { recursive: true }, (error) => {
      if (error !== null) {
        done(error);
        return;
      }
      fs.readdir(this.#folder, (failure, names) => {
        if (failure === null)
          this.#last = names.reduce((last, name) => Math.max(last, this.#number(name)), 0);
        done(failure);
      });
    });
  }

  #number(name: string): number {
    if (!name.startsWith(this.#prefix) || !name.endsWith(this.#suffix)) return 0;
    const digits = name.slice(this.#prefix.length, -this.#suffix.length);
    return /^\d{1,15}$/.test(digits) ? Number(digits) : 0;
  }

  #writeFrom(texts: readonly string[], written: string[], done: Done): void {
    const text = texts[written.length];
    if (text === undefined) {
      done(null);
      return;
    }
    this.#last = (this.#last ?? 0) + 1;
    const path = join(this.#folder, `${this.#prefix}${this.#last}${this.#suffix}`);
    fs.writeFile(path, text, { flag: 'wx' }, (error) => {
      if (error === null) {
        this.#writeFrom(texts, [...written, path], done);
      } else if (error.code === 'EEXIST') {
        this.#writeFrom(texts, written, done);
      } else {
        // The folder may have to be made, or looked at, again.
        this.#last = undefined;
        removeAll([...written, path], () => done(error));
      }
    });
  }
}

function removeAll(paths: readonly string[], done: () => void): void {
  let open = paths.length;
  for (const path of paths) {
    fs.unlink(path, () => {
      open--;
      if (open === 0) done();
    });
  }
}
