/**
 * A number in [0, 1) that is the same for the same text and seed, here and on every other machine: FNV-1a over
 * UTF-16 units, then the last step of MurmurHash3, because FNV alone leaves texts that differ at the end together.
 */
export function hashToUnit(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
