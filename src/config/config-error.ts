import { MillraceError } from '../sdk/errors.ts';
import { printable } from '../sdk/printable.ts';

/** One mistake of a configuration, with its place. */
export interface LocatedMistake {
  readonly file: string;
  /** 1-based; undefined if the mistake concerns the file as a whole or the configuration is no text. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** Such as `collectors.web.interval`; empty for the whole configuration. */
  readonly path: string;
  /** What was found and what is wanted. */
  readonly message: string;
  /** The nearest right name, if there is one. */
  readonly suggestion: string | undefined;
  /** The line of the file and a caret below it. */
  readonly excerpt: string | undefined;
}

/** A configuration is refused. Holds all its mistakes, sorted by place; the message is the full text of them. */
export class ConfigError extends MillraceError {
  readonly mistakes: readonly LocatedMistake[];

  constructor(mistakes: readonly LocatedMistake[]) {
    super('MILLRACE_CONFIG', mistakes.map(mistakeText).join('\n'));
    this.name = 'ConfigError';
    this.mistakes = Object.freeze([...mistakes]);
  }
}

/** One mistake as text: `file:line:column: path: message; did you mean …?` and the excerpt. */
export function mistakeText(mistake: LocatedMistake): string {
  const { excerpt } = mistake;
  return excerpt === undefined ? mistakeLine(mistake) : `${mistakeLine(mistake)}\n${excerpt}`;
}

/** {@link mistakeText} without the excerpt; `label` stands behind the place: `p.yaml:3:5: warning: …`. */
export function mistakeLine(mistake: LocatedMistake, label = ''): string {
  const { file, line, column, path, message, suggestion } = mistake;
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  const hint = suggestion === undefined ? '' : `; did you mean \`${suggestion}\`?`;
  return printable(`${place}: ${label}${path === '' ? '' : `${path}: `}${message}${hint}`);
}
