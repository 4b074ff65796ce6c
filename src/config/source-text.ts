import { printableLines } from '../sdk/printable.ts';

/** A place in a text, 1-based, and its line with a caret below it. */
export interface Place {
  readonly line: number;
  readonly column: number;
  readonly excerpt: string | undefined;
}

const LONGEST_LINE = 100;

/** A configuration file's text, which knows its lines. */
export class SourceText {
  readonly text: string;
  readonly #lineStarts: number[] = [0];

  constructor(text: string) {
    this.text = text;
    for (const lineBreak of text.matchAll(/\r\n|\r|\n/g)) {
      this.#lineStarts.push(lineBreak.index + lineBreak[0].length);
    }
  }

  /** The place of an offset. One past the end is the end. */
  place(offset: number): Place {
    const line = this.#lineStarts.findLastIndex((start) => start <= offset);
    const start = this.#lineStarts[line] ?? 0;
    const content = this.text.slice(start, this.#lineStarts[line + 1]).replace(/[\r\n]+$/, '');
    const column = Math.min(offset - start, content.length);
    return { line: line + 1, column: column + 1, excerpt: excerpt(line + 1, content, column) };
  }
}

function excerpt(line: number, content: string, column: number): string | undefined {
  if (content.trim() === '') return undefined;
  const from = column > LONGEST_LINE - 20 ? column - 40 : 0;
  const shown = content.slice(from, from + LONGEST_LINE);
  // Tabs stay tabs, so that the caret stands below its character however wide they are shown.
  const indent = printableLines(shown.slice(0, column - from)).replace(/[^\t]/g, ' ');
  const number = String(line).padStart(5);
  return `${number} | ${printableLines(shown)}\n${' '.repeat(number.length)} | ${indent}^`;
}
