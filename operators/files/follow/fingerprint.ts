import { createHash } from 'node:crypto';

/** Bytes at the begin of a file that tell it from another one with the same device and inode. */
export const HEAD_BYTES = 1024;

/** The digest of the first bytes of a file. A file that grows keeps it, for as many bytes as it was made of. */
export type Fingerprint = {
  /** Bytes, at most 1,024; fewer if the file was shorter. */
  readonly length: number;
  readonly hash: string;
};

/** The fingerprint of a file that begins with `head`. */
export function fingerprintOf(head: Buffer): Fingerprint {
  const length = Math.min(head.length, HEAD_BYTES);
  const hash = createHash('sha256').update(head.subarray(0, length)).digest('hex');
  return { length, hash: hash.slice(0, 32) };
}

/** Whether a file that begins with `head`, or its later self, can be the one of the fingerprint. */
export function hasFingerprint(head: Buffer, { length, hash }: Fingerprint): boolean {
  return head.length >= length && fingerprintOf(head.subarray(0, length)).hash === hash;
}
