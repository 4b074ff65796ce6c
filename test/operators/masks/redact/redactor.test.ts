import { describe, expect, it } from '@jest/globals';
import { compileMaskRules } from '../../../../operators/masks/compile-mask-rules.ts';
import { MaskError } from '../../../../operators/masks/mask-error.ts';
import { applyRulesInOrder, type MaskRule } from '../../../../operators/masks/mask-rule.ts';
import { bitsPerCharacter } from '../../../../operators/masks/redact/compile-redact-rules.ts';
import { isPlaceholder } from '../../../../operators/masks/redact/placeholders.ts';
import { type RedactOptions, redactor } from '../../../../operators/masks/redact/redact.ts';
import type { RedactRule } from '../../../../operators/masks/redact/redact-rule.ts';
import { isSecretKey } from '../../../../operators/masks/redact/secret-keys.ts';

const TOKEN = { match: 'tk_([0-9a-z]{8})', keywords: ['tk_'] };
const base64 = (text: string) => Buffer.from(text).toString('base64');

function mask<T extends string | object>(value: T, options: Partial<RedactOptions> = {}): unknown {
  return redactor({ rules: { 'a/b:token': TOKEN }, ...options })(value);
}

describe('rules', () => {
  it('replace a match by the name of the rule, which is what follows the pack', () => {
    expect(mask('a tk_01234567, tk_89abcdef')).toBe('a <:token:>, <:token:>');
  });

  it('replace groups of a match', () => {
    expect(mask('tk_01234567', { rules: { T: { ...TOKEN, mask: 1 } } })).toBe('tk_<:T:>');
    const pair = { match: '([a-z]+):([0-9]+)(?:/([a-z]+))?', mask: [1, 2, 3] };
    expect(mask('ada:12 bob:3/x', { rules: { P: pair } })).toBe('<:P:>:<:P:> <:P:>:<:P:>/<:P:>');
  });

  it('look for keywords in any case, and skip other strings', () => {
    const rules = { T: { match: '[0-9]{4}', keywords: ['PIN', 'code'] } };
    expect(mask('Pin 1234', { rules })).toBe('Pin <:T:>');
    expect(mask('order 1234', { rules })).toBe('order 1234');
  });

  it.each<[string, object, boolean]>([
    ['require, which fails', { check: 'card' }, false],
    ['require, with entropy', { check: { entropy: 3 } }, false],
    ['require, which passes', { check: { entropy: 1 } }, true],
    ['off', { check: { name: 'card', mode: 'off' } }, true],
    ['raise, where it need not', { check: { name: 'card', mode: 'raise' } }, true],
    ['raise from low, which fails', { check: { name: 'card', mode: 'raise' }, confidence: 'low' }, false],
    ['raise from low, which passes', { check: { entropy: 1, mode: 'raise' }, confidence: 'low' }, true],
    ['low confidence', { confidence: 'low' }, false],
    ['medium confidence', { confidence: 'medium' }, true],
  ])('check: %s', (_, fields, isMasked) => {
    const text = '4111 1111 1111 1112';
    const rules = { C: { match: '[0-9 ]{19}', ...fields } };
    expect(mask(text, { rules })).toBe(isMasked ? '<:C:>' : text);
  });

  it('check the card number', () => {
    const rules = { C: { match: '[0-9 ]{19}', check: 'card' } };
    expect(mask('4111 1111 1111 1111', { rules })).toBe('<:C:>');
  });

  it('leave what a rule or an option allows, by value or by key in any style', () => {
    expect(mask('tk_01234567', { rules: { T: { ...TOKEN, allow: ['^tk_0'] } } })).toBe('tk_01234567');
    expect(mask('tk_01234567 tk_89abcdef', { allowedValues: ['^tk_0'] })).toBe('tk_01234567 <:token:>');
    const allowedKeys = ['trace_id'];
    const text = 'traceId=tk_01234567 "trace-id": "tk_01234567" id=tk_01234567';
    expect(mask(text, { allowedKeys })).toBe('traceId=tk_01234567 "trace-id": "tk_01234567" id=<:token:>');
    expect(mask({ TraceId: 'tk_01234567', id: 'tk_01234567' }, { allowedKeys })).toEqual({
      TraceId: 'tk_01234567',
      id: '<:token:>',
    });
  });

  it('with blocks come first, whatever their place', () => {
    const block = { contains: 'BEGIN', start: 'BEGIN', end: 'END' };
    const rules = { A: 'BEGIN', B: { match: 'BEGIN[\\s\\S]*?END', block } };
    expect(mask('BEGIN x\ny END', { rules })).toBe('<:B:>');
  });

  it('refuse a group, a check and an expression that are not there', () => {
    expect(() => redactor({ rules: { A: { match: '(a)', mask: 2 } } })).toThrow(/rule "A".*2 is not a group/);
    expect(() => redactor({ rules: { A: { match: 'a', check: 'crad' } } })).toThrow(/"crad".*does not exist/);
    expect(() => redactor({ rules: { A: '(' } })).toThrow(/rule "A"/);
  });

  it('report what they masked, and replace as they are told', () => {
    const counts: [string, number][] = [];
    const onMask = (rule: string, count: number) => void counts.push([rule, count]);
    const replace = (value: string, id: string) => `[${id} ${value.length}]`;
    expect(mask('tk_01234567', { onMask, replace })).toBe('[a/b:token 11]');
    expect(counts).toEqual([['a/b:token', 1]]);
  });
});

