const LF = 0x0a;
const CR = 0x0d;
const NEWLINE = '\n';
const MARK = '\ufeff';

/** Consecutive lines without their terminators as one text, which costs far less than a text for each. */
export class JoinedLines {
  /** NEWLINE stands between the lines, and in none of them. */
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
    this.#lines ??= this.size === 0 ? [] : this.text.split(NEWLINE);
    return this.#lines;
  }

  /** Without the first line. */
  get rest(): JoinedLines {
    return this.size < 2
      ? JoinedLines.none
      : new JoinedLines(this.text.slice(this.text.indexOf(NEWLINE) + 1), this.size - 1);
  }

  /** Without the lines of no characters. */
  get withoutEmpty(): JoinedLines {
    const hasEmpty = this.text === '' || this.text.startsWith(NEWLINE) || this.text.endsWith(NEWLINE);
    if (!hasEmpty && !this.text.includes(NEWLINE + NEWLINE)) return this;
    const lines = this.lines.filter((line) => line !== '');
    return new JoinedLines(lines.join(NEWLINE), lines.length);
  }

  /** Without a byte order mark ahead of the first line. */
  get withoutMark(): JoinedLines {
    return this.text.startsWith(MARK) ? new JoinedLines(this.text.slice(MARK.length), this.size) : this;
  }

  /** Behind a line. */
  after(line: string): JoinedLines {
    return this.size === 0
      ? new JoinedLines(line, 1)
      : new JoinedLines(line + NEWLINE + this.text, this.size + 1);
  }
}

/**
 * The complete lines of one chunk. They are decoded at once, since a call for each line costs more than decoding it,
 * and taken in parts.
 */
export class ChunkLines {
  readonly #chunk: Buffer;
  /** Behind the last terminator. */
  readonly #end: number;
  /** Without the last LF. */
  readonly #text: string;
  readonly #hasCr: boolean;
  /** Every byte is one character of the text: where a line lies is told by the lengths of those before it. */
  readonly #isBytewise: boolean;
  #from = 0;
  #at: number;

  /** The lines of `chunk` from `start` to `end`, which is behind an LF. */
  constructor(chunk: Buffer, start: number, end: number) {
    this.#chunk = chunk;
    this.#at = start;
    this.#end = end;
    this.#text = chunk.toString('utf8', start, end - 1);
    this.#hasCr = this.#text.includes('\r');
    // No character has more units than bytes, so only single bytes give as many.
    this.#isBytewise = this.#text.length === end - 1 - start;
  }

  /** Where the lines end in the chunk that were taken, terminators included. */
  get at(): number {
    return this.#at;
  }

  /** The next lines, at most `max`, which is 1 or more. Only while there are any. */
  take(max: number): JoinedLines {
    const from = this.#from;
    let size = 1;
    let end = this.#text.indexOf('\n', from);
    for (; size < max && end !== -1; size++) end = this.#text.indexOf('\n', end + 1);
    const text = end === -1 ? this.#text.slice(from) : this.#text.slice(from, end);
    this.#from = from + text.length + 1;
    this.#at = end === -1 ? this.#end : this.#endOf(text, size);
    return new JoinedLines(this.#hasCr ? withoutCrs(text) : text, size);
  }

  /** All lines, of which there are `size`. Only if none was taken. */
  takeAll(size: number): JoinedLines {
    return new JoinedLines(this.#hasCr ? withoutCrs(this.#text) : this.#text, size);
  }

  #endOf(text: string, size: number): number {
    if (this.#isBytewise) return this.#at + text.length + 1;
    let end = this.#at;
    for (let i = 0; i < size; i++) end = this.#chunk.indexOf(LF, end) + 1;
    return end;
  }
}

/** One CR ahead of the LF belongs to the terminator. */
export function withoutCr(line: string): string {
  return line.charCodeAt(line.length - 1) === CR ? line.slice(0, -1) : line;
}

function withoutCrs(lines: string): string {
  return withoutCr(lines.replaceAll('\r\n', '\n'));
}
