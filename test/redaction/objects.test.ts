import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

/*
 * Values whose key does not say that they are secret: a field beside them does, or a key around their object. They are
 * masked in parsed events, in a line of JSON, and in JSON within a string.
 */

const redactor = createRedactor(RedactProcessConfig.parse({ plugin: 'redact' }), {
  now: () => 0,
  onMask: () => {},
});
const plain = (text: string) => text.replace(/<:[\w-]+:>/g, '<:>');
const ways: Record<string, (object: unknown) => unknown> = {
  'as fields': (object) =>
    JSON.parse(plain(JSON.stringify(redactor.maskEvent({ data: object as object }).data))),
  'in a line': (object) => JSON.parse(plain(redactor.maskText(JSON.stringify(object)))),
  'in a string in a line': (object) => {
    const line = redactor.maskText(JSON.stringify({ log: JSON.stringify(object), n: 1 }));
    return JSON.parse((JSON.parse(plain(line)) as { log: string }).log);
  },
  'in a field of CSV': (object) => {
    const field = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const line = plain(redactor.maskText(`1,${field(JSON.stringify(object))},x`));
    return JSON.parse(line.slice('1,"'.length, -'",x'.length).replaceAll('""', '"'));
  },
};

const V = 'Zebr4Lamp9kQ';
const M = '<:>';

describe.each(Object.keys(ways))('%s', (way) => {
  const mask = ways[way] as (object: unknown) => unknown;

  it.each([
    ['name', 'value'],
    ['k', 'v'],
    ['key', 'val'],
    ['Name', 'Value'],
    ['NAME', 'VALUE'],
    ['ParameterKey', 'ParameterValue'],
    ['field', 'newValue'],
    ['field', 'new_value'],
    ['property', 'oldValue'],
    ['setting', 'value'],
    ['attribute', 'after'],
    ['column', 'old'],
  ])('a name in `%s`, its value in `%s`, in any order', (name, value) => {
    for (const secret of ['password', 'DB_PASSWORD', 'db.password', 'apiToken', 'client_secret']) {
      for (const make of [
        (masked: string) => ({ [name]: secret, [value]: masked }),
        (masked: string) => ({ [value]: masked, [name]: secret }),
        (masked: string) => ({ a: 1, [name]: secret, b: 'x {y} [z', c: [1], [value]: masked, d: null }),
        (masked: string) => [
          { [name]: 'page', [value]: 'x' },
          { [value]: masked, e: { f: 1 }, [name]: secret },
        ],
      ]) {
        expect(mask({ list: make(V) })).toEqual({ list: make(M) });
      }
    }
  });

  it('a change from one value to another', () => {
    expect(mask({ field: 'password', from: V, to: `${V}2` })).toEqual({ field: 'password', from: M, to: M });
    expect(mask({ key: 'apiKey', old: V, new: `${V}2` })).toEqual({ key: 'apiKey', old: M, new: M });
  });

  it('an object or array that has the name of a secret', () => {
    for (const key of ['secret', 'password', 'credentials', 'db_secrets', 'api_keys']) {
      expect(mask({ [key]: { v: V } })).toEqual({ [key]: { v: M } });
      expect(mask({ [key]: { a: { b: [{ c: V }] } } })).toEqual({ [key]: { a: { b: [{ c: M }] } } });
      expect(mask({ [key]: [V] })).toEqual({ [key]: [M] });
    }
  });

  it('what is no secret stays', () => {
    const objects = [
      { name: 'page', value: 'kD83mfLQ09x' },
      { field: 'password', message: 'must have 8 characters', min: 8 },
      { name: 'password', value: '' },
      { secret: { name: 'db-credentials', namespace: 'shop-7', uid: '0b3a8c1e' }, version: 'v1' },
      { password: { required: true, type: 'string', description: 'the password' } },
      { subject: 'password', from: 'x' },
      { ref: 'refs/heads/session', after: '3f786850e387550fdab836ed7e6dc881de23001b' },
      { session: { device: 'phone14x', agent: 'Mozilla/5.0 (X11)' } },
    ];
    for (const object of objects) expect(mask(object)).toEqual(object);
  });
});

it.each([
  'SALT=«Zebr4Lamp9»',
  'HASH_PEPPER=«Zebr4Lamp9»',
  "connect('db','app','«Zebr4Lamp9»')",
  'getConnection("jdbc:x:y", "app", "«Zebr4Lamp9»")',
  'invalid credentials ada:«Zebr4Lamp9»',
  'login failed for ada:«Zebr4Lamp9» from 10.0.0.7',
  "DETAIL:  parameters: $1 = 'ada', $2 = '«it''s-Zebr4Lamp9»', $3 = '17'",
])('%s', (text) => {
  expect(plain(redactor.maskText(text.replace(/[«»]/g, '')))).toBe(text.replace(/«.*»/, '<:>'));
});

it('the rest of a private key', () => {
  const body = `${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n'.repeat(3)}k9x7Qw==\n`;
  const end = '-----END PRIVATE KEY-----';
  expect(plain(redactor.maskText(`x\n${body}${end}\ny`))).toBe('x\n<:>\ny');
  const line = JSON.stringify({ log: body + end });
  expect(plain(redactor.maskText(line))).toBe('{"log":"<:>"}');
});
