import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import zlib from 'node:zlib';
import { type TextEncoding, UTF_8 } from './text-encoding.ts';

// Not a named import, which would keep an older Node.js from loading the module that names the required version.
const { crc32 } = zlib;

/** Bytes at the start of a file that tell it from another one with the same device and inode. */
export const HEAD_BYTES = 1024;

/** The digest of the first bytes of a file. A file that grows keeps it. */
export type Fingerprint = {
  /** Bytes, at most 1,024; fewer if the file was shorter. */
  readonly length: number;
  readonly hash: string;
};

/** The fingerprint of a file that starts with `head`. */
export function fingerprintOf(head: Buffer): Fingerprint {
  const length = Math.min(head.length, HEAD_BYTES);
  const hash = createHash('sha256').update(head.subarray(0, length)).digest('hex');
  return { length, hash: hash.slice(0, 32) };
}

/** Whether a file that starts with `head`, or what it was earlier, can be the one of the fingerprint. */
export function hasFingerprint(head: Buffer, { length, hash }: Fingerprint): boolean {
  return head.length >= length && fingerprintOf(head.subarray(0, length)).hash === hash;
}

const NOTHING = Buffer.alloc(0);

/** The first bytes of one file, as far as they are known, and the fingerprint that they give. */
export class FileHead {
  #bytes: Buffer;
  #fingerprint: Fingerprint | undefined;
  /** Null if these bytes were not looked at. */
  #format: NonTextFormat | undefined | null = null;
  readonly #encoding: TextEncoding;

  /** `expected`: the fingerprint from before, as long as the bytes are not known. */
  constructor(bytes: Buffer | undefined, encoding: TextEncoding, expected?: Fingerprint) {
    this.#encoding = encoding;
    this.#bytes = bytes ?? NOTHING;
    if (bytes === undefined) this.#fingerprint = expected;
  }

  get fingerprint(): Fingerprint {
    this.#fingerprint ??= fingerprintOf(this.#bytes);
    return this.#fingerprint;
  }

  /** The format of the file if it is not text in its encoding, as far as its first bytes tell. */
  get nonTextFormat(): NonTextFormat | undefined {
    if (this.#format === null) this.#format = nonTextFormat(this.#bytes, this.#encoding);
    return this.#format;
  }

  /** Whether a file that starts with `bytes` can be this one. Then they are known from now on. */
  accept(bytes: Buffer): boolean {
    if (!hasFingerprint(bytes, this.fingerprint)) return false;
    this.#become(bytes);
    return true;
  }

  /** `chunk` was read at `position`; it is copied, as far as it adds something. */
  add(chunk: Buffer, position: number): void {
    const known = this.#bytes.length;
    if (known >= HEAD_BYTES || position > known) return;
    const rest = chunk.subarray(known - position, HEAD_BYTES - position);
    if (rest.length === 0) return;
    this.#become(Buffer.concat([this.#bytes, rest]));
  }

  /** Whether a file that starts with `chunk` can be this one, as far as the chunk reaches. */
  agreesWith(chunk: Buffer): boolean {
    const length = Math.min(chunk.length, this.#bytes.length);
    return chunk.compare(this.#bytes, 0, length, 0, length) === 0;
  }

  clear(): void {
    this.#become(NOTHING);
  }

  #become(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#fingerprint = undefined;
    this.#format = null;
  }
}

interface Format {
  readonly name: string;
  /** The first bytes; any byte where there is none. */
  readonly magic: readonly (number | undefined)[];
  readonly advice: string;
}

const CONVERT = 'convert it';
const UNPACK = 'unpack it';

/** By their first bytes, the longer ones first. No text starts like that. */
const FORMATS: readonly Format[] = [
  { name: 'UTF-32', magic: [0xff, 0xfe, 0x00, 0x00], advice: CONVERT },
  { name: 'UTF-32', magic: [0x00, 0x00, 0xfe, 0xff], advice: CONVERT },
  { name: 'gzip', magic: [0x1f, 0x8b], advice: UNPACK },
  { name: 'compress', magic: [0x1f, 0x9d], advice: UNPACK },
  { name: 'zstd', magic: [0x28, 0xb5, 0x2f, 0xfd], advice: UNPACK },
  { name: 'lz4', magic: [0x04, 0x22, 0x4d, 0x18], advice: UNPACK },
  // `BZh`, a digit, and the digits of pi.
  {
    name: 'bzip2',
    magic: [0x42, 0x5a, 0x68, undefined, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59],
    advice: UNPACK,
  },
  { name: 'xz', magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], advice: UNPACK },
  { name: '7z', magic: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], advice: UNPACK },
  { name: 'zip', magic: [0x50, 0x4b, 0x03, 0x04], advice: UNPACK },
];

