import type { Mistake } from '../checks/mistake.ts';
import { formatPath, type Path } from '../checks/path.ts';
import { ConfigError, type LocatedMistake } from './config-error.ts';
import type { ConfigSource } from './source.ts';
import type { Place } from './source-text.ts';

/** Collects the mistakes of all files, so that they can be told at once. */
export class MistakeLog {
  #mistakes: { readonly section: string | number | undefined; readonly located: LocatedMistake }[] = [];

  get isEmpty(): boolean {
    return this.#mistakes.length === 0;
  }

  /** Adds a mistake at a path, unless one at a scalar there, such as a missing environment variable, tells it already. */
  add(source: ConfigSource, mistake: Mistake): void {
    const { path, message, suggestion, at = 'value', foreign = false } = mistake;
    if (at === 'value' && source.isBroken(path)) return;
    // A plugin's message may quote any value of its entry.
    const text = foreign ? source.withhold(message, path.slice(0, 2)) : message;
    this.addAt(source.file, source.place(path, at), path, text, suggestion);
  }

  /** Takes back all mistakes in a section, and gives how many they were. */
  withdraw(section: string): number {
    const before = this.#mistakes.length;
    this.#mistakes = this.#mistakes.filter((mistake) => mistake.section !== section);
    return before - this.#mistakes.length;
  }

  /** Adds a mistake at a place; without one it concerns the whole file. */
  addAt(
    file: string,
    place: Place | undefined,
    path: Path,
    message: string,
    suggestion: string | undefined = undefined,
  ): void {
    const { line, column, excerpt } = place ?? {};
    const located = Object.freeze({
      ...{ file, line, column, path: formatPath(path) },
      ...{ message, suggestion, excerpt },
    });
    this.#mistakes.push({ section: path[0], located });
  }

  /** @throws ConfigError if there are mistakes: files in the order given, places from top to bottom. */
  throwIfAny(files: readonly string[]): void {
    if (!this.isEmpty) throw new ConfigError(this.inOrder(files));
  }

  /** All mistakes: files in the order given, places from top to bottom. */
  inOrder(files: readonly string[]): LocatedMistake[] {
    const rank = ({ file, line = 0, column = 0 }: LocatedMistake) =>
      [files.indexOf(file), line, column] as const;
    const compare = (a: LocatedMistake, b: LocatedMistake) => {
      const [left, right] = [rank(a), rank(b)];
      return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
    };
    return this.#mistakes.map(({ located }) => located).toSorted(compare);
  }
}
