import { hasOtherName } from './payment.ts';

/**
 * How many digits numbers of each country have after its calling code: as libphonenumber knows it, with which a test compares
 * this. The library itself has 13 MB, and decides by number ranges, of which new ones would pass until an update.
 */
const LENGTHS = `
4 5: 290
4 5 6 7: 690
4 5 6 7 8 9 10 11: 352
4 5 6 7 8 9 10 11 12 13: 43 598
4 5 6 7 8 9 10 11 12 13 14 15: 49
4 5 6 7 10: 98
4 7: 683
5: 500 682
5 6: 247
5 6 7: 688
5 6 7 8: 386
5 6 7 8 9 10: 27 64
5 6 7 8 9 10 11: 31
5 6 7 8 9 10 11 12: 358 971
5 6 7 8 9 10 12: 61
5 6 7 8 9 11: 852
5 6 7 10: 685
5 6 8 9 10 11 12 13 14: 82
5 7: 676 677 678
5 8: 47 686
6: 298 299 672 687
6 7: 597
6 7 8 9: 252 355
6 7 8 9 10: 48 95 880
6 7 8 9 10 11: 375 595
6 7 8 9 10 11 12: 39 381
6 7 8 9 10 12: 46
6 7 8 9 12: 359
6 7 8 10: 53
6 7 9: 421
6 8 9: 376 689
6 8 9 10 11 12 13: 63
6 9: 40 508 681
7: 238 239 246 248 269 291 297 592 673 674 680 691 692
7 8: 241 599 670 675 853 961 965 975
7 8 9: 231 385 967 968
7 8 9 10: 84 243 254 353
7 8 9 10 11: 886
7 8 9 10 11 12: 86 882 972
7 8 9 10 11 12 13 14 15 16 17: 62
7 8 9 11: 974
7 8 10: 230 267 372
7 8 10 11: 507
7 8 11: 503
7 9: 220 245 265 354 423
7 9 10: 44 263
7 10: 1 960
7 10 12 13: 90
7 11: 501 679
8: 45 216 222 223 226 227 228 232 235 236 253 257 266 350 356 357 370 371 373 374 389 505 509 800 808 973 993
8 9: 32 36 51 213 224 233 237 250 258 264 268 377 382 387 591 962 963
8 9 10: 20 60 855 856 964 970 976
8 9 10 11: 55 593
8 9 10 11 12: 92 383 883
8 9 10 11 12 13: 91
8 9 10 11 12 13 14 15 16 17: 81
8 9 10 13: 66
8 10: 378 506 850
8 10 11: 57 65 977
8 11: 502 504
9: 33 34 93 94 211 212 218 221 240 242 244 249 251 255 256 260 261 262 351 590 594 596 979 992 994 995 998
9 10: 380 881 966 996
9 10 11: 56
9 10 11 12: 420
9 12: 41 870
10: 52 58 225 229
10 11: 54
10 11 12: 30
10 11 12 13 14: 234
10 14: 7
11: 888
12: 878
`;
/** How far before a number its name can start. */
const NAME_LENGTH = 80;
/** Fewer digits in all are more likely another number with a sign. */
const LEAST_DIGITS = 7;

let lengths: ReadonlyMap<string, readonly number[]> | undefined;

/** By calling code. */
function lengthsByCode(): ReadonlyMap<string, readonly number[]> {
  const rows = LENGTHS.trim().split('\n');
  const entries = rows.flatMap((row) => {
    const [counts = '', codes = ''] = row.split(': ');
    const numbers = counts.split(' ').map(Number);
    return codes.split(' ').map((code) => [code, numbers] as const);
  });
  return new Map(entries);
}

/**
 * A phone number in international form, with `+` or `00`, that has as many digits as its country allows. Numbers of the North
 * American plan have an area code and an exchange that begin with 2 to 9, with or without `+1`.
 */
export function isPhoneNumber(value: string, text = value, start = 0): boolean {
  if (value.startsWith('00') && hasOtherZeros(value, text, start)) return false;
  const isInternational = /^\s*(?:\+|00)/.test(value);
  const digits = value
    .replace(/\(0\)/, '')
    .replace(/[^0-9]/g, '')
    .replace(/^00/, '');
  // +12.345 is a number with a sign.
  if (/^(\d)\1*$/.test(digits) || /^\+\d+\.\d+$/.test(value)) return false;
  if (!isInternational || digits.startsWith('1')) return /^1?[2-9]\d{2}[2-9]\d{6}$/.test(digits);
  lengths ??= lengthsByCode();
  const code = [1, 2, 3].map((length) => digits.slice(0, length)).find((start) => lengths?.has(start));
  if (code === undefined || digits.length < LEAST_DIGITS) return false;
  return lengths.get(code)?.includes(digits.length - code.length) ?? false;
}

/** Whether zeros fill up a number of another kind, as `0043754335` and `004141 882162 7630` have them. */
function hasOtherZeros(value: string, text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - NAME_LENGTH), start);
  const after = text.slice(start + value.length, start + value.length + 16);
  if (hasOtherName(before)) return true;
  if (/^\d+$/.test(value)) return isOtherNumber(value, before, after);
  return isInGroups(before, after) || /^\d{6,} \d+ \d+$/.test(value);
}

