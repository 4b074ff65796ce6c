import { counted } from '../../support/counted.ts';
import type { FollowSettings } from './follow-settings.ts';

/** What another run would find the same, unless the paths are others. */
const PERMANENT = new Set(['NOT_TEXT', 'NOT_A_FILE', 'NO_FILE']);

/** Stands for a path in the report of a shortage of descriptors, which is not the fault of one path. */
const SHORTAGE = 'descriptors';

/**
 * Reports what cannot be read, for each path once, until it can be read again or something else is wrong. With `once`,
 * what could not be read becomes the error at the end.
 */
export class FollowProblems {
  readonly #patterns: readonly string[];
  readonly #settings: Pick<FollowSettings, 'once' | 'allowMissing' | 'log'>;
  readonly #reported = new Map<string, string>();
  readonly #failures = new Map<string, NodeJS.ErrnoException>();

  constructor(patterns: readonly string[], settings: Pick<FollowSettings, 'once' | 'allowMissing' | 'log'>) {
    this.#patterns = patterns;
    this.#settings = settings;
  }

  missing(path: string, { syscall }: NodeJS.ErrnoException): void {
    // `lstat` found the link itself.
    this.#missing(path, syscall === 'stat' ? 'a symbolic link leads to no file' : 'there is no file');
  }

  /** A glob matches no file, except for so many that are excluded. */
  unmatched(pattern: string, excluded: number): void {
    this.#missing(
      pattern,
      excluded === 0 ? 'no file matches' : `no file matches but ${excluded} that \`exclude\` leaves out`,
    );
  }

  /** A folder, which may hold files, cannot be listed. */
  unlisted(folder: string, error: NodeJS.ErrnoException): void {
    if (this.#settings.once) this.#failures.set(folder, error);
    this.#report(folder, error.code ?? error.name, `cannot list ${folder}: ${error.message}`);
  }

  unreadable(path: string, error: NodeJS.ErrnoException): void {
    const { code } = error;
    // One that was renamed just now is read by its new name; what is not a file may be matched by a glob.
    const mayPass = code === 'MOVED' || (code === 'NOT_A_FILE' && !this.#patterns.includes(path));
    if (this.#settings.once && !mayPass) this.#failures.set(path, error);
    this.#report(path, code ?? error.name, `cannot read ${path}: ${error.message}`);
  }

  shortage({ code = '' }: NodeJS.ErrnoException): void {
    const text = 'too few descriptors to open files: trying again; raise the limit of open files (ulimit -n)';
    this.#report(SHORTAGE, code, text);
  }

  shortageOver(): void {
    this.#reported.delete(SHORTAGE);
  }

  /** A path can be read, or listed, again. */
  over(path: string): void {
    this.#reported.delete(path);
  }

  /** With `once`, what could not be read, as one error; undefined if everything was. */
  get failure(): Error | undefined {
    const failures = [...this.#failures];
    const [first] = failures;
    if (first === undefined) return undefined;
    const [path, error] = first;
    const more = failures.length === 1 ? '' : `; nor ${counted(failures.length - 1, 'other')}`;
    const { code, syscall = 'read' } = error;
    const text = `cannot read ${path}: ${error.message}${more}`;
    const permanent = failures.every(([, { code = '' }]) => PERMANENT.has(code));
    // The path is one of the configuration: nothing of an event is in the message.
    return Object.assign(new Error(text), {
      code,
      syscall,
      path,
      loggable: true,
      permanent,
      fatal: permanent,
    });
  }

  #missing(path: string, what: string): void {
    const { once, allowMissing } = this.#settings;
    if (once && !allowMissing) {
      const message = `${what}; correct \`paths\`, or set \`allow_missing: true\` if that may be`;
      this.#failures.set(path, Object.assign(new Error(message), { code: 'NO_FILE' }));
      // The error that ends the reading names the first one.
      if (this.#failures.size === 1) return;
    }
    this.#report(path, 'ENOENT', `${what}: ${path}${once ? '' : '; waiting for one'}`);
  }

  #report(path: string, code: string, message: string): void {
    if (this.#reported.get(path) === code) return;
    this.#reported.set(path, code);
    this.#settings.log.warn(message, { path, code });
  }
}
