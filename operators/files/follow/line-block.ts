import { isAscii } from 'node:buffer';
import type { BlockLease } from './block-memory.ts';
import { ChunkLines, type JoinedLines } from './joined-lines.ts';

const LF = 0x0a;
const CR = 0x0d;
/** V8 has memory that it uses again at once for what lives short, but not for texts above 128 Ki characters. */
const PART_BYTES = 96 * 1024;

/** Consecutive lines of one file as bytes, each with its terminator; decoded only if somebody asks for texts. */
export class LineBlock {
  readonly bytes: Uint8Array;
  readonly size: number;
  readonly #lease: BlockLease | undefined;
  #longest: number | undefined;
  #isPlain: boolean | undefined;
  #decoded: JoinedLines | undefined;

  /**
   * `bytes` is not written to until it is released. `size` is the number of its lines. `longest` is the length of the
   * longest line in bytes, its terminator included, or more.
   */
  constructor(
    bytes: Uint8Array,
    size: number,
    { lease, longest }: { lease?: BlockLease | undefined; longest?: number | undefined } = {},
  ) {
    this.bytes = bytes;
    this.size = size;
    this.#lease = lease;
    this.#longest = longest;
  }

  /** Nobody asks for its bytes any more, nor for texts. To be called once. */
  release(): void {
    this.#lease?.giveBack();
  }

  /** The same without the lines that have nothing ahead of their terminator, in the same memory. */
  get withoutEmpty(): LineBlock {
    const { bytes } = this;
    let size = 0;
    let end = 0;
    for (let start = 0; start < bytes.length; ) {
      const next = bytes.indexOf(LF, start) + 1;
      const length = next - start;
      const isEmpty = length === 1 || (length === 2 && bytes[start] === CR);
      if (!isEmpty) {
        if (end < start) bytes.copyWithin(end, start, next);
        end += length;
        size++;
      }
      start = next;
    }
    return size === this.size ? this : this.#with(bytes.subarray(0, end), size);
  }

  /** The same in blocks of which each can be worked on at less cost, if there is more than one line in it. */
  get parts(): readonly LineBlock[] {
    const { bytes } = this;
    if (bytes.length <= PART_BYTES) return [this];
    const parts: LineBlock[] = [];
    for (let start = 0; start < bytes.length; ) {
      let size = 0;
      let end = start;
      let longest = 0;
      while (end < bytes.length && (size === 0 || end - start < PART_BYTES)) {
        const next = bytes.indexOf(LF, end) + 1;
        longest = Math.max(longest, next - end);
        end = next;
        size++;
      }
      parts.push(new LineBlock(bytes.subarray(start, end), size, { lease: this.#lease, longest }));
      start = end;
    }
    return parts;
  }

  get plain(): LineBlock | undefined {
    return this.isPlain ? this : undefined;
  }

  /** All characters are of ASCII, and every terminator is an LF: `bytes` is `text` with one more LF at the end. */
  get isPlain(): boolean {
    this.#isPlain ??= isAscii(this.bytes) && !this.bytes.includes(CR);
    return this.#isPlain;
  }

  /** The length of the longest line in bytes, its terminator included, or more. */
  get longest(): number {
    this.#longest ??= longestLine(this.bytes);
    return this.#longest;
  }

  /** Room for so many bytes, which is released together with this. */
  room(bytes: number): Buffer {
    return this.#lease?.take(bytes) ?? Buffer.allocUnsafeSlow(bytes);
  }

  /** Other plain lines, in what `room` gave. */
  withPlain(bytes: Uint8Array, size: number): LineBlock {
    const block = new LineBlock(bytes, size, { lease: this.#lease });
    block.#isPlain = true;
    return block;
  }

  #with(bytes: Uint8Array, size: number): LineBlock {
    return new LineBlock(bytes, size, { lease: this.#lease, longest: this.#longest });
  }

  get text(): string {
    return this.#decode().text;
  }

  get lines(): readonly string[] {
    return this.#decode().lines;
  }

  #decode(): JoinedLines {
    if (this.#decoded === undefined) {
      const { buffer, byteOffset, length } = this.bytes;
      this.#decoded = new ChunkLines(Buffer.from(buffer, byteOffset, length), 0, length).takeAll(this.size);
    }
    return this.#decoded;
  }
}

function longestLine(bytes: Uint8Array): number {
  let longest = 0;
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LF, start) + 1;
    longest = Math.max(longest, end - start);
    start = end;
  }
  return longest;
}
