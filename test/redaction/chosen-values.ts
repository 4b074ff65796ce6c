import { ALPHABETS, type Random, run } from '../../plugins/pack-tests/random.ts';

/*
 * Values as people choose them, and what programs make of them: passwords with symbols at any place, phrases, single
 * words, hashes, and data of people. Nobody uses them: they are drawn at random. What a password may contain depends on
 * the notation it stands in, so there are several kinds of them.
 */

const two = (n: number) => String(n).padStart(2, '0');
const digits = (r: Random, length: number) => run(r, ALPHABETS.digit, length);
const b64 = (r: Random, length: number) => run(r, ALPHABETS.b64, length);
const alnum = (r: Random, length: number) => run(r, ALPHABETS.alnum, length);
/** The alphabet of crypt(3). */
const crypt = (r: Random, length: number) => run(r, `${ALPHABETS.alnum}./`, length);

const CHOSEN_WORDS = (
  'sommer winter hafen lampe drachen fussball schatz regen katze zebra harbor river falcon summer dragon monkey ' +
  'sunshine pepper cookie soleil chocolat papillon gato estrella luna zima slonko ciao amore tiger banane kaffee ' +
  'planet rocket silver purple maple cactus kiwi mango saturn hockey hunter ranger shadow flower butter nebel wolke ' +
  'brücke'
).split(' ');
const PLAIN_WORDS = CHOSEN_WORDS.filter((word) => /^[a-z]+$/.test(word));
const SIMPLE =
  'admin root letmein welcome qwerty iloveyou superman master sonne passw0rd test123 geheim'.split(' ');
const OTHER_SCRIPTS = [
  'Grün#Käse',
  'Größe7!',
  'été-Soleil',
  'Ñandú',
  'пароль',
  'Łódź',
  'Zürich*',
  'naïve~',
  '夏の海',
];

const chosenWord = (r: Random) => r.pick(PLAIN_WORDS);
const chosenWordUp = (r: Random) => chosenWord(r).replace(/^./, (first) => first.toUpperCase());
const number = (r: Random) => r.pick([String(1 + r.below(99)), String(1950 + r.below(80)), digits(r, 3)]);

/** Symbols that no usual notation without quotes gives a meaning to, and those that quotes allow as well. */
const SYMBOLS = '*#%!@?$^~+=_-';
const QUOTED_SYMBOLS = `${SYMBOLS}&;,|<>()[]{}:/.`;
/** Unlike the others, these do not start a comment, a reference, a variable, a list or an option. */
const FIRST_SYMBOLS = '!^~*#%?';

/** A password of words, digits and symbols. */
function mixed(r: Random, symbols: string, first: string): string {
  const symbol = () => r.pick([...symbols]);
  const last = () => r.pick([...'*#%!@?$^~_']);
  const forms = [
    () => `${chosenWordUp(r)}${number(r)}${last()}`,
    () => `${chosenWordUp(r)}${symbol()}${chosenWord(r).slice(0, 4)}${number(r)}`,
    () => `${chosenWord(r)}${symbol()}${number(r)}${symbol()}${alnum(r, 2)}`,
    () => `${alnum(r, 4)}${symbol()}${alnum(r, 2)}${symbol()}${alnum(r, 5)}`,
    () => `${chosenWordUp(r)}${symbol()}${symbol()}${number(r)}`,
    () => `${chosenWord(r).replace('o', '0').replace('e', '3').replace('i', '1')}${symbol()}${number(r)}`,
    () => `${number(r)}${chosenWordUp(r)}${last()}`,
    () => `${chosenWordUp(r)}-${alnum(r, 6)}`,
    () => `${chosenWordUp(r)}${number(r)}${alnum(r, 2)}`,
    () => `${alnum(r, 3)}${symbol()}${run(r, ALPHABETS.symbols, 9)}${alnum(r, 1)}`,
    () => `${chosenWordUp(r)}${symbol()}${chosenWordUp(r)}${symbol()}${chosenWord(r)}`,
  ];
  const password = r.pick(forms)();
  return first !== '' && r.below(4) === 0 ? r.pick([...first]) + password : password;
}

const words = (r: Random, separator: string, count = 3 + r.below(3)) =>
  Array.from({ length: count }, () => chosenWord(r)).join(separator);

