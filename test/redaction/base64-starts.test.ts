import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';
import { folderWith, runCommand, runShell } from '../support/cli.ts';

/*
 * A source that starts with base64 may start in the middle of a private key, whose rest must not pass. Base64 of something
 * else must.
 */

const newRedactor = () =>
  createRedactor(RedactProcessConfig.parse({ plugin: 'redact' }), { now: () => 0, onMask: () => {} });

const inLines = (bytes: Buffer, width = 76) =>
  (bytes.toString('base64').match(new RegExp(`.{1,${width}}`, 'g')) as string[]).map((line) => `${line}\n`);
const bodyOf = (pem: string) =>
  pem
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('-----'))
    .map((line) => `${line}\n`);

const { privateKey: rsa } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const { privateKey: pkcs1 } = generateKeyPairSync('rsa', {
  modulusLength: 4096,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});
const { privateKey: encrypted } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'top' },
});
// The body of a certificate: DER in DER, then what looks random.
const der = Buffer.concat([Buffer.from('308203f5308202dda003020102021400', 'hex'), randomBytes(1001)]);
const certificate = inLines(der, 64);
const header = Buffer.alloc(512);
header.write('etc/app.conf', 0);
header.write('0000644\0', 100);
header.write('ustar\0', 257);
const words = 'The quick brown fox, 42 times.\nEr lief über die Straße.\n'.repeat(40);

const OTHERS: Readonly<Record<string, string[]>> = {
  'the body of a certificate': certificate,
  'the end of a certificate': [...certificate.slice(4), '-----END CERTIFICATE-----\n'],
  'a gzip file': inLines(gzipSync(randomBytes(5000))),
  'a PNG image': inLines(Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(3000)])),
  'a PDF file': inLines(Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(3000)])),
  'a tar archive': inLines(Buffer.concat([header, randomBytes(2000), Buffer.alloc(8000)])),
  text: inLines(Buffer.from(words)),
  'text in a field of JSON': [`${JSON.stringify({ log: inLines(Buffer.from(words))[0]?.trim() })}\n`],
  'a line that ends like a key': [
    `${'Kz8/x2Vq4'.repeat(8)}Pw=\n`,
    `${'Kz8/x2Vq4'.repeat(8)}Pwd\n`,
    `${'Kz8/x2Vq4'.repeat(8)}\n`,
  ],
  'a large file of random bytes': inLines(randomBytes(60_000)),
};

const KEYS: Readonly<Record<string, string[]>> = {
  'PKCS #8': bodyOf(rsa),
  'PKCS #1': bodyOf(pkcs1),
  'an encrypted key': bodyOf(encrypted),
  'a key, with its end': rsa.split(/(?<=\n)/).slice(3),
  'a key in lines of 76 characters': inLines(Buffer.from(bodyOf(rsa).join(''), 'base64')),
  'a key in base64 of base64': inLines(Buffer.from(rsa)).slice(2),
  'a key behind a prefix': bodyOf(rsa).map((line) => `2026-05-01 app[7]: ${line}`),
};

async function redacted(lines: readonly string[]): Promise<string> {
  const cwd = folderWith({});
  writeFileSync(join(cwd, 'a.log'), lines.join(''));
  const { stdout } = await runCommand(['redact', 'a.log'], { cwd });
  return stdout;
}
const after = ['\n', 'password=Zebra99lamp\n', 'ok\n'];
const maskedAfter = '\npassword=<:password:>\nok\n';

describe.each(Object.entries(OTHERS))('%s', (name, lines) => {
  it('passes, and what follows is masked', async () => {
    expect(await redacted([...lines, ...after])).toBe(lines.join('') + maskedAfter);
    const withCr = [...lines, ...after].map((line) => line.replace('\n', '\r\n'));
    expect(await redacted(withCr)).toBe((lines.join('') + maskedAfter).replaceAll('\n', '\r\n'));
  });

  it('passes through a pipeline', () => {
    const many = newRedactor().many('a.log');
    const text = [...lines, ...after].join('').slice(0, 32_000);
    expect(many?.map(text.slice(0, text.lastIndexOf('\n')))).toContain(lines.slice(0, 3).join(''));
    if (/^(?:the end of|a large)/.test(name)) return;
    // One by one, the start of the first line has to tell.
    const redactor = newRedactor();
    for (const line of lines) expect(redactor.maskLine('a.log', line.trimEnd())).toBe(line.trimEnd());
  });
});

describe.each(Object.entries(KEYS))('%s', (_, lines) => {
  it('is masked, whichever line comes first', async () => {
    const body = lines
      .filter((line) => !line.startsWith('-----'))
      .map((line) => line.trim().split(' ').at(-1) as string);
    for (const from of [0, 1, 2, 5, lines.length - 4]) {
      const rest = lines.slice(from);
      const text = rest.join('');
      const redactor = newRedactor();
      const outputs = [
        rest.map((line) => redactor.maskLine('a.log', line.trimEnd())).join('\n'),
        from === 0 ? await redacted([...rest, ...after]) : '',
      ];
      for (const output of outputs) {
        for (const line of body.filter((one) => one.length >= 48))
          expect(output).not.toContain(line.slice(8, 30));
      }
      expect(() => newRedactor().many('a.log')?.map(text.trimEnd())).toThrow();
    }
  });
});

it('is the same however much of it comes at a time', async () => {
  const cwd = folderWith({});
  const lines = inLines(randomBytes(60_000));
  writeFileSync(join(cwd, 'a.log'), lines.join(''));
  // Each of these commands writes what it reads at once.
  const script = '(head -c 800; head -c 3000; cat) < a.log | millrace redact';
  expect((await runShell(script, { cwd })).stdout).toBe(lines.join(''));
});
