import type { Buffer } from 'node:buffer';

/** Whether bytes have some others at a place. Buffer's `compare` takes longer for less than some hundred of them. */
export function hasBytes(bytes: Buffer, expected: Buffer, at = 0): boolean {
  for (let n = 0; n < expected.length; n++) if (bytes[at + n] !== expected[n]) return false;
  return true;
}
