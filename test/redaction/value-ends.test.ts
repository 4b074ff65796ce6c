import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

/*
 * A value is masked to its end, in whichever way it is quoted. In a notation, KEY is the name, «…» the value, and what is
 * outside has to stay.
 */

const redactor = createRedactor(RedactProcessConfig.parse({ plugin: 'redact' }), {
  now: () => 0,
  onMask: () => {},
});
const masked = (text: string) => redactor.maskText(text).replace(/<:[\w-]+:>/g, '<:>');

const KEYS = ['password', 'api_key', 'accessToken', 'client_secret', 'DB_PASSWORD'];

const NOTATIONS: Record<string, readonly string[]> = {
  'quotes that are doubled, as in CSV': [
    '"2026","{""KEY"":""«Zebr4Lamp9kQ»""}",c',
    '"{""user"":""bob"",""KEY"":""«Zebr4Lamp9kQ»"",""x"":""y""}"',
    '2026,"KEY=""«Zebr4Lamp9kQ»""",c',
    "INSERT INTO log VALUES ('{''KEY'': ''«Zebr4Lamp9kQ»''}')",
    '"""{""""KEY"""":""""«Zebr4Lamp9kQ»""""}"""',
    '{"row":"\\"{\\"\\"KEY\\"\\":\\"\\"«Zebr4Lamp9kQ»\\"\\"}\\",c","x":1}',
  ],
  'a doubled quote in a value': [
    "KEY='«Zebr4''Lamp9kQ»' next",
    "KEY: '«it''s Zebr4Lamp9kQ»' # next",
    'KEY="«Zebr4""Lamp9kQ»";Encrypt=true',
    '{"msg":"KEY=\'«it\'\'s Zebr4Lamp9kQ»\'","level":"info"}',
  ],
  'an escaped quote in a value': [
    'KEY="«Zebr4\\"Lamp9kQ»" next',
    "KEY = '«Zebr4\\'Lamp9kQ»';",
    '{"KEY":"«Zebr4\\"Lamp9kQ»","x":"y"}',
    '{"body":"{\\"KEY\\":\\"«Zebr4\\\\\\"Lamp9kQ»\\"}","x":"y"}',
    "KEY=$'«Zebr4\\'Lamp9kQ»' next",
  ],
  'the quoting of a shell': [
    "KEY='«Zebr4'\\''Lamp9kQ»' next",
    'KEY=«Zebr4\\ Lamp9kQ\\ x» next',
    'KEY=«"Zebr4"\'Lamp9kQ\'» next',
    'KEY=«"Zebr4"Lamp9kQ» next',
    "KEY=«Zebr4'Lamp9kQ x'» next",
    "{\"cmd\":\"KEY='«Zebr4'\\\\''Lamp9kQ»' next\"}",
    '{"cmd":"KEY=«Zebr4\\\\ Lamp9kQ» next"}',
    "app --KEY '«Zebr4'\\''Lamp9kQ»' --next",
    'app --KEY «Zebr4\\ Lamp9kQ» --next',
  ],
  'strings that are joined': [
    'KEY = "«Zebr4" + "Lamp9kQ»";',
    "$KEY = '«Zebr4' . 'Lamp9kQ»';",
    'KEY = """«Zebr4"Lamp9kQ»"""',
  ],
  'quotes of HTML and braces of ODBC': [
    '<x KEY="«Zebr4&quot;Lamp9kQ»"/>',
    'KEY=&quot;«Zebr4 Lamp9kQ»&quot; next',
    'KEY=&quot;«Zebr4&amp;Lamp9kQ»&quot; next',
    'Server=db;KEY={«Zebr4}};Lamp9kQ»};Encrypt=true',
  ],
};

describe.each(Object.keys(NOTATIONS))('%s', (kind) => {
  it.each(NOTATIONS[kind] as string[])('%s', (notation) => {
    for (const key of KEYS) {
      const text = notation.replace('KEY', key);
      expect({ key, masked: masked(text.replace(/[«»]/g, '')) }).toEqual({
        key,
        masked: text.replace(/«.*»/, '<:>'),
      });
    }
  });
});