describe('the entropy rule', () => {
  const KEY = 'qGr4Kd0xT9bLw2Zp5v';

  it('is on at low confidence, with several delimiters and without punctuation and quotes', () => {
    const text = `{"token":"${KEY}"} token=${KEY}&x=1, Bearer ${KEY}, '${KEY}'. (${KEY})`;
    const masked = text.replaceAll(KEY, '<:high-entropy:>');
    expect(mask(text, { confidence: 'low', rules: {} })).toBe(masked);
    expect(mask(text, { rules: {} })).toBe(text);
  });

  it('takes options, and can be turned off or on', () => {
    expect(mask(KEY, { confidence: 'low', entropy: false })).toBe(KEY);
    expect(mask(`${KEY}`, { entropy: {} })).toBe('<:high-entropy:>');
    expect(mask(KEY, { entropy: { length: 30 } })).toBe(KEY);
    expect(mask(`a_${KEY}_b`, { entropy: { delimiters: '_' } })).toBe('a_<:high-entropy:>_b');
    expect(mask('59601e367f33496cf24050ceea80dc6e', { entropy: {} })).toBe(
      '59601e367f33496cf24050ceea80dc6e',
    );
  });
});

describe('fields', () => {
  it('of secret keys are masked at any depth, also numbers and in arrays', () => {
    const event = {
      timestamp: '2026-01-01T00:00:00Z',
      data: {
        user: 'ada',
        db: [{ dbPassword: 'hunter2', pinCode: 1234, 'X-Api-Key': ['a', 2, { b: 'c' }] }],
        ok: true,
      },
    };
    expect(mask(event)).toEqual({
      timestamp: '2026-01-01T00:00:00Z',
      data: {
        user: 'ada',
        db: [
          {
            dbPassword: '<:secret-field:>',
            pinCode: '<:secret-field:>',
            'X-Api-Key': ['<:secret-field:>', '<:secret-field:>', { b: 'c' }],
          },
        ],
        ok: true,
      },
    });
  });

  it('of secret keys keep placeholders, booleans and null', () => {
    const data = {
      password: '${DB_PASSWORD}',
      secret: 'changeme',
      token: '<:token:>',
      apiKey: null,
      pwd: true,
    };
    expect(mask({ data })).toEqual({ data });
    expect(mask({ password: '' })).toEqual({ password: '' });
  });

  it('are not looked at if they are not wanted', () => {
    expect(mask({ password: 'hunter2' }, { secretFields: false })).toEqual({ password: 'hunter2' });
  });

  it.each([
    ...[
      'password',
      'dbPassword',
      'DB_PASSWORD',
      'db-password2',
      'passwd',
      'authorization',
      'Proxy-Authorization',
    ],
    ...['apiKey', 'API_KEY', 'x-api-key', 'apikey', 'APIKey', 'client_secret', 'clientSecret', 'accessToken'],
    ...['refresh_token', 'github.token', 'token', 'privateKey', 'aws_secret_access_key', 'Set-Cookie', 'jwt'],
    ...['connectionString', 'passphrase', 'signing_key', 'secrets', 'credentials', 'totp', 'cvv'],
  ])('%s is a secret key', (key) => expect(isSecretKey(key)).toBe(true));

  it.each([
    ...['passwordResetUrl', 'password_policy', 'max_tokens', 'tokenCount', 'next_page_token', 'nextToken'],
    ...[
      'public_key',
      'key',
      'keyboard',
      'primary_key',
      'secretary',
      'has_password',
      'monkey',
      'tokenizer',
      'user',
    ],
    ...['continuationToken', 'session_name', 'cookieConsent', 'authorized', 'compass', ''],
  ])('%s is none', (key) => expect(isSecretKey(key)).toBe(false));
});

