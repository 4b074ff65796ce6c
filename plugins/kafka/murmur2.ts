const SEED = 0x9747b28c;
const MULTIPLIER = 0x5bd1e995;

/**
 * The hash by which Kafka's own clients choose the partition of a key, so that records of one key share a partition
 * whatever program has written them: https://github.com/apache/kafka/blob/4.0/clients/src/main/java/org/apache/kafka/common/utils/Utils.java
 */
export function murmur2(key: Buffer): number {
  const { length } = key;
  let hash = SEED ^ length;
  let at = 0;
  for (; at + 4 <= length; at += 4) {
    let k = Math.imul(key.readInt32LE(at), MULTIPLIER);
    k = Math.imul(k ^ (k >>> 24), MULTIPLIER);
    hash = Math.imul(hash, MULTIPLIER) ^ k;
  }
  const rest = length - at;
  if (rest > 2) hash ^= (key[at + 2] as number) << 16;
  if (rest > 1) hash ^= (key[at + 1] as number) << 8;
  if (rest > 0) hash = Math.imul(hash ^ (key[at] as number), MULTIPLIER);
  hash = Math.imul(hash ^ (hash >>> 13), MULTIPLIER);
  return hash ^ (hash >>> 15);
}

/** The partition of a key. */
export const partitionOf = (key: Buffer, partitions: number): number =>
  (murmur2(key) & 0x7fffffff) % partitions;
