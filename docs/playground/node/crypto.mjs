import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

const toBytes = (data) => (typeof data === 'string' ? utf8ToBytes(data) : data);

/** What redact does with `hmac`. */
export const createHmac = (algorithm, key) => digestOf(algorithm, hmac.create(sha256, toBytes(key)));

export const createHash = (algorithm) => digestOf(algorithm, sha256.create());

let calls = 0;

/** Ids only have to differ, and a drawing is to be the same each time. */
export const randomUUID = () => `00000000-0000-4000-8000-${String(++calls).padStart(12, '0')}`;

function digestOf(algorithm, state) {
  if (algorithm !== 'sha256') throw new Error(`the playground has no ${algorithm}`);
  const digest = {
    update: (data) => {
      state.update(toBytes(data));
      return digest;
    },
    digest: (encoding) => {
      const bytes = state.digest();
      return encoding === 'hex' ? bytesToHex(bytes) : globalThis.Buffer.from(bytes);
    },
  };
  return digest;
}
