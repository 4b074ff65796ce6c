import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Redactor } from '../../operators/masks/redact/redactor.ts';
import { fill, Random } from '../../plugins/pack-tests/templates.ts';
import { loadPack, packNames, resolvePackRules } from '../../plugins/packs/load-packs.ts';

/*
 * A process can start, or start again, in the middle of a key. The first line of a source is therefore searched for the rest
 * of a key, which must never keep the rules from what they find in the same line.
 */

const newRedactor = (packs = ['secrets/keys', 'secrets/context', 'secrets/providers']) =>
  new Redactor({
    rules: resolvePackRules(packs),
    confidence: 'low',
    allowedValues: [],
    allowedKeys: [],
    decode: { json: 1, percent: 1, base64: 1 },
    blocks: { lines: 200, timeoutMs: 5000, now: () => 0 },
    replace: (_, id) => `<:${id.replace(/^.*:/, '')}:>`,
  });

/** Each piece of a secret of so many characters that is found in a text. */
const piecesIn = (text: string, secret: string, length = 12) =>
  Array.from({ length: Math.max(0, secret.length - length + 1) }, (_, at) =>
    secret.slice(at, at + length),
  ).filter((piece) => text.includes(piece));

const pem = { type: 'pkcs8', format: 'pem' } as const;
const spki = { type: 'spki', format: 'pem' } as const;
const rsa = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: spki,
  privateKeyEncoding: pem,
});
const pkcs1 = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: spki,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});
const ec = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: spki,
  privateKeyEncoding: pem,
});
const encrypted = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: spki,
  privateKeyEncoding: { ...pem, cipher: 'aes-256-cbc', passphrase: 'top' },
});
const keys = {
  'RSA, PKCS #8': rsa.privateKey,
  'RSA, PKCS #1': pkcs1.privateKey,
  EC: ec.privateKey,
  encrypted: encrypted.privateKey,
  PGP: `${rsa.privateKey.replaceAll('PRIVATE KEY', 'PGP PRIVATE KEY BLOCK')}`,
  OpenSSH: rsa.privateKey.replaceAll('PRIVATE KEY', 'OPENSSH PRIVATE KEY'),
};

const withEscapes = (text: string) => JSON.stringify(text).slice(1, -1);
const account = (key: string) =>
  JSON.stringify({ type: 'service_account', private_key_id: '2f', private_key: key, client_id: '1' });
/** Notations that keep a key on one line. */
const NOTATIONS: Readonly<Record<string, (key: string) => string>> = {
  'environment file': (key) => `PRIVATE_KEY="${withEscapes(key)}"`,
  'environment file, without quotes': (key) => `PRIVATE_KEY=${withEscapes(key)}`,
  'environment file, single quotes': (key) => `export KEY='${withEscapes(key)}'`,
  'Windows line ends': (key) => `KEY="${withEscapes(key.replaceAll('\n', '\r\n'))}"`,
  'service account': account,
  'escaped JSON of Docker': (key) => JSON.stringify({ log: `${account(key)}\n`, stream: 'stdout' }),
  'JSON in JSON in JSON': (key) => JSON.stringify({ a: JSON.stringify({ log: account(key) }) }),
  'log with a prefix': (key) => `2026-05-01T10:00:00Z web[7]: loaded ${withEscapes(key)} from disk`,
  'container log': (key) => `2026-05-01T10:00:00.000000001Z stdout F key: "${withEscapes(key)}"`,
  YAML: (key) => `  tls.key: "${withEscapes(key)}"`,
  'source code': (key) => `const key = '${withEscapes(key)}';`,
  'with a certificate before it': (key) => JSON.stringify({ cert: certificate, key }),
  'with a hash before it': (key) => JSON.stringify({ integrity: `sha384-${hash}`, key }),
  'with a key before it': (key) => JSON.stringify([key, key]),
  'cut off': (key) => `PRIVATE_KEY="${withEscapes(key.slice(0, -90))}`,
};
const hash = 'oqVuAfXRKap7fdgcCY5uykM6R9GqQ8K9uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC1';
const certificate = ec.publicKey.replaceAll('PUBLIC KEY', 'CERTIFICATE');

describe.each(Object.entries(keys))('a private key in one string (%s)', (_, key) => {
  const body = key.split('\n').slice(1, -2).join('');

  it.each(Object.entries(NOTATIONS))(
    '%s: is masked as the first line of a source, and as each further one',
    (name, form) => {
      const line = form(key);
      const redactor = newRedactor();
      const first = [line, line, line].map((each) => redactor.maskLine('app.env', each));
      // A new process, which starts where the last one stopped.
      const restarted = newRedactor().maskLine('app.env', line);
      const later = newRedactor();
      later.maskLine('app.env', 'starting');
      const expected = later.maskLine('app.env', line);
      for (const masked of [...first, restarted, expected]) expect(piecesIn(masked, body)).toEqual([]);
      // A hash can look like a line of a key, and a key without its end goes on in the next line.
      if (name === 'with a hash before it' || name === 'cut off') return;
      expect([...first, restarted]).toEqual([expected, expected, expected, expected]);
    },
  );

  it.each(Object.entries(NOTATIONS))('%s: is masked as a field of the first event', (_name, form) => {
    const { data } = newRedactor().maskEvent({ data: { message: form(key) } }, 'app.env');
    expect(piecesIn(JSON.stringify(data), body)).toEqual([]);
  });

  it('is masked over many lines, whichever of them a run starts with', () => {
    const lines = key.trimEnd().split('\n');
    const redactor = newRedactor();
    for (let start = 0; start < lines.length - 2; start++) {
      // A source of its own, of which this line is the first.
      const masked = lines.slice(start).map((line) => redactor.maskLine(`${start}.key`, line));
      expect(piecesIn(masked.join('\n'), lines.slice(start, -2).join('\n'))).toEqual([]);
    }
  });
});

describe.each(packNames())('the rules of %s', (pack) => {
  it('find in the first line of a source what they find in any line', () => {
    const r = new Random(31);
    const any = newRedactor([pack]);
    const kept = Object.entries(loadPack(pack).rules).flatMap(([name, { tests }]) =>
      tests.matches.flatMap((template, index) => {
        const { text, spans } = fill(template, r);
        const everywhere = any.maskText(text);
        const source = `${name}-${index}.log`;
        const first = any.maskEvent({ data: { line: text } }, source).data.line as string;
        const secrets = spans.map(([start, end]) => text.slice(start, end));
        const leaked = secrets.flatMap((secret) => piecesIn(first, secret, Math.min(8, secret.length)));
        return leaked.every((piece) => everywhere.includes(piece)) ? [] : [name];
      }),
    );
    expect(kept).toEqual([]);
  });
});

it('the rule of docs/redaction.md finds the full lines of a key that come without its first line, and no digest', () => {
  const [, source = ''] = /^ {4}KEY_LINE: '(.*)'$/m.exec(readFileSync('docs/redaction.md', 'utf8')) ?? [];
  const rule = new RegExp(source);
  const lines = rsa.privateKey.split('\n').slice(2, -3);
  expect(lines.length).toBeGreaterThan(20);
  const forms = lines.flatMap((line) => [line, `web-1 | ${line}`, JSON.stringify({ log: `${line}\n` })]);
  expect(forms.filter((line) => !rule.test(line))).toEqual([]);
  const sha256 = createHash('sha256').update('a').digest('hex');
  const sha512 = createHash('sha512').update('a').digest('base64');
  expect([sha256, `sha512-${sha512}`].filter((line) => rule.test(line))).toEqual([]);
});
