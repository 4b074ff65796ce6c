import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { ordinaryLines } from '../../plugins/pack-tests/ordinary-lines.ts';
import { fill, Random } from '../../plugins/pack-tests/templates.ts';
import { packNames, resolvePackRules } from '../../plugins/packs/load-packs.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';
import { PASSWORD_NAMES, PASSWORDS, TOKEN_NAMES, TOKENS } from './measure.ts';

/*
 * Fields of parsed events and the same as text: `redact` finds the same secrets in front of `parse` and behind it.
 */

const SAMPLES = 150;

const redactor = createRedactor(RedactProcessConfig.parse({ plugin: 'redact' }), {
  now: () => 0,
  onMask: () => {},
});
const asText = (event: unknown): unknown => JSON.parse(redactor.maskText(JSON.stringify(event)));
const asFields = (event: object): unknown => redactor.maskEvent(event);
/** Whichever rule it was. In text, one mask can stand for several items of a list. */
const plain = (masked: unknown) =>
  JSON.stringify(masked)
    .replace(/<:[^:>]*:>/g, '<:>')
    .replace(/"<:>"(?:,"<:>")+/g, '"<:>"');

/** Names of secrets that structured events have, beside those of the figures. */
const MORE_TOKEN_NAMES = [
  ...['session', 'sid', 'sessionId', 'csrf', 'xsrf-token', 'sig', 'signature', 'bearer', 'jwt', 'user_sid'],
  ...['cookies.PHPSESSID', 'JSESSIONID', 'x-amz-signature', 'client.secret', 'connectionString', 'id_token'],
];
const MORE_PASSWORD_NAMES = [
  ...['kennwort', 'user_password_hash', 'dbPasswordOld', 'newPassword2', 'pwd', 'passphrase', 'sa.passwd'],
];

type Shape = (name: string, secret: string) => object;
const SHAPES: Record<string, Shape> = {
  'a field': (name, secret) => ({ level: 'info', [name]: secret, status: 200 }),
  'a field at some depth': (name, secret) => ({ a: { b: [{ c: { [name]: secret } }] } }),
  'a list': (name, secret) => ({ [name]: [secret] }),
  'an object with the value': (name, secret) => ({ [name]: { value: secret } }),
  'a name and a value': (name, secret) => ({ env: [{ name, value: secret }] }),
  'a value and a name': (name, secret) => ({ env: [{ value: secret, name }] }),
  'a name in any field': (name, secret) => ({ list: [{ label: name, value: secret }] }),
  'a name and a value in capitals': (name, secret) => ({ env: [{ NAME: name, VALUE: secret }] }),
  'a name behind another one': (name, secret) => ({ name: 'password_policy', key: name, value: secret }),
  'a name beside a type of key': (name, secret) => ({ kty: 'x', name, value: secret }),
  'a long key': (name, secret) => ({ [`${'a'.repeat(200)}_${name}`]: secret }),
  'an attribute of OpenTelemetry': (name, secret) => ({
    attributes: [{ key: name, value: { stringValue: secret } }],
  }),
  'a pair of a list': (name, secret) => ({
    headers: [
      ['accept', '*/*'],
      [name, secret],
    ],
  }),
  'a list of arguments': (name, secret) => ({ argv: ['app', `--${name}`, secret, '-v'] }),
  'an argument': (name, secret) => ({ argv: ['app', `--${name}=${secret}`] }),
  'JSON in a string': (name, secret) => ({ body: JSON.stringify({ user: 'ada', [name]: secret }) }),
  'a setting in a string': (name, secret) => ({ msg: `using ${name}=${secret} now` }),
};

describe('a field with a secret', () => {
  it.each(Object.keys(SHAPES))('%s: is masked as text and as a field, and nothing else is', (shape) => {
    const r = new Random(31);
    const left: string[] = [];
    for (let i = 0; i < SAMPLES; i++) {
      const isPassword = i % 3 === 0;
      const name = r.pick(
        isPassword ? [...PASSWORD_NAMES, ...MORE_PASSWORD_NAMES] : [...TOKEN_NAMES, ...MORE_TOKEN_NAMES],
      );
      const secret = fill(r.pick(isPassword ? PASSWORDS : TOKENS), r).text;
      const event = (SHAPES[shape] as Shape)(name, secret);
      const wanted = plain((SHAPES[shape] as Shape)(name, '<:>'));
      const isMasked = [asText(event), asFields(event)].every((masked) => plain(masked) === wanted);
      if (!isMasked) left.push(`${name}: ${secret}`);
    }
    // A word in a list of words, or one that has no digit, may be an ordinary one.
    expect({ shape, left: left.slice(0, left.length > SAMPLES * 0.02 ? 20 : 0) }).toEqual({
      shape,
      left: [],
    });
  });

  it('keeps what is plainly no secret', () => {
    const event = {
      password: '${DB_PASSWORD}',
      secret: 'changeme',
      token: '<:token:>',
      apiKey: null,
      pwd: true,
      session: 12,
      passwords: { min: 8 },
      password_reset_url: 'https://example.org/reset',
      next_page_token: 'kD83mfLQ09xZpa7Qw',
      field_errors: { password: 'must have at least 8 characters' },
    };
    expect(asFields(event)).toEqual(event);
    expect(asText(event)).toEqual(event);
  });

  it('masks all values of a list, quotes and backslashes, and numbers', () => {
    expect(
      asFields({ passwords: ['tr0ub4dor', 'hunter2Xq'], password: 'a "b\\c" d1', pin_code: 40718254 }),
    ).toEqual({
      passwords: ['<:password:>', '<:password:>'],
      password: '<:password:>',
      pin_code: '<:pin:>',
    });
    expect(plain(asText({ passwords: ['tr0ub4dor', 'hunter2Xq', 'q7x9-Wort'] }))).toBe(
      '{"passwords":["<:>"]}',
    );
  });

  it('is masked by a pattern of a provider that asks for its name', () => {
    const event = { algolia: { app: 'shop', key: '0123abcd0123abce0123abcd0123abcf' } };
    expect(plain(asFields(event))).toBe('{"algolia":{"app":"shop","key":"<:>"}}');
  });
});

