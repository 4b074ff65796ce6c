import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { fill, Random } from '../../plugins/pack-tests/templates.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

const redactor = createRedactor(RedactProcessConfig.parse({ plugin: 'redact' }), {
  now: () => 0,
  onMask: () => {},
});

/** Tokens that were drawn at random can look like words. */
const TOKENS = [
  '{digit:2}{lower:17}',
  '{lower:18}',
  '{base36:19}',
  '{base36:26}',
  '{alnum:16}',
  '{alnum:22}',
  '{hex:20}',
];
const NOTATIONS = [
  '{"authorization":"Bearer TOKEN"}',
  'Authorization: Bearer TOKEN',
  "curl -H 'Authorization: Token TOKEN' https://example.org",
  '{"log":"{\\"authorization\\":\\"Bearer TOKEN\\"}"}',
  'sending Bearer TOKEN now',
];

describe('a token behind its scheme', () => {
  it.each(NOTATIONS)('is masked, whatever it looks like: %s', (notation) => {
    const r = new Random(71);
    const left: string[] = [];
    for (let i = 0; i < 3000; i++) {
      const token = fill(r.pick(TOKENS), r).text;
      if (redactor.maskText(notation.replace('TOKEN', token)).includes(token)) left.push(token);
    }
    expect(left).toEqual([]);
  });

  it('is masked behind the name of a token', () => {
    for (const text of [
      '{"token":"32tqrnmyeuarjvqsqio"}',
      'token=32tqrnmyeuarjvqsqio',
      'api_key: 7kdlspqmeuarjvqs',
    ]) {
      expect(redactor.maskText(text)).toContain('<:token:>');
    }
  });
});

it.each([
  'Bearer of bad news',
  'Bearer authentication failed',
  'the bearer certificate of incorporation',
  'Authorization: Bearer <token>',
  'Authorization: Bearer $TOKEN',
  'authorization failed for ada',
  'authorization: bearer authentication failed',
  'authorization: granted for administrators',
  'token expired',
  'token: authentication',
  'invalid token: unexpected identifier',
  '{"error":"token expired","token_type":"bearer"}',
  'WWW-Authenticate: Bearer realm="example", error="invalid_token"',
])('a sentence stays: %s', (text) => {
  expect(redactor.maskText(text)).toBe(text);
});