/** A password of any kind, with such symbols in it, such a sign between words, and perhaps a further kind. */
const chosen = (
  r: Random,
  symbols: string,
  separator: string,
  ...more: ((name: Random) => string)[]
): string =>
  r.pick<(name: Random) => string>([
    (s) => mixed(s, symbols, FIRST_SYMBOLS),
    (s) => mixed(s, symbols, ''),
    (s) => mixed(s, SYMBOLS, ''),
    (s) => words(s, separator),
    (s) => `${s.pick(OTHER_SCRIPTS)}${number(s)}`,
    (s) => alnum(s, 8 + s.below(16)),
    ...more,
  ])(r);

/** A token that a program made, in any of the usual alphabets. */
const token = (r: Random): string =>
  r.pick([
    () => run(r, ALPHABETS.hex, r.pick([32, 40, 48, 64])),
    () => alnum(r, 20 + r.below(45)),
    () => run(r, ALPHABETS.b64url, 32 + r.below(32)),
    () => `${b64(r, 43)}=`,
    () => run(r, ALPHABETS.base36, 24 + r.below(17)),
    () => [8, 4, 4, 4, 12].map((length) => run(r, ALPHABETS.hex, length)).join('-'),
  ])();

/** A number with the check digits of ISO 13616. */
function iban(r: Random): string {
  const [country, account] = r.pick([
    ['DE', () => digits(r, 18)],
    ['FR', () => digits(r, 23)],
    ['ES', () => digits(r, 20)],
    ['AT', () => digits(r, 16)],
    ['CH', () => digits(r, 17)],
    ['NL', () => `${run(r, ALPHABETS.upper, 4)}${digits(r, 10)}`],
    ['GB', () => `${run(r, ALPHABETS.upper, 4)}${digits(r, 14)}`],
    ['IT', () => `${run(r, ALPHABETS.upper, 1)}${digits(r, 22)}`],
  ] as [string, () => string][]);
  const bban = account();
  const inDigits = `${bban}${country}00`.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return `${country}${two(98 - Number(BigInt(inDigits) % 97n))}${bban}`;
}

