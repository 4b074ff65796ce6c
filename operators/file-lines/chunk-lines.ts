import { areLinesVerbatim } from '../verbatim.ts';

const LF = 0x0a;
const CR = 0x0d;

/**
 * The complete lines of one chunk. They are decoded at once, since a call for each line costs more than decoding it,
 * and taken in parts.
 */
export class ChunkLines {
  /** JSON holds every line as it stands. */
  readonly areVerbatim: boolean;
  readonly #chunk: Buffer;
  /** Behind the last terminator. */
  readonly #end: number;
  /** Without LF. */
  readonly #lines: string[];
  readonly #hasCr: boolean;
  /** Every byte is one character of the text: where a line lies is told by the lengths of those before it. */
  readonly #isBytewise: boolean;
  #next = 0;
  #at: number;

  /** The lines of `chunk` from `start` to `end`, which is behind an LF. */
  constructor(chunk: Buffer, start: number, end: number) {
    this.#chunk = chunk;
    this.#at = start;
    this.#end = end;
    const text = chunk.toString('utf8', start, end - 1);
    this.#lines = text.split('\n');
    this.#hasCr = text.includes('\r');
    // No character has more units than bytes, so only single bytes give as many.
    this.#isBytewise = text.length === end - 1 - start;
    this.areVerbatim = this.#isBytewise && areLinesVerbatim(chunk, start, end);
  }

  /** Where the lines end in the chunk that were taken, terminators included. */
  get at(): number {
    return this.#at;
  }

  /** The next lines, at most `max`. */
  take(max: number): string[] {
    const isAll = this.#next === 0 && max >= this.#lines.length;
    const lines = isAll ? this.#lines : this.#lines.slice(this.#next, this.#next + max);
    this.#next += lines.length;
    this.#at = this.#next === this.#lines.length ? this.#end : this.#endOf(lines);
    if (this.#hasCr) for (let i = 0; i < lines.length; i++) lines[i] = withoutCr(lines[i] as string);
    return lines;
  }

  #endOf(lines: readonly string[]): number {
    let end = this.#at;
    if (this.#isBytewise) for (let i = 0; i < lines.length; i++) end += (lines[i] as string).length + 1;
    else for (let i = 0; i < lines.length; i++) end = this.#chunk.indexOf(LF, end) + 1;
    return end;
  }
}

/** One CR ahead of the LF belongs to the terminator. */
export function withoutCr(line: string): string {
  return line.charCodeAt(line.length - 1) === CR ? line.slice(0, -1) : line;
}
