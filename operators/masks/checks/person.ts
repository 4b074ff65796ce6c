/*
 * Values that follow a key of personal data. Such keys also stand in code, forms and schemas, so a value has to look like a
 * name, an address, a date or a number. What is said about a field is left to the guards of the vocabulary.
 */

import { hasPhoneDigits } from './phone.ts';

const LONGEST_NAME = 80;
const LONGEST_ADDRESS = 200;
const LONGEST_KEY = 65;
/** Characters around a value in which another key makes it personal. */
const NEAR = 300;

/** A value of a query or a form as it was typed. */
function plain(value: string): string {
  if (!/[+%]/.test(value) || /\s/.test(value)) return value;
  const spaced = value.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

const isQuote = (character: string | undefined) => character !== undefined && /["'`]/.test(character);
const WORDS =
  /^(?:\p{L}[\p{L}\p{M}]*(?:['’‘-][\p{L}\p{M}]+)*\.?)(?:(?:[ ,/;]| , |, )\p{L}[\p{L}\p{M}]*(?:['’‘-][\p{L}\p{M}]+)*\.?){0,4}$/u;
const PARTICLE =
  /^(?:von|van|vom|zu|zur|zum|der|den|dem|de|del|della|di|da|do|dos|das|du|des|la|le|el|al|bin|ibn|ben|y|e|af|av|ter|ten|und|st)$/;
const CAPITALIZED = /^[\p{Lu}\p{Lt}\p{Lo}]/u;
/** Names of variables: `firstName`, but not `McDonald`. */
const CAMEL_CASE = /^\p{Ll}+\p{Lu}|^\p{Lu}\p{Ll}+(?:\p{Lu}\p{Ll}+){2}/u;
/** Words that no name has and sentences, labels and names of things do. */
const NO_NAME =
  /^(?:a|an|and|are|as|at|be|been|by|can|cannot|could|does|enter|for|from|has|have|if|in|is|it|its|less|least|longer|many|may|more|most|must|no|not|of|on|only|or|please|required|shall|should|than|that|their|this|to|too|was|were|will|with|without|your|only|already|allowed|found|exists?|contains?|invalid|valid|missing|empty|nicht|kein|keine|ist|muss|bitte|darf|requis|est|doit|pas|para|com|service|server|system|group|team|queue|pool|manager|account|default|inc|llc|ltd|gmbh|ag|bank|support|admin|test|portal|api|client|worker|handler|store|order|app|application|gateway|cluster|database|type|class|object|controller|component|list|table|view|model|node|unit)$/i;

const wordsOf = (value: string) => value.split(/[ ,/;]+/).filter((word) => word !== '');

/** The words of a value, if they can be those of a name. */
function nameWords(value: string): readonly string[] | undefined {
  const name = plain(value);
  if (name.length < 2 || name.length > LONGEST_NAME || !WORDS.test(name)) return undefined;
  const words = wordsOf(name);
  if (
    words.some((word) => CAMEL_CASE.test(word)) ||
    (words.length > 1 && words.some((word) => NO_NAME.test(word)))
  )
    return undefined;
  return words;
}

/** A parameter of a URL or of a form, or an attribute of a log in its format: people also write names in lower case there. */
const BEFORE_PARAMETER = /[?&][\w.%[\]-]{1,60}=$|(?:^|\s)[\w.]{1,60}=$/;

/** A value after a key that only the name of a person can have, of one to five words. */
export function isPersonName(value: string, text: string, start: number): boolean {
  const words = nameWords(value);
  if (words === undefined) return false;
  const [first = ''] = words;
  const others = words.slice(1).filter((word) => !PARTICLE.test(word));
  if (CAPITALIZED.test(first) || PARTICLE.test(first)) {
    return others.every((word) => CAPITALIZED.test(word)) && !(words.length === 1 && PARTICLE.test(first));
  }
  // In lower case as a whole. The next string of a list of columns is none.
  if (others.some((word) => CAPITALIZED.test(word)) || words.length > 3) return false;
  const before = text.slice(Math.max(0, start - LONGEST_KEY), start);
  // A string that a variable is compared with is no name either.
  if (isQuote(text[start - 1]))
    return !/(?:[!=]=|<>|\bin\s)\s{0,3}\(?["'`]$|,\s{0,5}\\{0,7}["'`]$/.test(before);
  const after = text.slice(start + value.length, start + value.length + LONGEST_KEY);
  return text[start - 1] === '>' || (BEFORE_PARAMETER.test(before) && /^(?:&|\s+[\w.]+=|\s*$)/.test(after));
}

/** Other keys in whose company `nom` or `family` is the name of a person. */
const BESIDE_NAME =
  /pr(?:é|e|%c3%a9|\\u00e9)nom|apellido|cognome|sobrenome|p(?:ř|r)(?:í|i)jmen|фамили|["'\\](?:family|given)["'\\]|naissance|nacimiento|nascita|nascimento|surname|last_?name|forename|\blname\b|nachname|familienname|uzvārd|pavardė|\b(?:cpf|dni|nif|curp|dob)\b|birth|passport|pasaporte|passaporto|passaporte|celular|codice_?fiscale|<\/?(?:\w{1,20}:)?(?:family|given)>/i;

export const isPersonNameBeside = (value: string, text: string, start: number): boolean =>
  isPersonName(value, text, start) && hasNear(BESIDE_NAME, text, start, value);

/** A first name and a last name, with capitals. */
export function isFullPersonName(value: string, text: string, start: number): boolean {
  const words = nameWords(value);
  if (words === undefined) return false;
  if (words.length === 1) return /^[\p{Lo}]{2,8}$/u.test(words[0] as string);
  return (
    words.every((word) => CAPITALIZED.test(word) || PARTICLE.test(word)) && isPersonName(value, text, start)
  );
}

/** Whether there is something near a value, not counting the key directly before it. */
function hasNear(expression: RegExp, text: string, start: number, { length }: string): boolean {
  const before = text.slice(Math.max(0, start - NEAR), start);
  const key = /[\p{L}\p{N}_.%-]{1,60}["'\]\\]{0,8}\s{0,3}[:=>][^\p{L}\p{N}]{0,12}$/u.exec(before);
  return (
    expression.test(key === null ? before : before.slice(0, key.index)) ||
    expression.test(text.slice(start + length, start + length + NEAR))
  );
}

const NO_ADDRESS =
  /[@=${}<>_*\\^]|:\/\/|\d\.\d+\.\d|0x|::|\bport\s?[:=#]?\s?\d|\b(?:bytes|bits|null|undefined)\b/i;
const STREET_WORD =
  /(?:^|[\s\d,])(?:rue|avenue|ave|av|boulevard|blvd|bd|place|allée|chemin|impasse|quai|route|calle|avenida|plaza|paseo|via|viale|piazza|corso|rua|travessa|praça|ulica|ul|aleja|street|st|road|rd|lane|ln|drive|dr|court|ct|way|square|terrace|highway|hwy|parkway|crescent|close|p\.?o\.? box|postfach)(?:[\s.,]|$)|(?:stra(?:ß|ss)e|str\.?|gasse|weg|platz|allee|ring|ufer|damm|straat|laan|gracht|plein|vägen|gatan|gata|veien|katu)(?:[\s,]|$)/i;
/** A number of a house beside a word of a street or a city. */
const HOUSE_NUMBER =
  /(?:^|[\s,])\d{1,6}[A-Za-z]?(?:[-/]\d{1,4}[A-Za-z]?)?[\s,]+(?:[\p{Lu}\p{Lo}]\p{L}+|de|du|des|rue|la|le)|[\p{Lu}\p{Lo}][\p{L}.'’-]+,?[\s]+\d{1,5}[A-Za-z]?(?:[-/]\d{1,4})?(?:$|[\s,])/u;
const OTHER_SCRIPT = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{4}|[\u3400-\u9fff].*\d/;
/** What is no street although it is a word with a number: `Register 4`, `Unit 3`. */
const NUMBERED_THING =
  /^(?:line|unit|register|block|page|bank|range|slot|node|port|chunk|row|offset|device|table|bus|channel|segment|size|version|index|type|mode|level|step|test|error|code)\s\d+$/i;

function addressOf(value: string): string | undefined {
  const address = plain(value).replace(/\\+[nrt]/g, ', ');
  if (address.length < 4 || address.length > LONGEST_ADDRESS || NO_ADDRESS.test(address)) return undefined;
  return NUMBERED_THING.test(address) ? undefined : address;
}

/** A value after `address`, which has to look like the line of a street or a postal address. */
export function isPostalAddress(value: string): boolean {
  const address = addressOf(value);
  if (address === undefined) return false;
  if (OTHER_SCRIPT.test(address)) return true;
  if (!/\p{L}{2}/u.test(address)) return false;
  return (
    HOUSE_NUMBER.test(address) || (STREET_WORD.test(address) && /\s/.test(address) && /\p{Lu}/u.test(address))
  );
}

/** A value after `street`, which may also be a name alone. */
export const isStreet = (value: string, text: string, start: number): boolean =>
  isPostalAddress(value) ||
  (addressOf(value) !== undefined &&
    CAPITALIZED.test(plain(value)) &&
    nameWords(value) !== undefined &&
    isPersonName(value, text, start)) ||
  (addressOf(value) !== undefined &&
    /^\p{Lu}[\p{L}. -]{2,40} \d{1,4}\s?[a-zA-Z]?(?:[-/]\d{1,4})?$/u.test(plain(value)));

const BESIDE_CITY =
  /stra(?:ß|ss)e|street|addr|zip|post(?:al)?[_ -]?(?:al)?(?:code|leitzahl)|plz|\brue\b|calle|indirizzo|\bvia\b|straat|ulica|anschrift|code[_ ]?postal|c[oó]digo[_ ]?postal|direcci|adres/i;

/** A city beside a street or a postal code. */
export function isCity(value: string, text: string, start: number): boolean {
  const [first, ...others] = nameWords(value) ?? [];
  if (first === undefined || /^(?:street|zip|postal|state|country|city)/i.test(first)) return false;
  return (
    [first, ...others].some((word) => CAPITALIZED.test(word)) && hasNear(BESIDE_CITY, text, start, value)
  );
}

/** Postal codes of most countries. */
export const isPostcode = (value: string): boolean =>
  /^(?:[A-Z]{1,2}-)?(?:\d{4,6}|\d{5}-\d{3,4}|\d{2}-\d{3}|\d{3}[ -]\d{2,4}|\d{4}-\d{3}|\d{4} ?[A-Z]{2}|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d)$/i.test(
    plain(value),
  ) && !/^0+$/.test(value);

const MONTH =
  '(?:[jJ]an|[fF][eé]b|[fF]év|[mM][aä]r|[aA]pr|[aA]vr|[mM]a[yi]|[jJ]u[nli]|[aA]ug|[aA]o[uû]|[sS]e[pt]|[oO][ckt]t|[nN]ov|[dD][eé][cz]|[gG]en|[mM]ag|[gG]iu|[lL]ug|[aA]go|[dD]ic|[eE]ne|[aA]br|[jJ]AN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)[\\p{L}]{0,9}\\.?';
const TIME = '(?:[T ]\\d{2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?(?: ?(?:Z|UTC|[+-]\\d{2}:?\\d{2}))?)?';
/** The source of an expression for a date, in figures or with the name of its month. It needs the flag `u`. */
export const DATE_SOURCE =
  `\\d{4}-\\d{1,2}-\\d{1,2}${TIME}|\\d{1,2}[./-]\\d{1,2}[./-](?:\\d{4}|\\d{2})${TIME}|\\d{4}[./]\\d{1,2}[./]\\d{1,2}` +
  `|\\d{1,2}(?:\\.|st|nd|rd|th)?[ -](?:de |of )?${MONTH}(?:,? (?:de )?|-)\\d{4}|${MONTH} \\d{1,2}(?:st|nd|rd|th)?,? \\d{4}` +
  '|\\d{4}, ?\\d{1,2}, ?\\d{1,2}|\\d{4}年\\d{1,2}月\\d{1,2}日|(?:19|20)\\d{6}';
const WHOLE_DATE = /* @__PURE__ */ new RegExp(`^(?:${DATE_SOURCE})$`, 'u');

/** A date of birth, also as a time in seconds or milliseconds. */
export function isBirthDate(value: string): boolean {
  const date = plain(value).trim();
  if (/^(?:-\d{5,13}|\d{9,10}|\d{12,13})$|^\\?\/Date\(-?\d{5,13}\)\\?\/$/.test(date)) return true;
  if (!WHOLE_DATE.test(date)) return false;
  const [year] = /(?:1[89]|20)\d{2}/.exec(date) ?? [];
  return year === undefined ? !/^(?:0{1,2}[./-])/.test(date) : Number(year) >= 1880;
}

const VERSION = /^v?\d{1,3}(?:\.\d{1,3}){1,3}$/;
const ISO_DATE = /^(?:19|20)\d{2}[-./]\d{2}[-./]\d{2}$/;
const NOT_OF_NUMBER = /[^A-Za-z0-9 ./-]|^[./-]|[./-]$/;

/** A number of a person or an account: digits in groups, with few letters. */
export function isPersonalNumber(value: string): boolean {
  const written = plain(value).replace(/\s\/\s/g, '/');
  if (written.length > 30 || NOT_OF_NUMBER.test(written)) return false;
  if ((VERSION.test(written) && !/^\d{3}\.\d{3}\.\d{3}/.test(written)) || ISO_DATE.test(written))
    return false;
  const digits = written.replace(/\D/g, '');
  const letters = written.replace(/[^A-Za-z]/g, '');
  return digits.length >= 5 && digits.length <= 20 && letters.length <= 4 && !/^(\d)\1*$/.test(digits);
}

/** The number of a document, which may also have many letters, in upper case. */
export function isDocumentNumber(value: string): boolean {
  const written = plain(value);
  if (written.length < 5 || written.length > 30 || NOT_OF_NUMBER.test(written)) return false;
  if (VERSION.test(written) || ISO_DATE.test(written)) return false;
  const digits = written.replace(/\D/g, '').length;
  if (digits >= 5 && written.replace(/[^a-z]/g, '').length <= 3) return true;
  const compact = written.replace(/[ ./-]/g, '');
  if (!/^[A-Z0-9]{6,20}$/.test(compact)) return false;
  return digits > 0
    ? !/^[A-Z]+\d$/.test(compact) || compact.length >= 8
    : /[B-DF-HJ-NP-TV-Z]{4}/.test(compact) && compact.length >= 8;
}

const RECORD =
  /(?:e-?mail|mail|phone|mobile|birth[_ -]?(?:date|day)?|date[_ ]of[_ ]birth|dob|passport|ssn|street|geburts\w*|telefon\p{L}*|stra(?:ß|ss)e|naissance|nacimiento|nascita|nascimento|celular|narozen\p{L}|urodzenia|rođenja|születés\p{L}*|doğum|puhelin|osoite|adres\p{L}?|alamat|iban|pesel|cpf|dni|bsn|电话|電話|電話番号|手机|手机号|携帯番号|전화|전화번호|휴대폰|生年月日|出生日期|생년월일)[\w]{0,20}["'\\\]]{0,6}\s{0,3}(?:[:：=,;|\t>]|$)|\b(?:geb\.|wohnhaft)\s/imu;

/** A first name and a last name after `name`, in a text that also has the key of something personal. */
export const isNameInRecord = (value: string, text: string, start: number): boolean =>
  isFullPersonName(value, text, start) && hasNear(RECORD, text, start, value);

/** The digits of a card after its key, also of one that is not valid. */
export const isCardDigits = (value: string): boolean =>
  /^\d(?:[ -]?\d){11,18}$/.test(plain(value)) && !/^(\d)(?:[ -]?\1)*$/.test(value);

/** A phone number after its key. */
export const isPhoneAfterKey = (value: string): boolean => {
  const number = plain(value)
    .replace(/(?:x|ext\.?|durchwahl) ?\d{1,6}$/i, '')
    .trim();
  return /^[+(]{0,2}\d[\d\s()./–-]{5,24}$/.test(number) && hasPhoneDigits(number);
};

/** An e-mail address whose sign is encoded. */
export const isEncodedMail = (value: string): boolean =>
  /^[^\s@"'<>]{1,64}%(?:25)?40[A-Za-z0-9.-]{1,100}\.[A-Za-z]{2,24}$/.test(value);

/** A number directly after the words of its key, without a separator: most of it is digits. */
export const isSureNumber = (value: string): boolean =>
  value.replace(/\D/g, '').length >= 5 && !/[a-z]/.test(value) && isDocumentNumber(value);
