import { ChunkLines } from './chunk-lines.ts';
import type { JoinedLines } from './joined-lines.ts';

/** Consecutive lines of one file as bytes, each with its terminator; decoded only if somebody asks for texts. */
export class LineBlock {
  readonly bytes: Uint8Array;
  readonly size: number;
  #decoded: JoinedLines | undefined;

  readonly #onRelease: () => void;

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

  get text(): string {
    return this.#decode().text;
  }

  get lines(): readonly string[] {
    return this.#decode().lines;
  }

  #decode(): JoinedLines {
    if (this.#decoded === undefined) {
      const { buffer, byteOffset, length } = this.bytes;
      this.#decoded = new ChunkLines(Buffer.from(buffer, byteOffset, length), 0, length).take(this.size);
    }
    return this.#decoded;
  }
}
