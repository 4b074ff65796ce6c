/** Issuer prefixes with the lengths of their card numbers. */
const ISSUERS: readonly { prefix: RegExp; lengths: readonly number[] }[] = [
  { prefix: /^4/, lengths: [16] }, // Visa
  { prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] }, // Mastercard
  { prefix: /^3[47]/, lengths: [15] }, // American Express
  { prefix: /^(?:30[0-5]|3[689])/, lengths: [14] }, // Diners Club
  { prefix: /^(?:6011|64[4-9]|65)/, lengths: [16] }, // Discover
  { prefix: /^35(?:2[89]|[3-8])/, lengths: [16] }, // JCB
  { prefix: /^62/, lengths: [16, 17, 18, 19] }, // UnionPay
  { prefix: /^(?:5018|5020|5038|5893|6304|6759|676[1-3])/, lengths: [16, 17, 18, 19] }, // Maestro
];

/** Names of numbers of other kinds, of which one in thirty looks like that of a card. */
const OTHER_NAMES = new Set(
  (
    'barcode batch block build bytes case checksum correlation counter deviceid duration ean etag event gtin guid hash iccid ' +
    'id ids itemid nodeid objectid runid userid ' +
    'imei invoice isbn issue job lsn message msg nanos nonce offset order parcel parent pid ref reference req request rev ' +
    'root seed self seq sequence serial session shipment size sku span task thread ticket tid time timestamp trace tracking ' +
    'transaction ts txid txn uid upc usec uuid version xid zxid'
  ).split(' '),
);
/** A name before a number: `trace_id=`, `"spanId": "`, `order no. `, `trace id is `. */
const NAME_BEFORE =
  /([A-Za-z][\w.-]{0,60}(?:\s[A-Za-z]{2,6}\.?)?)(?:\s(?:is|was))?["'\\]{0,8}\s{0,2}[=:#]?\s{0,2}[["'\\#]{0,8}$/;

/** Whether the name before a number is that of another kind of number, in any style of writing. */
export function hasOtherName(before: string): boolean {
  const words = (NAME_BEFORE.exec(before)?.[1] ?? '')
    .replace(/([a-z])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && !/^(?:is|was|no|nr|num|number)$/.test(word));
  const last = words.at(-1) ?? '';
  return OTHER_NAMES.has(last) || OTHER_NAMES.has(last.replace(/(?:ids?|no|num(?:ber)?)$/, ''));
}

/** The parts of a trace that B3, Jaeger and Spring write beside each other: `[orders,4bf92f3577b34da6,`, `4bf92f3577b34da6:`. */
const IN_TRACE_BEFORE =
  /\[[A-Za-z][\w.-]{0,40},\s?(?:[0-9a-f]{16,32}[,-]\s?)?$|\b(?=[0-9a-f]*\d)[0-9a-f]{8,32}:$/;
const IN_TRACE_AFTER = /^(?:,\s?(?:[0-9a-f]{16,32}|true|false)?[\],]|\]|:[0-9a-f]{1,16}\b)/;

/**
 * What may join a number of a card: the name of one, track 1 of its magnetic stripe, the escape of a line break, and another
 * long number or its mask in front of a slash. Behind other words and signs, digits are a part of something else.
 */
const CARD_START =
  /(?:(?:cards?|visa|amex|maestro|(?<![a-z])(?:pan|ccn?))(?:[_-]?(?:no|nr|num(?:ber)?))?[_./-]?|%B|\\[nrt]|(?:\d{8}|[ -]\d{3,5}|:>)\/)$/i;

/** Whether a number is that of a payment card: the prefix and length of an issuer, and the check digit of Luhn. */
export function isCardNumber(value: string, text = value, start = 0): boolean {
  const before = text.slice(Math.max(0, start - 80), start);
  if (hasOtherName(before)) return false;
  if (/[A-Za-z_.+/-]$/.test(before) && !CARD_START.test(before)) return false;
  if (isInTrace(before, text.slice(start + value.length, start + value.length + 40))) return false;
  if (isInRowOfHashes(text, start, start + value.length)) return false;
  const digits = value.replace(/[ .-]/g, '');
  if (!/^\d{12,19}$/.test(digits) || /^(\d)\1*$/.test(digits)) return false;
  if (!ISSUERS.some(({ prefix, lengths }) => prefix.test(digits) && lengths.includes(digits.length)))
    return false;
  return luhnSum(digits) % 10 === 0;
}

/** Whether a number is an id of a trace, by the ids beside it. */
function isInTrace(before: string, after: string): boolean {
  const name = IN_TRACE_BEFORE.exec(before)?.[0];
  if (name === undefined) return /^:[0-9a-f]{8,16}:[0-9a-f]{1,16}:/.test(after);
  return IN_TRACE_AFTER.test(after) && !/card|visa|amex|maestro|\bpan\b/i.test(name);
}

/**
 * Whether a number is between two long numbers, separated by spaces, one of which is longer than those of cards, accounts
 * and times are: such a row has 64-bit hashes, ids or counters.
 */
