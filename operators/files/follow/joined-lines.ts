const LF = '\n';
const MARK = '\ufeff';

/** Consecutive lines without their terminators as one text, which costs far less than a text for each. */
export class JoinedLines {
  /** LF stands between the lines, and in none of them. */
  readonly text: string;
  /** The number of lines: 0 or 1 for an empty text. */
  readonly size: number;
  #lines: readonly string[] | undefined;

  constructor(text: string, size: number) {
    this.text = text;
    this.size = size;
  }

  static readonly none = new JoinedLines('', 0);

  /** Cut apart when first asked for. */
  get lines(): readonly string[] {
    this.#lines ??= this.size === 0 ? [] : this.text.split(LF);
    return this.#lines;
  }

  /** Without the first line. */
  get rest(): JoinedLines {
    return this.size < 2
      ? JoinedLines.none
      : new JoinedLines(this.text.slice(this.text.indexOf(LF) + 1), this.size - 1);
  }

  /** Without the lines of no characters. */
  get withoutEmpty(): JoinedLines {
    const hasEmpty = this.text === '' || this.text.startsWith(LF) || this.text.endsWith(LF);
    if (!hasEmpty && !this.text.includes(LF + LF)) return this;
    const lines = this.lines.filter((line) => line !== '');
    return new JoinedLines(lines.join(LF), lines.length);
  }

  /** Without a byte order mark ahead of the first line. */
  get withoutMark(): JoinedLines {
    return this.text.startsWith(MARK) ? new JoinedLines(this.text.slice(MARK.length), this.size) : this;
  }

  /** Behind a line. */
  after(line: string): JoinedLines {
    return this.size === 0 ? new JoinedLines(line, 1) : new JoinedLines(line + LF + this.text, this.size + 1);
  }
}
