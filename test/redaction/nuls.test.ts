import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

/*
 * NULs in a secret, as they are or as an escape: programs that read the text as UTF-8 or as a C string leave them there.
 * Whatever finds the secret without them finds it with them, and no part of it is left.
 */

const redactor = createRedactor(RedactProcessConfig.parse({ plugin: 'redact' }), {
  now: () => 0,
  onMask: () => {},
});
const PARTS = ['Xk29', 'sjw8f7s2Q', 'aaaaBBBB1234'] as const;

const NULS: readonly (readonly [name: string, nul: string])[] = [
  ['a NUL', '\0'],
  ['two NULs', '\0\0'],
  ['a NUL of JSON', '\\u0000'],
  ['a NUL of JSON in JSON', '\\\\u0000'],
  ['a NUL of a program', '\\x00'],
  ['an octal NUL of a program', '\\000'],
  ['a NUL of JavaScript', '\\u{0}'],
];

const TEXTS: Readonly<Record<string, (secret: string) => string>> = {
  'key=value': (secret) => `user=ada password=${secret} ok`,
  'a short start of the value': (secret) => `password=ab${secret.slice(PARTS[0].length)}`,
  quotes: (secret) => `password="${secret}" ok`,
  JSON: (secret) => `{"user":"ada","password":"${secret}"}`,
  'a message in JSON': (secret) => `{"msg":"password=${secret}, ok","n":1}`,
  'JSON in JSON': (secret) => `{"msg":"{\\"password\\":\\"${secret}\\"}"}`,
  'a header': (secret) => `Authorization: Bearer ${secret}`,
  'a header in JSON': (secret) => `{"authorization":"Bearer ${secret}"}`,
  'a URL': (secret) => `GET https://example.org/?token=${secret}&n=1`,
  'a password of a URL': (secret) => `postgres://ada:${secret}@db/main`,
  'an argument': (secret) => `mysql --password ${secret} -h db`,
  'a cookie': (secret) => `Set-Cookie: session=${secret}; Path=/`,
  'one secret of two': (secret) => `token=Qm3${PARTS[1]} password=${secret}`,
};

const FIELDS: Readonly<Record<string, (secret: string, nul: string) => object>> = {
  'a field': (secret) => ({ password: secret }),
  'a list': (secret) => ({ passwords: [secret] }),
  'a field at some depth': (secret) => ({ user: { api_key: secret } }),
  'a name and a value': (secret) => ({ env: [{ name: 'DB_PASSWORD', value: secret }] }),
  'a header': (secret) => ({ headers: { authorization: `Bearer ${secret}` } }),
  'a list of arguments': (secret) => ({ args: ['--password', secret] }),
  'a message': (secret) => ({ message: `password=${secret} ok` }),
  'a key with NULs': (secret, nul) => ({ [`pass${nul}word`]: secret }),
};

function left(masked: string): string[] {
  const shown = masked.replace(/\0|\\+(?:u0000|x00|000|u\{0\})/g, '');
  return PARTS.filter((part) => shown.includes(part));
}

describe.each(NULS)('%s', (_, nul) => {
  const secrets = [
    PARTS.join(nul),
    `${nul}${PARTS.join('')}`,
    `${PARTS.join('')}${nul}`,
    [...PARTS.join('')].join(nul),
  ];

  it.each(Object.keys(TEXTS))('hides no secret in a text: %s', (name) => {
    for (const secret of secrets) {
      const text = (TEXTS[name] as (typeof TEXTS)[string])(secret);
      const masked = [redactor.maskText(text), JSON.stringify(redactor.maskEvent({ line: text }))];
      expect(masked.filter((each) => left(each).length > 0)).toEqual([]);
    }
  });

  it.each(Object.keys(FIELDS))('hides no secret in fields: %s', (name) => {
    for (const secret of secrets) {
      const masked = JSON.stringify(
        redactor.maskEvent((FIELDS[name] as (typeof FIELDS)[string])(secret, nul)),
      );
      expect(left(masked)).toEqual([]);
    }
  });
});

it('an escaped NUL leaves what is around a secret', () => {
  expect(redactor.maskText('{"msg":"a\\u0000b password=Xk29\\u0000sjw8f7s2Q ok"}')).toBe(
    '{"msg":"a\\u0000b password=<:password:> ok"}',
  );
  expect(redactor.maskText('path C:\\x00 and [\\x00-\\x1f] are no secrets')).toBe(
    'path C:\\x00 and [\\x00-\\x1f] are no secrets',
  );
});