describe('placeholders', () => {
  it.each([
    ...['changeme', 'CHANGE_ME', 'xxxxxxxx', '********', '<password>', '<your token>', '${TOKEN}', '$TOKEN'],
    ...['{{ token }}', '%TOKEN%', 'REDACTED', '[redacted]', '<:token:>', 'Bearer <:token:>', '<:card:1111:>'],
    ...[
      'your-api-key',
      'AKIAXXXXXXXXXXXXXXXX',
      'sk_live_example0123456789',
      'null',
      'password',
      '"changeme"',
      'n/a',
    ],
  ])('%s is never masked', (value) => {
    expect(isPlaceholder(value, true)).toBe(true);
    expect(mask(value, { rules: { 'secrets/test:ALL': '(?s).+' } })).toBe(value);
  });

  it.each(['hunter2', 'S3cr3t!', 'correct horse', 'p<:a:>q1', 'Xx9$aQ', 'aaaaaaab'])(
    '%s is none',
    (value) => {
      expect(isPlaceholder(value, true)).toBe(false);
    },
  );

  it('are whole values in your own rules and in rules about people', () => {
    const email = '[a-z.]+@[a-z.]+';
    expect(mask('to ada@example.com', { rules: { 'pii/contact:email': email } })).toBe('to <:email:>');
    expect(mask('to ada@example.com', { rules: { EMAIL: email } })).toBe('to <:EMAIL:>');
    expect(mask('x@y', { rules: { 'secrets/a:b': email } })).toBe('<:b:>');
  });
});

describe('decoding', () => {
  it.each<[string, string]>([
    ['base64', base64('the token is tk_01234567')],
    ['base64url without padding', Buffer.from('??>> tk_01234567>>').toString('base64url')],
    ['base64 twice', base64(base64('the token is tk_01234567'))],
    ['base64 of UTF-16', Buffer.from('use tk_01234567', 'utf16le').toString('base64')],
    ['percent', 'tk%5F01234567'],
    ['percent of base64', encodeURIComponent(base64('a tk_01234567>>>???'))],
  ])('masks a whole token: %s', (_, token) => {
    expect(mask(`x ${token} y`)).toBe('x <:token:> y');
    expect(mask({ data: { a: [token] } })).toEqual({ data: { a: ['<:token:>'] } });
  });

  it('masks JSON strings with escapes', () => {
    const text = JSON.stringify({ a: 'no', b: 'a \u0001tk_01234567'.replace('_', '_') });
    expect(mask(text)).toBe('{"a":"no","b":"a \\u0001<:token:>"}');
    expect(mask('{"b":"tk\\u005f01234567","c":"\\u005f"}')).toBe('{"b":"<:token:>","c":"\\u005f"}');
  });

  it('sees through as many layers as it may', () => {
    const twice = base64(base64('the token is tk_01234567'));
    expect(mask(twice, { decode: { base64: 1 } })).toBe(twice);
    expect(mask('tk%5F01234567', { decode: { percent: 0 } })).toBe('tk%5F01234567');
    expect(mask('"tk\\u005f01234567"', { decode: { json: 0 } })).toBe('"tk\\u005f01234567"');
  });

  it('leaves other tokens, and counts one for a token', () => {
    const counts: [string, number][] = [];
    const tokens = [
      base64('nothing to see in this text'),
      '59601e367f33496cf24050ceea80dc6e',
      'a%20b%2',
      'a\\"b"',
    ];
    const text = tokens.join(' ');
    expect(mask(text, { onMask: (rule, count) => void counts.push([rule, count]) })).toBe(text);
    expect(counts).toEqual([]);
    mask(base64('tk_01234567 and tk_01234567'), { onMask: (rule, count) => void counts.push([rule, count]) });
    expect(counts).toEqual([['a/b:token', 1]]);
  });
});

