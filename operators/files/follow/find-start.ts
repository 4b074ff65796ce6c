import { checksumOf, matchesChecksum, STRETCH, type TailChecksum } from './file-fingerprint.ts';
import { readSpan } from './file-status.ts';
import type { StartPosition } from './start-position.ts';
import { type TextEncoding, UTF_8 } from './text-encoding.ts';

/** Each search for the start of a line reads twice as many bytes as the one before, up to this. */
const LONGEST_LOOK = 1024 * 1024;

/** Where reading starts, once the bytes before it were looked at. */
export interface FoundStart {
  readonly offset: number;
  /** The line there started out of reach: reading starts after the next newline. */
  readonly isInLine: boolean;
  /** The bytes before `offset`: 8 KiB if there are as many, fewer if the start of a line was looked for. */
  readonly before: Buffer;
  /** The checksum of the bytes before where it was looked for; undefined at the start of the file. */
  readonly tail: TailChecksum | undefined;
}

/**
 * Looks at the bytes before `start`: whether they are still those of its checksum, and, if it may lie inside a line,
 * where that line starts, at most `maxLineBytes` before. Undefined if the bytes are different, or fewer.
 */
export async function findStart(
  fd: number,
  { offset, tail, mayBeInLine = false }: Pick<StartPosition, 'offset' | 'tail' | 'mayBeInLine'>,
  maxLineBytes: number,
  encoding = UTF_8,
): Promise<FoundStart | undefined> {
  const stretchFrom = Math.max(0, offset - STRETCH);
  const from = Math.min(tail?.from ?? offset, stretchFrom);
  const bytes = await readSpan(fd, from, offset);
  if (bytes === undefined) return undefined;
  if (tail !== undefined && !matchesChecksum(bytes.subarray(tail.from - from), tail)) return undefined;
  const before = bytes.subarray(stretchFrom - from);
  const found = { offset, isInLine: false, before, tail: checksumOf(before, offset) };
  // No line in this encoding starts at half of a character.
  const isInLine = mayBeInLine || offset % encoding.unit !== 0;
  return isInLine ? findLineStart(fd, found, Math.max(0, offset - maxLineBytes), encoding) : found;
}

/** Where the line starts that `start` may lie in, if that is not before `least`. */
async function findLineStart(
  fd: number,
  start: FoundStart,
  leastByte: number,
  { unit, lastIndexOfLf }: TextEncoding,
): Promise<FoundStart | undefined> {
  const { offset, before } = start;
  const atUnit = (byte: number) => byte + (byte % unit);
  const least = atUnit(leastByte);
  let from = Math.max(least, atUnit(offset - before.length));
  let bytes: Buffer | undefined = before.subarray(before.length - (offset - from));
  while (bytes !== undefined) {
    const lf = lastIndexOfLf(bytes);
    if (lf !== -1) return { ...start, offset: from + lf + 1, before: bytes.subarray(0, lf + 1) };
    if (from === 0) return { ...start, offset: 0, before: bytes.subarray(0, 0) };
    if (from === least) return { ...start, isInLine: true };
    const next = Math.max(least, atUnit(from - Math.min(2 * bytes.length, LONGEST_LOOK)));
    bytes = await readSpan(fd, next, from);
    from = next;
  }
  return undefined;
}
