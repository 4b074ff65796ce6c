import { type Fingerprint, hasFingerprint, matchesChecksum, type TailChecksum } from './file-fingerprint.ts';
import { findStart } from './find-start.ts';

// Whether a file still is what was read of it. Device and inode say which file it is; its size, its first bytes and those
// before the offset say whether it has been truncated, or replaced by one that got its inode.

/** What became of a file since it was read up to an offset. */
export type Verdict = 'same' | 'truncated' | 'replaced';

/** What is known of a file that was read up to an offset. */
interface ReadPart {
  /** Bytes. */
  readonly offset: number;
  readonly fingerprint?: Fingerprint | undefined;
  /** The checksum of the bytes before `offset`. */
  readonly tail?: TailChecksum | undefined;
}

/** Compares a file with what was read of it, by its size and its first bytes, as far as they are known. */
export function compareFile(
  { offset, fingerprint }: ReadPart,
  { size = Number.POSITIVE_INFINITY, head }: { readonly size?: number; readonly head?: Buffer | undefined },
): Verdict {
  if (size < offset) return 'truncated';
  // A file that cannot be read now is taken for the same, until it is opened.
  if (head === undefined || fingerprint === undefined) return 'same';
  // One that was read of, yet left no first bytes to know it by, may be any.
  const isKnown = fingerprint.length > 0 || offset === 0;
  return isKnown && hasFingerprint(head, fingerprint) ? 'same' : 'replaced';
}

/**
 * Compares what was read at the end of a file, with the bytes before it, with what was known of these. `bytes` were read at
 * `start`. A size does not show that a file was truncated and has grown past its offset; these bytes do.
 */
export function compareBytes(
  bytes: Buffer,
  start: number,
  { offset, tail }: Omit<ReadPart, 'fingerprint'>,
  hasHead: (bytes: Buffer) => boolean,
): Verdict {
  if (start + bytes.length < offset) return 'truncated';
  const known = bytes.subarray(0, offset - start);
  const isSame = tail === undefined ? start > 0 || hasHead(bytes) : matchesChecksum(known, tail);
  return isSame ? 'same' : 'replaced';
}

/** Compares the bytes before the offset of an open file with their checksum. */
export async function compareTail(
  fd: number,
  { offset, tail }: Omit<ReadPart, 'fingerprint'>,
): Promise<Verdict> {
  const found = await findStart(fd, { offset, tail }, 0);
  return found === undefined ? 'replaced' : 'same';
}