/** Adds the check digit of Luhn. */
function withCheckDigit(number: string): string {
  const sum = [...number].reverse().reduce((total, digit, i) => {
    const value = Number(digit) * (i % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return `${number}${(10 - (sum % 10)) % 10}`;
}

const FIRST_NAMES =
  'Anna Lukas Marie Jonas Sofia Mateo Chloé Hugo Giulia Marco Zofia Jakub Emma Liam Olivia Noah Aiko Wei Ravi Fatima'.split(
    ' ',
  );
const LAST_NAMES =
  'Brandner Hofstetter Lindqvist Okafor Marchetti Dubois Kowalczyk Fernandez Whitfield Nakagawa Petrov Jansen Weber Silva'.split(
    ' ',
  );
const STREETS = ['Lindenweg', 'Hauptstraße', 'Mühlgasse', 'Seeuferweg', 'Am Stadtpark', 'Gartenring'];
const CITIES = [
  'Graz',
  'Bremen',
  'Lyon',
  'Bergamo',
  'Utrecht',
  'Poznań',
  'Leeds',
  'Sevilla',
  'Basel',
  'Aarhus',
];

const first = (r: Random) => r.pick(FIRST_NAMES);
const last = (r: Random) => r.pick(LAST_NAMES);

/** By name, as {@link fill} knows them. */
export const CHOSEN_VALUES: Readonly<Record<string, (r: Random) => string>> = {
  /** A password for a place without quotes, and one that does not start with a symbol. */
  pw: (r) => mixed(r, SYMBOLS, FIRST_SYMBOLS),
  pwm: (r) => mixed(r, SYMBOLS, ''),
  /** A password for a place with quotes, which has neither quotes nor backslashes. */
  pwq: (r) => mixed(r, QUOTED_SYMBOLS, FIRST_SYMBOLS),
  /** A password of letters and digits only. */
  pwa: (r) => `${chosenWordUp(r)}${chosenWord(r).slice(0, r.below(5))}${number(r)}${alnum(r, r.below(3))}`,
  /** As `mixed`, with symbols that URLs allow in the user's part or that people forget to encode. */
  pwu: (r) => mixed(r, '!#@$*&?:+=;,^~', ''),
  /** As `mixed`, percent-encoded. */
  pwurl: (r) => encodeURIComponent(`${mixed(r, '@/:?#&%+ !', '')}#`),
  /** As `mixed`, with what JSON, XML, SQL and shells escape. */
  pwjson: (r) => `${chosenWordUp(r)}${r.pick(['\\"', '\\\\', '\\u0026', '\\/', '\\u00fc'])}${alnum(r, 5)}`,
  pwxml: (r) => `${chosenWordUp(r)}${r.pick(['&amp;', '&lt;', '&gt;', '&quot;', '&#38;'])}${alnum(r, 5)}`,
  pwsql: (r) => `${chosenWordUp(r)}''${alnum(r, 5)}`,
  pwsh: (r) => `${chosenWordUp(r)}${r.pick(['\\!', '\\$', '\\&', '\\ ', '\\;', '\\#'])}${alnum(r, 5)}`,
  /** A short password, a phrase, a word, and one with letters outside of ASCII. */
  short: (r) =>
    r.pick([
      `${chosenWord(r).slice(0, 3)}-${digits(r, 2)}`,
      `${alnum(r, 3)}${r.pick([...'!#*%'])}${alnum(r, 1)}`,
    ]),
  phrase: (r) => words(r, ' '),
  dashes: (r) => words(r, r.pick(['-', '_', '.'])),
  simple: (r) => r.pick([() => r.pick(SIMPLE), () => chosenWord(r), () => chosenWordUp(r)])(),
  umlaut: (r) => `${r.pick(OTHER_SCRIPTS)}${number(r)}`,
  pin: (r) => digits(r, 4 + r.below(3)),
  tok: token,
  /** A token or generated password with symbols in it. */
  symtok: (r) =>
    `${alnum(r, 4 + r.below(4))}${run(r, '*#!@%^~$&?', 1)}${alnum(r, 3 + r.below(9))}${run(r, '*#!@%^~$&?', 1)}${alnum(r, 4)}`,
  /** Any of those for a place without quotes, and with quotes. */
  any: (r) => chosen(r, SYMBOLS, '-'),
  anyq: (r) => chosen(r, QUOTED_SYMBOLS, ' ', (s) => `${chosenWord(s).slice(0, 3)}${digits(s, 2)}!`),
  mnemonic: (r) => words(r, ' ', 12),
  mnemonic24: (r) => words(r, ' ', 24),
  /** Hashes of passwords. */
  bcrypt: (r) => `$2${r.pick(['a', 'b', 'y'])}$1${r.below(3)}$${crypt(r, 53)}`,
  sha512crypt: (r) => `$6$${crypt(r, 16)}$${crypt(r, 86)}`,
  yescrypt: (r) => `$y$j9T$${crypt(r, 22)}$${crypt(r, 43)}`,
  md5crypt: (r) => `$1$${crypt(r, 8)}$${crypt(r, 22)}`,
  apr1: (r) => `$apr1$${crypt(r, 8)}$${crypt(r, 22)}`,
  argon2: (r) => `$argon2id$v=19$m=65536,t=3,p=4$${b64(r, 22)}$${b64(r, 43)}`,
  pbkdf2: (r) => `pbkdf2_sha256$${r.pick(['260000', '600000'])}$${alnum(r, 22)}$${b64(r, 43)}=`,
  scram: (r) => `SCRAM-SHA-256$4096:${b64(r, 22)}==$${b64(r, 43)}=:${b64(r, 43)}=`,
  /** A number of 16 digits with the check digit of cards, as one in ten has. */
  luhn16: (r) => withCheckDigit(`${1 + r.below(9)}${digits(r, 14)}`),
  /** The first and the last line of key blocks: written out, scanners of repositories would report this file. */
  BEGIN: () => 'BEGIN',
  END: () => 'END',
  /** People. */
  first,
  last,
  name: (r) => `${first(r)} ${last(r)}`,
  street: (r) => `${r.pick(STREETS)} ${1 + r.below(180)}`,
  city: (r) => r.pick(CITIES),
  birth: (r) => `${1940 + r.below(65)}-${two(1 + r.below(12))}-${two(1 + r.below(28))}`,
  birth_dots: (r) => `${two(1 + r.below(28))}.${two(1 + r.below(12))}.${1940 + r.below(65)}`,
  birth_slash: (r) => `${two(1 + r.below(12))}/${two(1 + r.below(28))}/${1940 + r.below(65)}`,
  mail: (r) =>
    `${first(r).normalize('NFD').replace(/\W/g, '').toLowerCase()}.${last(r).toLowerCase()}@${chosenWord(r)}-post.${r.pick(['de', 'fr', 'com', 'io'])}`,
  idn_mail: (r) =>
    `${first(r).toLowerCase()}@${r.pick(['müller-büro', 'straßenbau', 'café-paris', 'пример', 'łąka'])}.${r.pick(['de', 'fr', 'рф', 'pl'])}`,
  iban,
  iban_lower: (r) => iban(r).toLowerCase(),
  iban_spaced: (r) => iban(r).replace(/(?<=^(?:.{4})+)(?!$)/g, ' '),
};
