import { formatPath, type Path, type Problem } from '../sdk/checks/problem.ts';
import { MillraceError } from '../sdk/errors.ts';
import { HIDDEN, printable } from '../sdk/printable.ts';
import type { ConfigSource, Place } from './source.ts';

/** One problem of a configuration, with its place. */
export interface LocatedProblem {
  readonly file: string;
  /** 1-based; undefined if the problem concerns the file as a whole or the configuration is not text. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** Such as `collectors.web.interval`; empty for the whole configuration. */
  readonly path: string;
  /** What was found and what is expected. */
  readonly message: string;
  /** The nearest right name, if there is one. */
  readonly suggestion: string | undefined;
  /** The line of the file and a caret below it. */
  readonly excerpt: string | undefined;
}

/** A configuration is refused. Holds all its problems, sorted by place; the message is the full text of them. */
export class ConfigError extends MillraceError {
  readonly problems: readonly LocatedProblem[];

  constructor(problems: readonly LocatedProblem[]) {
    super('MILLRACE_CONFIG', problems.map(problemText).join('\n'));
    this.name = 'ConfigError';
    this.problems = Object.freeze([...problems]);
  }
}

/** One problem as text: `file:line:column: path: message; did you mean …?` and the excerpt. */
export function problemText(problem: LocatedProblem): string {
  const { excerpt } = problem;
  return excerpt === undefined ? problemLine(problem) : `${problemLine(problem)}\n${excerpt}`;
}

/** {@link problemText} without the excerpt; `label` follows the place: `p.yaml:3:5: warning: …`. */
export function problemLine(problem: LocatedProblem, label = ''): string {
  const { file, line, column, path, message, suggestion } = problem;
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  const hint = suggestion === undefined ? '' : `; did you mean \`${suggestion}\`?`;
  return printable(`${place}: ${label}${path === '' ? '' : `${path}: `}${message}${hint}`);
}

/** Collects the problems of all files, so that they can be told at once. */
export class ProblemLog {
  #problems: {
    readonly section: string | number | undefined;
    readonly located: LocatedProblem;
    /** Its message is not ours, or a check made it, so it can quote any value. */
    readonly foreign: boolean;
  }[] = [];

  /** Lines of files that hold secrets, as `file:line`. They are not quoted. */
  readonly #secretLines = new Set<string>();
  readonly #secretValues = new Set<string>();

  /** Keeps the lines of a secret from being quoted in any problem, whenever it was added. */
  hideLines(file: string, { first, last }: { readonly first: number; readonly last: number }): void {
    for (let line = first; line <= last; line++) this.#secretLines.add(`${file}:${line}`);
  }

  /** Keeps a value out of the messages of plugins and checks, which may quote it. Short values are parts of other words. */
  hideValue(value: string): void {
    if (value.length >= 4) this.#secretValues.add(value);
  }

  get isEmpty(): boolean {
    return this.#problems.length === 0;
  }

  /** Adds a problem at a path, unless one at a scalar there, such as a missing environment variable, tells it already. */
  add(source: ConfigSource, problem: Problem): void {
    const { path, message, suggestion, at = 'value', foreign = false } = problem;
    if (at === 'value' && source.isBroken(path)) return;
    this.addAt(source.file, source.place(path, at), path, message, suggestion, foreign);
  }

  /** Takes back all problems in a section, and gives how many they were. */
  withdraw(section: string): number {
    const before = this.#problems.length;
    this.#problems = this.#problems.filter((problem) => problem.section !== section);
    return before - this.#problems.length;
  }

  /** Adds a problem at a place; without one it concerns the whole file. */
  addAt(
    file: string,
    place: Place | undefined,
    path: Path,
    message: string,
    suggestion: string | undefined = undefined,
    foreign = false,
  ): void {
    const { line, column, excerpt } = place ?? {};
    const located = Object.freeze({
      ...{ file, line, column, path: formatPath(path) },
      ...{ message, suggestion, excerpt },
    });
    this.#problems.push({ section: path[0], located, foreign });
  }

  /** @throws ConfigError if there are problems: files in the order given, places from top to bottom. */
  throwIfAny(files: readonly string[]): void {
    if (!this.isEmpty) throw new ConfigError(this.inOrder(files));
  }

  /** All problems: files in the order given, places from top to bottom. */
  inOrder(files: readonly string[]): LocatedProblem[] {
    const rank = ({ file, line = 0, column = 0 }: LocatedProblem) =>
      [files.indexOf(file), line, column] as const;
    const compare = (a: LocatedProblem, b: LocatedProblem) => {
      const [left, right] = [rank(a), rank(b)];
      return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
    };
    const shown = (located: LocatedProblem, foreign: boolean) => {
      const isSecretLine = this.#secretLines.has(`${located.file}:${located.line}`);
      const excerpt = isSecretLine ? undefined : located.excerpt;
      const message = foreign ? this.#withoutSecrets(located.message) : located.message;
      return Object.freeze({ ...located, excerpt, message });
    };
    return this.#problems.map(({ located, foreign }) => shown(located, foreign)).toSorted(compare);
  }

  #withoutSecrets(message: string): string {
    const longestFirst = [...this.#secretValues].toSorted((a, b) => b.length - a.length);
    return longestFirst.reduce((text, value) => text.replaceAll(value, HIDDEN), message);
  }
}