describe('samples of the packs as fields', () => {
  const samples = packNames()
    .filter((name) => name.startsWith('secrets/'))
    .flatMap((pack) => Object.values(resolvePackRules([pack])))
    .filter(({ confidence }) => confidence !== 'low')
    .flatMap(({ tests }) => tests.matches);

  it('are masked behind parse and in front of it', () => {
    const r = new Random(32);
    const found = samples.flatMap((template) => {
      const { text, spans } = fill(template, r);
      const event = parsed(text) ?? { message: text };
      const secrets = spans.map(([start, end]) => text.slice(start, end));
      const revealed = [JSON.stringify(asFields(event)), redactor.maskText(JSON.stringify(event))].filter(
        (masked) =>
          secrets.some(
            (secret) => masked.includes(secret) || masked.includes(JSON.stringify(secret).slice(1, -1)),
          ),
      );
      return revealed.length === 0 ? [] : [{ template, revealed }];
    });
    expect(found).toEqual([]);
  });

  it('are masked in the same places if they are JSON', () => {
    const r = new Random(34);
    const json = samples.filter((template) => parsed(fill(template, r).text) !== undefined);
    expect(json.length).toBeGreaterThan(20);
    for (const template of json) {
      const event = parsed(fill(template, r).text) as object;
      expect(plain(asFields(event))).toBe(plain(asText(event)));
    }
  });
});

describe('ordinary events', () => {
  it('are altered as seldom as ordinary lines', () => {
    const count = 8000;
    const events = ordinaryLines(count, 33).map((line) => parsed(line) ?? { message: line, source: 'a.log' });
    const altered = events.filter((event) => JSON.stringify(asFields(event)) !== JSON.stringify(event));
    expect(altered.length).toBeLessThanOrEqual(count * 0.0005);
    expect(events.filter((event) => !('message' in event)).length).toBeGreaterThan(250);
  });
});

function parsed(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

describe('lists and objects that have the name of a secret', () => {
  it.each([
    { passphrase: ['one', 'correct horse battery'] },
    { passphrases: ['alpha beta gamma', 'x y z w'] },
    { passwords: [123456, 'Xk9q2Zz7', 789012] },
    { passwords: [['Xk9q2Zz7'], ['alpha beta gamma']] },
    { user: { old_passwords: ['first one here', 'second one here'] } },
    { body: JSON.stringify({ passphrases: ['alpha beta gamma', 'x y z w'] }) },
    { password: { b: 123456 } },
    { password: { b: [123456] } },
    { password: { pin: { a: 123456 } } },
    { secret: { passwords: ['alpha beta', 'gamma delta'] } },
  ])('%j is masked as a line and as an event', (data) => {
    const inLine = JSON.stringify(asText(data));
    const inEvent = JSON.stringify((asFields({ data }) as { data: unknown }).data);
    expect(inLine.replace(/<:[^:>]*:>/g, '<:>')).toBe(inEvent.replace(/<:[^:>]*:>/g, '<:>'));
    expect(inLine).not.toMatch(/[0-9]{6}|Xk9q2Zz7|one|alpha|gamma|x y/);
  });

  it.each([
    { password: ['required', 'optional'] },
    { password: ['This field is required.', 'must contain a digit'] },
    { password: { rounds: 600000, minLength: 100000, changed_at: 1732600000, rotationDays: 100000 } },
  ])('%j is left as it is', (data) => {
    expect(asText(data)).toEqual(data);
    expect(asFields({ data })).toEqual({ data });
  });

  it('a list of cards', () => {
    const all = createRedactor(RedactProcessConfig.parse({ plugin: 'redact', packs: 'all' }), {
      now: () => 0,
      onMask: () => {},
    });
    const data = { cards: [4539578763621486, 4012888888881881, '4539 5787 6362 1486'] };
    const masked = { cards: ['<:card:>', '<:card:>', '<:card:>'] };
    expect(all.maskEvent({ data })).toEqual({ data: masked });
    expect(JSON.parse(all.maskText(JSON.stringify(data)))).toEqual(masked);
  });
});
