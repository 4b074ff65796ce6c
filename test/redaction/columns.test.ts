import { describe, expect, it } from '@jest/globals';
import { applyRulesInOrder } from '../../operators/masks/apply-rule.ts';
import { rulesOf } from './packs.ts';

const rules = rulesOf(['secrets/context']);
const redacted = (text: string) => applyRulesInOrder(text, rules);
const word = ['Hun', 'ter27', 'xyz'].join('');
const inserted = (column: string) => `INSERT INTO users (name, ${column}, at) VALUES ('bob', '${word}', 3)`;

describe('a value that SQL inserts', () => {
  it.each([
    ...[
      'password',
      'adminPassword',
      'encrypted_password',
      'newpassword',
      'loginpasswd',
      'passord',
      'psw',
      'user_pw',
    ],
    ...[
      'pass',
      'passphrase',
      'pwd',
      'mdp',
      'senha',
      'contraseña',
      'kennwort',
      'wachtwoord',
      'parola',
      'hasło',
    ],
    ...[
      'lösenord',
      'adgangskode',
      'salasana',
      'heslo',
      'jelszó',
      'şifre',
      'пароль',
      'wifi密码',
      'パスワード',
      '비밀번호',
    ],
    ...[
      'password_hash',
      'password_digest',
      'password2',
      '"user_pass"',
      '[Password]',
      '`db_pass`',
      'secretKey',
      'api_token',
    ],
  ])('into the column %s is masked', (column) => {
    expect(redacted(inserted(column))).toBe(inserted(column).replace(word, '<:inserted-password:>'));
  });

  it.each([
    'password_changed_at',
    'password_updated',
    'passport',
    'passengers',
    'bypass',
    'token_count',
    'name2',
  ])('into the column %s stays', (column) => {
    expect(redacted(inserted(column))).toBe(inserted(column));
  });

  it.each([
    `VALUES ("bob", "${word}`,
    `VALUES ('bob', '${word}`,
    `VALUES (_utf8'bob', _utf8'${word}')`,
    `VALUES (\\'bob\\', \\'${word}\\')`,
    `VALUES (\\\\'bob\\\\', \\\\'${word}\\\\')`,
    `VALUES\n(\n'bob',\n'${word}'\n)\nit's done`,
    `VALUES\\n(\\n'bob',\\n'${word}')\\nnext`,
    `OVERRIDING SYSTEM VALUE VALUES ('bob', '${word}')`,
    `VALUES (1, 'bob', '${word}')`,
    `VALUES ('${word}')`,
  ])('by %s is masked', (values) => {
    expect(redacted(`INSERT INTO users (name, password) ${values}`)).not.toContain(word);
  });

  it.each([`VALUES ('${word}', NULL, 3)`, `VALUES ('${word}', NULL), (1, 2, 3)`])('by %s stays', (values) => {
    expect(redacted(`INSERT INTO users (name, password) ${values}`)).toContain(word);
  });
});

describe('a value without quotes', () => {
  it.each([
    ['DB_PASSWORD=', 'Kp(w)d<9>|xQ7', ' next=1'],
    ['password=', 'a9K,bQ7x', ';user=bob'],
    ['password=', 'Hunter27', ', please wait'],
    ['jdbc:sqlserver://h:1433;user=sa;password=', 'Kp7<wQ|d(9x', ';encrypt=true'],
  ])('is masked to its end, %s%s, and not what follows: %s', (before, value, after) => {
    expect(redacted(before + value + after)).toBe(`${before}<:password:>${after}`);
  });
});

describe('what looks like a setting behind a key', () => {
  it.each([
    'mypass=Hunter',
    'letme-in=Dragonfly',
    'correct-horse=battery-staple',
    'hunter.two=trouble',
    'abc=42',
  ])('is masked as a password, %s, unless its name is one of a setting', (value) => {
    expect(redacted(`password: ${value}`)).toBe('password: <:password:>');
  });

  it.each(['secret: secretName=tls', 'password: policy=strict-v2', "unexpected token 'foo123bar'"])(
    'stays: %s',
    (text) => {
      expect(redacted(text)).toBe(text);
    },
  );

  it.each([`illegal secret is ${word}`, `unexpected token ${'aB3dE5gH7jK9'.repeat(3)}`])(
    'is a secret in a sentence: %s',
    (text) => {
      expect(redacted(text)).toMatch(/<:(?:prose|told):>$/);
    },
  );
});
