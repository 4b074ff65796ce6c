import { ChunkLines } from './chunk-lines.ts';
import type { JoinedLines } from './joined-lines.ts';

const LF = 0x0a;
const CR = 0x0d;
/** V8 has memory that it uses again at once for what lives short, but not for texts above 128 Ki characters. */
const PART_BYTES = 96 * 1024;

/** Consecutive lines of one file as bytes, each with its terminator; decoded only if somebody asks for texts. */
export class LineBlock {
  readonly bytes: Uint8Array;
  readonly size: number;
  readonly #onRelease: () => void;
  #decoded: JoinedLines | undefined;

  /** `bytes` is not written to until it is released. `size` is the number of its lines. */
  constructor(bytes: Uint8Array, size: number, onRelease = () => {}) {
    this.bytes = bytes;
    this.size = size;
    this.#onRelease = onRelease;
  }

  /** Nobody asks for its bytes any more, nor for texts. To be called once. */
  release(): void {
    this.#onRelease();
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
    return size === this.size ? this : new LineBlock(bytes.subarray(0, end), size, this.#onRelease);
  }

  /** The same in blocks of which each can be worked on at less cost, if there is more than one line in it. */
  get parts(): readonly LineBlock[] {
    const { bytes } = this;
    if (bytes.length <= PART_BYTES) return [this];
    const parts: LineBlock[] = [];
    for (let start = 0; start < bytes.length; ) {
      let size = 0;
      let end = start;
      while (end < bytes.length && (size === 0 || end - start < PART_BYTES)) {
        end = bytes.indexOf(LF, end) + 1;
        size++;
      }
      parts.push(new LineBlock(bytes.subarray(start, end), size));
      start = end;
    }
    return parts;
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