/** A format in which masks would find no secret, and what to do about it. */
export type NonTextFormat = Pick<Format, 'name' | 'advice'>;

/** The format of a file that starts with these bytes if it is not text in this encoding; undefined if it may be. */
export function nonTextFormat(head: Buffer, encoding = UTF_8): NonTextFormat | undefined {
  const marked = FORMATS.find(({ magic }) =>
    magic.every((byte, i) => byte === undefined || head[i] === byte),
  );
  if (marked !== undefined) return marked;
  const isUtf16Expected = encoding.unit === 2;
  // Every other character of UTF-16 may be a line feed, which looks the same.
  if (!isUtf16Expected && isUnmarkedUtf32(head)) return { name: 'UTF-32', advice: CONVERT };
  const found = utf16Of(head);
  if (found !== undefined && found !== encoding.name)
    return { name: found.toUpperCase(), advice: `set \`encoding: ${found}\`` };
  const isUtf8 = isUtf16Expected && head.length >= LEAST_UTF_8 && !head.includes(0) && isUtf8UpToItsEnd(head);
  return isUtf8 ? { name: 'UTF-8', advice: 'remove `encoding`' } : undefined;
}

/** Bytes: text in UTF-16 that is as long and happens to be UTF-8 does not occur. */
const LEAST_UTF_8 = 16;
/** By the place of the upper half of each character. */
const UTF_16 = ['utf-16be', 'utf-16le'] as const;

function utf16Of(head: Buffer): (typeof UTF_16)[number] | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return (
    UTF_16.find((_, upper) => isUnmarkedUtf16(head, upper)) ??
    UTF_16.find((_, upper) => holdsUtf16(head, upper))
  );
}

/** This many characters in a row are no coincidence. */
const CHARACTERS = 4;
const TAB = 0x09;
const CR = 0x0d;
const SPACE = 0x20;
/** The most bytes of a character of UTF-8 that may be missing after the end. */
const MOST_OPEN = 3;
/** Of the upper half of a character beyond U+FFFF. */
const MOST_PLANE = 0x10;

/** Whether every other byte at the start is the same control character: the upper half of letters of one script. */
function isUnmarkedUtf16(head: Buffer, upper: number): boolean {
  const script = head[upper] as number;
  if (script >= SPACE || (script >= TAB && script <= CR)) return false;
  return everyCharacter(head, 2, (at) => head[at + upper] === script && head[at + 1 - upper] !== script);
}

/**
 * Whether it is not UTF-8 and has a run of ASCII in UTF-16, which every secret is. That finds scripts with too many
 * characters to be known by their upper halves, such as Chinese. An upper half that is a control character speaks against
 * it, because line ends and tabs of another encoding would be there, and so does NUL, which is a hole in a file.
 */
function holdsUtf16(head: Buffer, upper: number): boolean {
  if (!head.includes(0) || isUtf8UpToItsEnd(head)) return false;
  let run = 0;
  let longest = 0;
  for (let at = 0; at + 1 < head.length; at += 2) {
    const high = head[at + upper] as number;
    const low = head[at + 1 - upper] as number;
    if (high === 0 ? low === 0 : high < SPACE) return false;
    run = high === 0 ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest >= CHARACTERS;
}

/** Whether it is UTF-8, up to a last character that is incomplete. */
function isUtf8UpToItsEnd(head: Buffer): boolean {
  return Array.from({ length: MOST_OPEN + 1 }, (_, open) => head.length - open).some((end) =>
    isUtf8(head.subarray(0, Math.max(0, end))),
  );
}

/** Whether every four bytes at the start are a character of UTF-32. */
function isUnmarkedUtf32(head: Buffer): boolean {
  const isCharacter = (high: number, plane: number, a: number, b: number) =>
    head[high] === 0 && (head[plane] as number) <= MOST_PLANE && (head[a] !== 0 || head[b] !== 0);
  return (
    everyCharacter(head, 4, (at) => isCharacter(at + 3, at + 2, at + 1, at)) ||
    everyCharacter(head, 4, (at) => isCharacter(at, at + 1, at + 2, at + 3))
  );
}

/** Whether `is` holds for the offsets of the first characters; false for a head that has fewer. */
function everyCharacter(head: Buffer, bytes: number, is: (at: number) => boolean): boolean {
  if (head.length < bytes * CHARACTERS) return false;
  return Array.from({ length: CHARACTERS }, (_, i) => i * bytes).every(is);
}

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

/** The checksum of the last 8 KiB of `bytes`, which end at `offset`; undefined if there are none. */
export function checksumOf(bytes: Buffer, offset: number): TailChecksum | undefined {
  const tail = bytes.subarray(-STRETCH);
  return tail.length === 0 ? undefined : { from: offset - tail.length, crc: crc32(tail) };
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