it.each([
  "mysql -u root -p'«Zebr4'\\''Lamp9»' db",
  "curl -u 'bob:«Zebr4 Lamp9»' https://example.org",
  "ALTER ROLE bob WITH PASSWORD '«Zebr4''Lamp9»';",
  "CREATE USER bob IDENTIFIED BY '«it''s Zebr4Lamp9»'",
  "SELECT crypt('«it''s Zebr4Lamp9»', gen_salt('bf'))",
  "echo '«Zebr4'\\''Lamp9»' | sudo -S ls",
  "The password is '«Zebr4''Lamp9»'.",
  "convertto-securestring '«it''s Zebr4Lamp9»' -AsPlainText",
  'echo "root:«Zebr4 Lamp9»" | chpasswd',
])('commands, statements and sentences: %s', (text) => {
  expect(masked(text.replace(/[«»]/g, ''))).toBe(text.replace(/«.*»/, '<:>'));
});

/** Notations without quotes, with the signs after which a value at that place ends. */
const BARE: Readonly<Record<string, readonly [notation: string, signs: string]>> = {
  'a line of an environment': ['KEY=«VALUE»', ''],
  'a line of a log': ['2026-11-02 INFO KEY=«VALUE» user=bob', ''],
  YAML: ['KEY: «VALUE»', ''],
  'what Java prints': ['Config{user=bob, KEY=«VALUE», port=3}', ''],
  'a list of pairs': ['Server=db;User=sa;KEY=«VALUE»;Timeout=30', ''],
  'an argument of a command': ['app --KEY=«VALUE» --verbose', ''],
  'a parameter of a URL': ['GET /x?a=1&KEY=«VALUE»&b=2', ''],
  'a line of a header': ['X-KEY: «VALUE»', ''],
};
const SIGNS = [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'];

describe.each(Object.keys(BARE))('each sign within a value, %s', (kind) => {
  const [notation, excepted] = BARE[kind] as readonly [string, string];
  const ofSign = (sign: string) => [`Zebr4${sign}Lamp9kQ`, `Zebr4${sign}${sign}Lamp9kQ`];

  it.each(SIGNS.filter((sign) => !excepted.includes(sign)))('%s', (sign) => {
    for (const key of KEYS) {
      for (const value of ofSign(sign)) {
        const text = notation.replace('KEY', key);
        const expected = text.replace('«VALUE»', '<:>');
        const actual = masked(text.replace('«VALUE»', () => value));
        // What is between a name and its value is no part of it. A value is masked as a whole, or not at all.
        expect([expected, text.replace('«VALUE»', () => value)]).toContain(actual);
        if (key === 'password') expect(actual).toBe(expected);
      }
    }
  });
});

it.each([
  'password=«Zebra|Lampe» next',
  'password=«zwdX, tW»',
  'password: «eywz: dE5x»',
  'password=«Zebr4Lamp9» please wait',
  'password=«Zebra,Lampe» next',
  'password=«Zebra&Lampe» next',
  'password=«Zebra\\nLampe» next',
  '"password=«Zebr4Lamp9kQ»\\nuser=bob"',
  'password=«Zebra,Lampe»,user=bob',
  'user=bob,password=«Zebra»,secure,tls',
  'f(password=«Zebra-7»,secure)',
  'password: «pGdj[Zo8D]»',
  'password=«nMZu(EIOX)»',
  'PASSWORD=«Zebra»;export PASSWORD',
  'PASSWORD=«Zebra»&&npm start',
  'Set-Cookie: token=«kD83mfLQ09xZpa7Qw»;Secure;HttpOnly',
  '(see https://example.org/?access_token=«kD83mfLQ09xZpa7Qw») next',
])('words in a list, and what follows: %s', (text) => {
  expect(masked(text.replace(/[«»]/g, ''))).toBe(text.replace(/«.*»/, '<:>'));
});

it.each([
  'password: string|null',
  'password: Promise<string | null>',
  'let token = bin2hex(random_bytes(32));',
  'if (password===undefined||password.isEmpty) {',
  'password = input(',
  'password: yup.string().required(message)',
  'e.password=t,n(r)',
])('code: %s', (text) => {
  expect(masked(text)).toBe(text);
});

it.each([
  'password="" user="Zebr4Lamp9"',
  "password='' user='Zebr4Lamp9' x=''",
  '"{""password"":"""",""user"":""Zebr4Lamp9""}"',
  "const password = '' + name + 'Zebr4Lamp9'",
  'log("password: " + name + "Zebr4Lamp9")',
  "credentials = '{0}:{1}'.format(user, passwd).encode()",
  "has its password set to ``password123'', run:",
  'identified by `code: 1`',
])('nothing in the quotes, and code: %s', (text) => {
  expect(masked(text)).toBe(text);
});
