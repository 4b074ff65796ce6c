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
  if (marked !== undefined) return marked;
  if (isUnmarkedUtf32(head)) return { name: 'UTF-32', advice: CONVERT };
  return isUnmarkedUtf16(head) ? { name: 'UTF-16', advice: CONVERT } : undefined;
}

/** So many characters in a row are no accident. */
const CHARACTERS = 4;
const TAB = 0x09;
const CR = 0x0d;
const SPACE = 0x20;
/** Of the upper half of a character beyond U+FFFF. */
const MOST_PLANE = 0x10;

/** Whether every other byte at the begin is the same control character: the upper half of letters of one script. */
function isUnmarkedUtf16(head: Buffer): boolean {
  return [0, 1].some((upper) => {
    const script = head[upper] as number;
    if (script >= SPACE || (script >= TAB && script <= CR)) return false;
    return everyCharacter(head, 2, (at) => head[at + upper] === script && head[at + 1 - upper] !== script);
  });
}

/** Whether of four bytes at the begin two are none, each time: no script has more characters. */
function isUnmarkedUtf32(head: Buffer): boolean {
  const isCharacter = (high: number, plane: number, a: number, b: number) =>
    head[high] === 0 && (head[plane] as number) <= MOST_PLANE && (head[a] !== 0 || head[b] !== 0);
  return (
    everyCharacter(head, 4, (at) => isCharacter(at + 3, at + 2, at + 1, at)) ||
    everyCharacter(head, 4, (at) => isCharacter(at, at + 1, at + 2, at + 3))
  );
}

/** For the first characters, where each begins; false for a head that has fewer. */
function everyCharacter(head: Buffer, bytes: number, is: (at: number) => boolean): boolean {
  if (head.length < bytes * CHARACTERS) return false;
  return Array.from({ length: CHARACTERS }, (_, i) => i * bytes).every(is);
}