describe('a mask', () => {
  it('fails closed', () => {
    expect(() => mask({ data: new Map() })).toThrow(MaskError);
    const boundTime = () => {
      throw new MaskError('too long');
    };
    const rules = { T: { ...TOKEN, match: 'tk_[a-z]*[a-z]*[a-z]*[0-9]' } };
    expect(() => mask(`tk_${'a'.repeat(1000)}`, { rules, boundTime })).toThrow('too long');
  });
});

describe('bitsPerCharacter', () => {
  it.each([
    ['', 0],
    ['aaaa', 0],
    ['abab', 1],
    ['abcd', 2],
  ])('of %j is %d', (text, bits) => expect(bitsPerCharacter(text)).toBe(bits));
});

describe('a value that fails a check', () => {
  const card = { match: '[0-9]{13,19}', check: 'card' };
  const CARD = '4111111111111111';

  it.each<[string, string, RedactRule, string]>([
    ['a card behind other digits', `12${CARD}`, card, '12<:R:>'],
    ['the value of a group', `key=key=${CARD}`, { ...card, match: 'key=([^ ]+)', mask: 1 }, 'key=key=<:R:>'],
    [
      'a random value behind a plain one',
      'key:aaaaaaaakey:q7Xw2Lk9Zp',
      { match: 'key:(\\S+)', mask: 1, check: { entropy: 3.3 } },
      'key:aaaaaaaakey:<:R:>',
    ],
    ['one of two groups', `1 ${CARD}`, { ...card, match: '(\\d+) (\\d+)', mask: [1, 2] }, '1 <:R:>'],
  ])('does not hide %s', (_, text, rule, wanted) => {
    expect(mask(text, { rules: { R: rule } })).toBe(wanted);
  });

  it('is not searched for parts if it is allowed, or a placeholder', () => {
    const rule = { match: '[\\w-]+', check: { entropy: 1 } };
    expect(mask('build-123', { rules: { R: { ...rule, allow: ['^build-'] } } })).toBe('build-123');
    expect(mask('build-123', { rules: { R: rule }, allowedValues: ['^build-'] })).toBe('build-123');
    expect(mask('changeme', { rules: { 'secrets/test:R': rule } })).toBe('changeme');
  });

  it('costs in proportion to the length of the text, and is passed over when that is spent', () => {
    let checked = 0;
    const rule: MaskRule = {
      name: 'R',
      expression: /a+b?/,
      groups: [0],
      accepts: (value) => {
        checked += value.length;
        return value === 'ab' || 'search-inside';
      },
      replace: () => '*',
    };
    expect(applyRulesInOrder('aaaab', [rule])).toBe('aaa*');
    checked = 0;
    const long = 'a'.repeat(10_000);
    expect(compileMaskRules([rule]).mask(`${long}b ab`)).toBe(`${long}b *`);
    expect(checked).toBeLessThan(18 * long.length);
  });
});
