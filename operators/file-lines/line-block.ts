import { ChunkLines } from './chunk-lines.ts';

/** Consecutive lines of one file as bytes, each with its terminator; decoded only if somebody asks for texts. */
export class LineBlock {
  readonly bytes: Uint8Array;
  readonly size: number;
  #decoded: { readonly lines: readonly string[]; readonly areVerbatim: boolean } | undefined;

  /** `bytes` is not written to any more. `size` is the number of its lines. */
  constructor(bytes: Uint8Array, size: number) {
    this.bytes = bytes;
    this.size = size;
  }

  /** Without terminators. */
  get lines(): readonly string[] {
    return this.#decode().lines;
  }

  /** JSON holds the lines as they stand. */
  get areVerbatim(): boolean {
    return this.#decode().areVerbatim;
  }

  #decode() {
    if (this.#decoded === undefined) {
      const { buffer, byteOffset, length } = this.bytes;
      const decoder = new ChunkLines(Buffer.from(buffer, byteOffset, length), 0, length);
      this.#decoded = { lines: decoder.take(this.size), areVerbatim: decoder.areVerbatim };
    }
    return this.#decoded;
  }
}