function isInRowOfHashes(text: string, start: number, end: number): boolean {
  const before = /(?<!\d)\d{8,20} $/.exec(text.slice(Math.max(0, start - 22), start))?.[0];
  if (before === undefined) return false;
  const after = /^ \d{8,20}(?!\d)/.exec(text.slice(end, end + 22))?.[0];
  return after !== undefined && Math.max(before.length, after.length) > 18;
}

/** The sum of the digits in which every second one from the right is doubled. */
export function luhnSum(digits: string): number {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum;
}

/** The length of an IBAN per country, from the IBAN registry of SWIFT. */
const IBAN_LENGTHS: Readonly<Record<string, number>> = {
  AD: 24,
  AE: 23,
  AL: 28,
  AT: 20,
  AZ: 28,
  BA: 20,
  BE: 16,
  BG: 22,
  BH: 22,
  BI: 27,
  BR: 29,
  BY: 28,
  CH: 21,
  CR: 22,
  CY: 28,
  CZ: 24,
  DE: 22,
  DJ: 27,
  DK: 18,
  DO: 28,
  EE: 20,
  EG: 29,
  ES: 24,
  FI: 18,
  FK: 18,
  FO: 18,
  FR: 27,
  GB: 22,
  GE: 22,
  GI: 23,
  GL: 18,
  GR: 27,
  GT: 28,
  HN: 28,
  HR: 21,
  HU: 28,
  IE: 22,
  IL: 23,
  IQ: 23,
  IS: 26,
  IT: 27,
  JO: 30,
  KW: 30,
  KZ: 20,
  LB: 28,
  LC: 32,
  LI: 21,
  LT: 20,
  LU: 20,
  LV: 21,
  LY: 25,
  MC: 27,
  MD: 24,
  ME: 22,
  MK: 19,
  MN: 20,
  MR: 27,
  MT: 31,
  MU: 30,
  NI: 28,
  NL: 18,
  NO: 15,
  OM: 23,
  PK: 24,
  PL: 28,
  PS: 29,
  PT: 25,
  QA: 29,
  RO: 24,
  RS: 22,
  RU: 33,
  SA: 24,
  SC: 31,
  SD: 18,
  SE: 24,
  SI: 19,
  SK: 24,
  SM: 27,
  SO: 23,
  ST: 25,
  SV: 28,
  TL: 23,
  TN: 24,
  TR: 26,
  UA: 29,
  VA: 22,
  VG: 24,
  XK: 20,
  YE: 30,
};

/** Where an IBAN in lower case has letters behind its check digits, by country. Elsewhere it has digits only. */
const LETTERS_OF_IBAN: Readonly<Record<string, RegExp>> = {
  AD: /^\d{8}[A-Z0-9]{12}$/,
  BG: /^[A-Z]{4}\d{6}[A-Z0-9]{8}$/,
  CH: /^\d{5}[A-Z0-9]{12}$/,
  FR: /^\d{10}[A-Z0-9]{11}\d\d$/,
  GB: /^[A-Z]{4}\d{14}$/,
  GR: /^\d{7}[A-Z0-9]{16}$/,
  IE: /^[A-Z]{4}\d{14}$/,
  IT: /^[A-Z]\d{10}[A-Z0-9]{12}$/,
  LV: /^[A-Z]{4}[A-Z0-9]{13}$/,
  MC: /^\d{10}[A-Z0-9]{11}\d\d$/,
  MT: /^[A-Z]{4}\d{5}[A-Z0-9]{18}$/,
  NL: /^[A-Z]{4}\d{10}$/,
  RO: /^[A-Z]{4}[A-Z0-9]{16}$/,
  SM: /^[A-Z]\d{10}[A-Z0-9]{12}$/,
  TR: /^\d{6}[A-Z0-9]{16}$/,
};

/**
 * Whether a string is an IBAN: the length of its country, and the remainder 1 modulo 97. In lower case, where ids in hex look
 * like one, its letters also have to be where those of its country are.
 */
export function isIban(value: string): boolean {
  const iban = value.replace(/[^A-Za-z0-9]/g, '').toUpperCase();
  if (/[a-z]/.test(value)) {
    const account = LETTERS_OF_IBAN[iban.slice(0, 2)] ?? /^\d+$/;
    if (!account.test(iban.slice(4))) return false;
  }
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]+$/.test(iban) || IBAN_LENGTHS[iban.slice(0, 2)] !== iban.length) return false;
  return ibanRemainder(iban) === 1;
}

/** The number that an IBAN stands for, with its first four characters at the end, modulo 97. */
function ibanRemainder(iban: string): number {
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const number = Number.parseInt(character, 36);
    remainder = (remainder * (number > 9 ? 100 : 10) + number) % 97;
  }
  return remainder;
}

/** ISO 3166 codes of countries, and XK, which banks use for Kosovo. */
const COUNTRIES = new Set(
  (
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ ' +
    'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FK FM FO ' +
    'FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM ' +
    'JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO ' +
    'MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT ' +
    'PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK ' +
    'TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW'
  ).split(' '),
);

/** Whether a string is a BIC: four letters, the code of a country, a location, and perhaps a branch. */
export function isBic(value: string): boolean {
  return /^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/.test(value) && COUNTRIES.has(value.slice(4, 6));
}
