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
