import { createHash } from 'node:crypto';

/** How far one file belongs to what is confirmed: JSON. */
export type FileMark = {
  /** Device and inode. */
  readonly id: string;
  /** Where the file was. It may have been renamed since. */
  readonly path: string;
  /** Bytes. */
  readonly length: number;
  /** A digest of its first bytes: an inode is used again, and another file must not be cut. */
  readonly head: string;
};

/** Bytes that a file is known by, as far as it has them. */
export const HEAD_BYTES = 1024;

/** The digest of the first bytes of a file of this length. */
export function headDigest(head: Uint8Array, length: number): string {
  return createHash('sha256').update(head.subarray(0, length)).digest('hex').slice(0, 16);
}
