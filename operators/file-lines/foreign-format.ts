interface Format {
  readonly name: string;
  /** The first bytes; any byte where there is none. */
  readonly magic: readonly (number | undefined)[];
  readonly advice: string;
}

const CONVERT = 'convert it';
const UNPACK = 'unpack it';

/** By their first bytes, the longer ones first. None of them begins as a text does that somebody may write. */
const FORMATS: readonly Format[] = [
  { name: 'UTF-32', magic: [0xff, 0xfe, 0x00, 0x00], advice: CONVERT },
  { name: 'UTF-32', magic: [0x00, 0x00, 0xfe, 0xff], advice: CONVERT },
  { name: 'UTF-16', magic: [0xff, 0xfe], advice: CONVERT },
  { name: 'UTF-16', magic: [0xfe, 0xff], advice: CONVERT },
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

/** What a file is whose secrets no mask would find, and what to do about it. */
export type Foreign = Pick<Format, 'name' | 'advice'>;

/** What a file is that begins with these bytes and is no UTF-8 text; undefined if it may be that. */
export function foreignFormat(head: Buffer): Foreign | undefined {
  const marked = FORMATS.find(({ magic }) =>
    magic.every((byte, i) => byte === undefined || head[i] === byte),
  );
  return marked ?? (isUnmarkedUtf16(head) ? { name: 'UTF-16', advice: CONVERT } : undefined);
}

/** So many ASCII characters in a row are no accident. */
const PAIRS = 4;

/** Whether NUL is every other byte at the begin, as in ASCII text without a byte order mark. */
function isUnmarkedUtf16(head: Buffer): boolean {
  if (head.length < 2 * PAIRS) return false;
  const isPair = [...head.subarray(0, 2)].filter((byte) => byte === 0).length === 1;
  const nul = head[0] === 0 ? 0 : 1;
  return (
    isPair &&
    Array.from({ length: PAIRS }, (_, i) => 2 * i).every(
      (i) => head[i + nul] === 0 && head[i + 1 - nul] !== 0,
    )
  );
}
