import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Redactor } from '../../operators/masks/redact/redactor.ts';
import { resolvePackRules } from '../../plugins/packs/load-packs.ts';

const MASK = '<:encoded-private-key:>';

/** Masks the lines of one source. */
function masked(lines: readonly string[]): string[] {
  const redactor = new Redactor({
    rules: resolvePackRules(['secrets/keys', 'secrets/context', 'secrets/providers']),
    confidence: 'medium',
    allowedValues: [],
    allowedKeys: [],
    decode: { json: 1, percent: 1, base64: 1 },
    blocks: { lines: 200, timeoutMs: 5000, now: () => 0 },
    replace: (_, id) => `<:${id.replace(/^.*:/, '')}:>`,
    onMask: () => {},
  });
  return lines.map((line) => redactor.maskLine('shell.log', line));
}

const pem = {
  'EC, PKCS #8': generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }),
  'RSA, PKCS #1': generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  }),
};
const wrapped = (text: string, width: number) =>
  Buffer.from(text)
    .toString('base64')
    .match(new RegExp(`.{1,${width}}`, 'g')) as string[];

describe.each(Object.entries(pem))('a private key in base64 (%s)', (_, { privateKey, publicKey }) => {
  it.each([
    ['base64', 76, ''],
    ['openssl base64', 64, ''],
    ['base64, in a log', 76, '2026-01-02T03:04:05Z ci[7]: '],
    ['openssl base64, in a log', 64, '2026-01-02T03:04:05Z ci[7]: '],
  ])('that %s has wrapped is masked to its last line', (_command, width, prefix) => {
    const key = wrapped(privateKey, width).map((line) => `${prefix}${line}`);
    const lines = masked(['$ base64 tls.key', ...key, '$ date', 'Fri Jan  2 03:04:05 UTC 2026', '$ exit']);
    expect(lines.slice(0, 2)).toEqual(['$ base64 tls.key', `${prefix}${MASK}`]);
    expect(lines.slice(2, key.length + 1)).toEqual(Array(key.length - 1).fill(MASK));
    // If the last line is as long as the others, only the next one tells that it was the last.
    expect(lines.slice(key.length + 2)).toEqual(['Fri Jan  2 03:04:05 UTC 2026', '$ exit']);
  });

  it('is masked as one value in a string of several lines, and without wrapping', () => {
    const key = wrapped(privateKey, 76);
    expect(masked([`a\n${key.join('\n')}`])).toEqual([`a\n${MASK}`]);
    expect(masked([`tls.key: ${key.join('')}`, 'replicas: 2'])).toEqual([`tls.key: ${MASK}`, 'replicas: 2']);
  });

  it('is none if it is public', () => {
    const key = wrapped(publicKey, 76);
    expect(masked(['$ base64 tls.pub', ...key])).toEqual(['$ base64 tls.pub', ...key]);
  });
});
