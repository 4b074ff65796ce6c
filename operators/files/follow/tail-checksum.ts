import { crc32 } from 'node:zlib';

/** A checksum covers at least so many bytes before an offset, where there are so many, and less than three times that. */
export const STRETCH = 8 * 1024;

/** The checksum of the bytes from `from` up to the offset that it is kept with. */
export type TailChecksum = {
  readonly from: number;
  readonly crc: number;
};

/** Whether a checksum from outside can be one of the bytes before `offset`. */
export function isPlausible({ from, crc }: TailChecksum, offset: number): boolean {
  return Number.isInteger(from) && Number.isInteger(crc) && from < offset && offset - from < 3 * STRETCH;
}

/** The checksum of `bytes`, which end at `offset`; undefined if there are none. */
export function checksumOf(bytes: Buffer, offset: number): TailChecksum | undefined {
  return bytes.length === 0 ? undefined : { from: offset - bytes.length, crc: crc32(bytes) };
}

/** Whether `bytes` are those of the checksum. */
export function matchesChecksum(bytes: Buffer, { crc }: TailChecksum): boolean {
  return crc32(bytes) === crc;
}

/**
 * The checksum of the last bytes of a file up to where it was read. It is computed as the bytes come, so that none of
 * them is kept: two stretches are summed up at a time, and the older one is dropped when the younger is long enough.
 */
export class TailDigest {
  #at: number;
  #from: number;
  #crc = 0;
  #nextFrom: number;
  #nextCrc = 0;

  constructor(offset: number) {
    this.#at = offset;
    this.#from = offset;
    this.#nextFrom = offset;
  }

  /** Undefined where no byte is known. */
  get checksum(): TailChecksum | undefined {
    return this.#from === this.#at ? undefined : { from: this.#from, crc: this.#crc };
  }

  /** The next bytes of the file. */
  add(bytes: Buffer): void {
    this.#at += bytes.length;
    if (bytes.length >= STRETCH) {
      this.#from = this.#at - STRETCH;
      this.#crc = crc32(bytes.subarray(-STRETCH));
      this.#nextFrom = this.#at;
      this.#nextCrc = 0;
      return;
    }
    if (bytes.length === 0) return;
    this.#crc = crc32(bytes, this.#crc);
    this.#nextCrc = crc32(bytes, this.#nextCrc);
    if (this.#at - this.#nextFrom < STRETCH) return;
    this.#from = this.#nextFrom;
    this.#crc = this.#nextCrc;
    this.#nextFrom = this.#at;
    this.#nextCrc = 0;
  }
}

/** Bytes: log lines differ in them, at least in their times. */
export const OVERLAP_BYTES = 64;

/**
 * The last bytes that were read of one file. They are read again with the next ones: if they are others by then, the
 * file was truncated meanwhile and has grown past where it was, which its size does not show.
 */
export class Overlap {
  readonly #bytes = Buffer.alloc(OVERLAP_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Whether what was read, from `length` bytes before the offset, starts with the same bytes as before. */
  matches(read: Buffer): boolean {
    return read.length >= this.#length && this.#bytes.compare(read, 0, this.#length, 0, this.#length) === 0;
  }

  /** `chunk` was read behind the bytes that are known. */
  add(chunk: Buffer): void {
    const kept = Math.min(this.#length, Math.max(0, OVERLAP_BYTES - chunk.length));
    this.#bytes.copyWithin(0, this.#length - kept, this.#length);
    const added = chunk.subarray(-OVERLAP_BYTES);
    added.copy(this.#bytes, kept);
    this.#length = kept + added.length;
  }

  clear(): void {
    this.#length = 0;
  }
}