/** A number behind the name of a phone: as many digits as numbers have, and no date or address. */
export function hasPhoneDigits(value: string): boolean {
  const digits = value.replace(/[^0-9]/g, '');
  if (digits.length < LEAST_DIGITS || digits.length > 15 || /^(\d)\1*$/.test(digits)) return false;
  return !/^\d{4}[-/.]\d\d[-/.]\d\d$|^(?:\d{1,3}\.){2,3}\d{1,3}$/.test(value);
}

/** The numbers of countries as they are dialled within them, without separators: from their numbering plans. */
const NATIONAL: Readonly<Record<string, RegExp>> = {
  br: /^0?[1-9][1-9](?:9\d{8}|[2-5]\d{7})$/,
  de: /^0(?:1[5-8]\d{7,9}|[2-9]\d{7,9})$/,
  es: /^[6-9]\d{8}$/,
  fr: /^0[1-9]\d{8}$/,
  in: /^(?:0?[6-9]\d{9}|0[1-8]\d{9})$/,
  it: /^(?:3[1-9]\d{8}|3[2-9]\d{7}|0[1-9]\d{7,9})$/,
  nl: /^0[1-9]\d{8}$/,
  pl: /^(?:1[2-8]|2[2-59]|3[2-4]|4[1-468]|45|5[0-9]|6[0-35-9]|7[1-9]|8[1-9]|9[145])\d{7}$/,
  uk: /^0(?:[1-37]\d{9}|[89]\d{8,9}|1\d{8})$/,
  us: /^1?[2-9](?!11)[0-8]\d[2-9](?!11)\d{6}$/,
};
/** Names of phones in the languages of these countries, at the end of a key. */
const PHONE_NAME =
  /(?:phone|tel|fax|mobil|cell(?=ular|_|n)|handy|m[oó]vil|gsm|kom[oó]rk|contact|kontakt|whatsapp|sms|msisdn|call|dial|ruf|number|num|numero|nr|no|n°|to|from|line|portable)[a-z0-9_.-]{0,12}$/i;
/** Words before numbers without separators that are no phones, and seconds since 1970. */
const OTHER_WORD =
  /\b(?:customer|client|account|acct|member|employee|user|product|article|item|node|process|worker|code|zip|plz|cep|imsi|amount|total|price|balance|count|sum|value|cell)s?[ ]?$/i;
const EPOCH = /^1[4-9]\d{8}$/;
/** What counts, rather than calls: `612 345 678 bytes`. */
const UNIT =
  /^\s?(?:bytes?|octets|[kKMGT]i?B|[mµun]?s|sec|rows?|records?|items?|files?|lines?|events?|msgs?|messages?|requests?|users?|times|pages?|points|blocks?|keys?|ops|EUR|USD|GBP|PLN|BRL|INR|[€$£%])(?![A-Za-z])/;

/** A key and what separates it from its value. */
const KEY_BEFORE = /([A-Za-zÀ-ÿ][\wÀ-ÿ.-]{0,60})["'\\]{0,8}\s{0,2}[:=]\s{0,2}["'\\[]{0,8}$/;

/**
 * A check of phone numbers as a country writes them. They have no check digit, so what stands around a number decides: the name
 * of another kind of number, a unit, or more digits.
 */
export const isNationalNumber = (country: string) => {
  const plan = NATIONAL[country] as RegExp;
  return (value: string, text = value, start = 0): boolean => {
    const digits = value.replace(/[^0-9]/g, '');
    if (!plan.test(digits) || /^0?(\d)\1*$/.test(digits)) return false;
    const before = text.slice(Math.max(0, start - NAME_LENGTH), start);
    const after = text.slice(start + value.length, start + value.length + 16);
    if (UNIT.test(after) || hasOtherName(before)) return false;
    return digits === value ? !isOtherNumber(digits, before, after) : !isInGroups(before, after);
  };
};

/** Whether digits without separators are another kind of number: by its value, the word, key or long number beside it. */
function isOtherNumber(digits: string, before: string, after: string): boolean {
  if (EPOCH.test(digits) || OTHER_WORD.test(before) || /\d{5,} $/.test(before)) return true;
  // Flow logs of AWS have the id of an account before that of an interface.
  if (/^ (?:\d{5}|eni-)/.test(after)) return true;
  const key = KEY_BEFORE.exec(before)?.[1];
  return key !== undefined && !PHONE_NAME.test(key);
}

/** Whether a number in groups is a part of a longer row of groups. A time or a date before it is none. */
const isInGroups = (before: string, after: string): boolean =>
  (/\d[ .-]$/.test(before) && !/(?::\d\d(?:[.,]\d{1,9})?|\d[-/]\d\d[-/]\d{2,4}) $/.test(before)) ||
  /^[ .-]\d{1,4}(?!\d|[./-]\d)/.test(after);
