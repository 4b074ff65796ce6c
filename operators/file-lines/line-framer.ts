const LF = 0x0a;
const CR = 0x0d;
const NOTHING = Buffer.alloc(0);

/**
 * Cuts the bytes of one file into lines, and knows to the byte where each lies.
 *
 * Bytes are cut at LF, which no other character of UTF-8 contains, and only then decoded, whole lines at a time:
 * a character that two chunks share is never split. Invalid UTF-8 becomes U+FFFD. One CR before the LF belongs
 * to the terminator.
 *
 * @example
 * const framer = new LineFramer();
 * framer.feed(Buffer.from('one\ntw'));
 * framer.take(10); // ['one']
 * framer.offset; // 4
 * framer.readOffset; // 6
 */
export class LineFramer {
  #offset: number;
  #readOffset: number;
  /** Bytes of a line whose end has not come; a list, so that a long line is joined once. */
  #held: Buffer[] = [];
  #chunk: Buffer = NOTHING;
  #at = 0;
  #lastLf = -1;
  #ending = false;
  /** The last line was returned before its terminator came. */
  #cut = false;

  constructor(offset = 0) {
    this.#offset = offset;
    this.#readOffset = offset;
  }

  /** Bytes from the begin of the file to the end of the last line taken, its terminator included. */
  get offset(): number {
    return this.#offset;
  }

  /** Bytes from the begin of the file to the end of the last chunk fed: where to read on. */
  get readOffset(): number {
    return this.#readOffset;
  }

  /** Whether `take` has something to return. While it has, the chunk must not be written to. */
  get hasLines(): boolean {
    return this.#ending || this.#at <= this.#lastLf;
  }

  /** Whether there are bytes of a line that has no terminator yet. */
  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  /** Adds the next bytes of the file. Only when all lines are taken; the chunk is read in place, not copied. */
  feed(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#at = 0;
    this.#lastLf = chunk.lastIndexOf(LF);
    this.#readOffset += chunk.length;
    this.#holdRest();
  }

  /**
   * The next lines, at most `max` of them, without terminators. May be empty even if `hasLines` was true: the
   * terminator of a line that was taken early is no line.
   */
  take(max: number): string[] {
    if (this.#ending) return this.#takeUnterminated();
    const begin = this.#at;
    let end = begin;
    for (let count = 0; count < max && end <= this.#lastLf; count++) {
      end = this.#chunk.indexOf(LF, end) + 1;
    }
    if (end === begin) return [];
    const lines = this.#decode(begin, end);
    this.#at = end;
    this.#offset = this.#readOffset - (this.#chunk.length - end);
    this.#holdRest();
    return this.#finish(lines);
  }

  /** Makes a line of what is held, without waiting for its terminator. */
  end(): void {
    this.#ending = this.isHolding;
  }

  /** Forgets everything: the file begins anew. */
  restart(): void {
    this.#offset = 0;
    this.#readOffset = 0;
    this.#held = [];
    this.#release();
    this.#cut = false;
  }

  #takeUnterminated(): string[] {
    const text = Buffer.concat(this.#held).toString();
    this.#held = [];
    this.#ending = false;
    this.#offset = this.#readOffset;
    const lines = this.#finish([text]);
    this.#cut = true;
    return lines;
  }

  #decode(begin: number, end: number): string[] {
    if (this.#held.length === 0) return this.#chunk.toString('utf8', begin, end - 1).split('\n');
    const firstEnd = this.#chunk.indexOf(LF, begin);
    const first = Buffer.concat([...this.#held, this.#chunk.subarray(begin, firstEnd)]).toString();
    this.#held = [];
    if (firstEnd + 1 === end) return [first];
    return [first].concat(this.#chunk.toString('utf8', firstEnd + 1, end - 1).split('\n'));
  }

  #finish(lines: string[]): string[] {
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index] as string;
      if (line.charCodeAt(line.length - 1) === CR) lines[index] = line.slice(0, -1);
    }
    if (this.#cut && lines[0] === '') lines.shift();
    this.#cut = false;
    return lines;
  }

  /** Copies what follows the last LF, once all lines are taken: the chunk's memory is about to be reused. */
  #holdRest(): void {
    if (this.#at <= this.#lastLf) return;
    if (this.#at < this.#chunk.length) this.#held.push(Buffer.from(this.#chunk.subarray(this.#at)));
    this.#release();
  }

  #release(): void {
    this.#chunk = NOTHING;
    this.#at = 0;
    this.#lastLf = -1;
    this.#ending = false;
  }
}
