import type { Reserved } from './event-buffer.ts';

const MAX_SEGMENT_BYTES = 64 * 1024 * 1024;
/** Room comes back one segment at a time, so that a small buffer has several too. */
const MIN_SEGMENTS = 8;

/** The largest segment of a buffer, unless a single record is larger. */
export function segmentBytesOf(maxBytes: number): number {
  return Math.min(MAX_SEGMENT_BYTES, Math.ceil(maxBytes / MIN_SEGMENTS));
}

interface RoomOptions {
  readonly maxBytes: number;
  /** The bytes that are stored and still needed. */
  readonly used: () => number;
  /** Told when {@link Room.isFull} changes. */
  readonly onFull: (isFull: boolean) => void;
  /** Called when a reservation has ended. */
  readonly onEnded: () => void;
}

interface Claim {
  readonly bytes: number;
  /** What is not stored of it. */
  left: number;
}

/** Who has the room of a buffer: what is stored, and what is reserved and not stored yet. */
export class Room {
  readonly #options: RoomOptions;
  readonly #segmentBytes: number;
  /** Oldest first. */
  readonly #claims = new Set<Claim>();
  #isFull = false;

  constructor(options: RoomOptions) {
    this.#options = options;
    this.#segmentBytes = segmentBytesOf(options.maxBytes);
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  setFull(isFull: boolean): void {
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#options.onFull(isFull);
  }

  /** See `EventBuffer.reserve`. `overhead`: the bytes that are stored with the events. */
  reserve(eventBytes: number, overhead = 0): Reserved {
    const { maxBytes } = this.#options;
    if (eventBytes > maxBytes) return 'never';
    const bytes = Math.min(eventBytes + overhead, maxBytes);
    if (!this.#has(bytes)) {
      // A large request that finds no room says nothing about smaller ones.
      if (!this.#has(this.#segmentBytes)) this.setFull(true);
      return 'none';
    }
    const claim = { bytes, left: bytes };
    this.#claims.add(claim);
    return {
      end: () => {
        this.#end(claim);
        this.#options.onEnded();
      },
    };
  }

  /** Bytes of reservations are stored, and no longer reserved. Usually those of the oldest are stored first. */
  stored(bytes: number): void {
    let rest = bytes;
    for (const claim of this.#claims) {
      if (rest === 0) return;
      const taken = Math.min(rest, claim.left);
      claim.left -= taken;
      rest -= taken;
    }
  }

  /** Room may have come back. The buffer is full until a whole segment is free. */
  check(): void {
    if (this.#isFull && this.#has(this.#segmentBytes)) this.setFull(false);
  }

  #end(ended: Claim): void {
    // Its events may have been stored before those of older reservations, which then still need their room.
    let rest = ended.left;
    for (const claim of this.#claims) {
      if (claim === ended || rest === 0) break;
      const given = Math.min(rest, claim.bytes - claim.left);
      claim.left += given;
      rest -= given;
    }
    this.#claims.delete(ended);
  }

  #has(bytes: number): boolean {
    let taken = this.#options.used();
    for (const { left } of this.#claims) taken += left;
    return taken + bytes <= this.#options.maxBytes;
  }
}
