/*
 * Values that follow a key such as `password` or `token`. Whether one is a secret depends on how it looks: code, paths
 * and names of resources are not. A shared vocabulary of placeholders is applied before these checks.
 */

import {
  hasMixture,
  hasOddCase,
  isRandom,
  isResourceName,
  isWordWithRandomPart,
  NUMBER_LIKE,
} from './generated.ts';
import { areJoinedWords, areWordsWithoutMeaning } from './joined-words.ts';
import {
  ANSWERED,
  ASKED,
  isIdentifier,
  isIdInName,
  isInSentence,
  isMessage,
  isOrdinary,
  isOrdinaryValue,
  isPhraseOfWords,
  isProse,
  isQuote,
  isSentence,
  MEMBER,
  MESSAGE_WORD,
  SENT,
  SENTENCE_WORD,
  VERSION,
} from './ordinary-values.ts';
import { isPlaceholder } from './placeholders.ts';

/** A value after the name of a password, which may be a word. */
export const isPassword = (value: string, text: string, start: number): boolean =>
  canBePassword(value, text, start) && !isProse(value, text, start);

/** A number of a program, and a word such as `isn't`. */
const NUMBER_OR_SHORT_FORM = /^(?:0x[0-9a-f]{1,8}|\p{L}+['’](?:s|t|re|ve|ll|d|m)\\?[.,:;]?)$/iu;

function canBePassword(value: string, text: string, start: number): boolean {
  if (value.includes('.') && areJoinedWords(value)) return true;
  const shortest = isQuote(text[start - 1]) ? 3 : 4;
  if (value.length < shortest || isOrdinaryValue(value, text, start)) return false;
  if (!isQuote(text[start - 1]) && NUMBER_OR_SHORT_FORM.test(value)) return false;
  // The tag of an image: `registry.example/password:1.63.37-5e7a6fb`.
  if (text[start - 1] === ':' && VERSION.test(value)) return false;
  if (!/^\d+$/.test(value)) return /[A-Za-z0-9]/.test(value);
  return value.length >= (SURE_PASSWORD.test(text.slice(Math.max(0, start - 30), start)) ? 4 : 6);
}

/** A name after which a number of four digits is a password too: no `pass`, which counts, and no host in front of a port. */
const SURE_PASSWORD =
  /(?:passwor[dt]|passwd|pwd|passcode|kennwort|senha|contraseña|mot de passe|wachtwoord|has[łl]o|heslo|lösenord|adgangskode|salasana|şifre|jelszó|пароль|密码|密碼|パスワード|비밀번호|الرقم السري|(?:admin|db|ftp|login|mail|my|mysql|postgres|redis|root|smtp|sql|ssh|user)_?pass)(?:\\{0,3}["'`]\]?\s?(?::|=>?|,)|\s?=|[:：](?=\s))\s?\\{0,3}["'`]?$/i;

/** A value after a name such as `secret`: not only letters, and not the name of a resource. */
export function isSecret(value: string, text: string, start: number): boolean {
  if (isChosenAfterSureName(value, text, start)) return true;
  // A character of Chinese is as much as several letters.
  const least = isQuote(text[start - 1]) && /[\u3000-\u9fff\uac00-\ud7af]/.test(value) ? 4 : 6;
  if (value.length < least || isOrdinary(value, text, start) || NUMBER_LIKE.test(value)) return false;
  if (isQuote(text[start - 1]) && (areRandomWords(value, text, start) || areThreeWords(value))) return true;
  if (/^\S+(?:\s\S+){4}/.test(value) && SENTENCE_WORD.test(value)) return false;
  if (isIdInName(value, text, start) || isIdentifier(value, text, start)) return false;
  return isRandom(value) || (hasMixture(value) && !isResourceName(value));
}

/** A name that can only name a secret itself, and no thing that has one. */
const SURE_SECRET =
  /(?:(?:jwt|cookie|session|admin|client|hmac|signing|sign|app|flask|django|next_?auth|auth|encrypt(?:ion)?|crypt|cipher|master|webhook|refresh|access|consumer|shared|private|chap|token|room|clickhouse)(?:[_. -]|__)?(?:secret|key)|(?:manager|bind|security)[_.-]credentials|secret[_.-]?key(?:[_.-]?base)?|pepper|salt|pass_?phrase)(?:\\{0,7}["'`]){0,4}\]?\s{0,20}(?:=>|[:=>]|,)\s{0,20}(?:[\w.]{1,40}\s{0,3}(?:\|\||\?\?|or)\s{0,3}|(?:\[\])?[\w.]{1,20}\()?(?:\\{0,7}["'`]){0,4}$/i;

function isChosenAfterSureName(value: string, text: string, start: number): boolean {
  const inQuotes = isQuote(text[start - 1]);
  if (!areJoinedWords(value) && !(inQuotes && areWordsWithoutMeaning(value))) return false;
  const before = text.slice(Math.max(0, start - 120), start);
  return (
    SURE_SECRET.test(before) &&
    (areJoinedWords(value) || /[-_.]?\d/.test(value) || SETTING_OF_SECRET.test(before))
  );
}

/** The name of a variable of the environment, which no label of a form has. */
const SETTING_OF_SECRET =
  /[A-Z0-9]_(?:SECRET|KEY|SALT|PEPPER)(?:_BASE)?["'`\\]{0,8}\]?\s{0,3}(?:=>|[:=,])\s{0,3}["'`\\]{1,8}$/;

/** A value after a name such as `token` or `api_key`, which looks as if it had been generated. */
export function isToken(value: string, text: string, start: number): boolean {
  if (isChosenAfterSureName(value, text, start)) return true;
  if (/^\S+(?:\s\S+){3}/.test(value) && SENTENCE_WORD.test(value)) return false;
  if (value.length < 6 || isOrdinary(value, text, start) || isIdInName(value, text, start)) return false;
  if (isIdentifier(value, text, start) || isSentence(value)) return false;
  if (isQuote(text[start - 1]) && /\d$/.test(value) && areWordsWithoutMeaning(value))
    if (KEY_OF_API.test(text.slice(Math.max(0, start - 40), start))) return true;
  if (value.length >= 8 && (isRandom(value) || isWordWithNumber(value) || isInGroups(value))) return true;
  if (ONE_WORD.test(value) && NAME_OF_TOKEN.test(text.slice(Math.max(0, start - 80), start))) return true;
  const isSure = isQuote(text[start - 1]) && SURE_NAME.test(text.slice(Math.max(0, start - 80), start));
  return (
    isSure && /\d/.test(value) && hasMixture(value) && !NUMBER_LIKE.test(value) && !isResourceName(value)
  );
}

/** A value that is one word, of digits and letters that are not a word with a number after it. */
const ONE_WORD = /^(?![A-Za-z]+\d{1,6}$)(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}$/;
const KEY_OF_API = /api[_. -]?key(?:["'`\\]{1,16})?\s{0,3}[:=]\s{0,3}["'`\\]{1,16}$/i;
/** The name of a token, its separator, and the quote of its value. */
const NAME_OF_TOKEN =
  /(?:token|bearer|jwt|(?:api|access|secret|private)[_. -]?key)(?:["'`\\]{1,16})?\s{0,3}[:=]\s{0,3}\[?\s?["'`\\]{0,16}$/i;

/**
 * The value of an authorization header after its scheme, in any form. A sentence about it goes on in words:
 * `Bearer authentication failed`.
 */
export function isCredentials(value: string, text: string, start: number): boolean {
  if (value.length < 8 || NUMBER_LIKE.test(value)) return false;
  if (/\d/.test(value) && !/^[a-z]+(?:[-_][a-z]+)*[-_]?\d{1,2}$/i.test(value)) return true;
  const isInHeader = HEADER.test(text.slice(Math.max(0, start - 80), start));
  const isInSentence = /^[.,]?\s+\p{L}/u.test(text.slice(start + value.length, start + value.length + 8));
  return isInHeader ? !isInSentence : /^[A-Za-z]{18,}$/.test(value) || isToken(value, text, start);
}

const HEADER = /authorization["'`\\]{0,16}\]?\s{0,3}(?:=>|[:=,])[^:=]{0,40}$/i;

/** A name whose value in quotes is a secret, even one that someone chose. */
const SURE_NAME =
  /(?:(?:api|access|secret|private|encryption|signing)[_. -]?key|(?:access|auth|api|refresh|bot|login|oauth)[_. -]?token)(?:\\{0,7}["'`]){0,4}\s{0,20}[:=]\s{0,20}\[?\s{0,2}(?:\\{0,7}["'`]){1,4}$/i;

/**
 * Groups as in the keys of licences, `ABCD-EFGH-1234-JKLM`, and groups in both cases of which two have letters and digits:
 * `Vn3-qwep-92lk`.
 */
const isInGroups = (value: string) =>
  /^(?=.*\d)(?=.*[A-Z])[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){2,7}$/.test(value) ||
  (/^[A-Za-z0-9]{2,12}(?:[-_][A-Za-z0-9]{2,12}){2,7}$/.test(value) &&
    /[A-Z]/.test(value) &&
    /[a-z]/.test(value) &&
    value.split(/[-_]/).filter(isGroupOfBoth).length >= 2);

/** Letters and digits that are no version, and no name of a platform. */
const isGroupOfBoth = (group: string) =>
  /[A-Za-z]/.test(group) &&
  /\d/.test(group) &&
  !/^(?:[vx]|win|amd|arm|sha|utf|md|h|http|s|k|py)\d+[a-z]?$/i.test(group);

/** A word with a number that is longer than those of hosts and workers, and is no time. */
const isWordWithNumber = (value: string) =>
  value.length >= 14 &&
  /^[A-Za-z]+\d{7,}$/.test(value) &&
  !/[A-Za-z](?:19\d{6}|20\d{6}|1[5-9]\d{8}|0{2})/.test(value);

/** Values in a list, as they stand between its first quote and its last one. */
const inList = (value: string, isOne: (value: string, text: string, start: number) => boolean) =>
  value
    .split(/\\{0,7}"\s{0,3},\s{0,3}\\{0,7}"/)
    .some((item) => !isPlaceholder(item, true) && isOne(item, `"${item}"`, 1));

/** Several values after the name of secrets or tokens. */
export const hasToken = (value: string): boolean =>
  inList(value, (item, text, start) => isToken(item, text, start) || isProsePassword(item, text, start));

/** `name=value` pairs of which one looks as if it had been generated. */
export const hasRandomCookie = (value: string): boolean =>
  value.split(';').some((pair) => {
    const cookie = pair.slice(pair.indexOf('=') + 1);
    return cookie.length >= 16 && !isPlaceholder(cookie, true) && isToken(cookie, cookie, 0);
  });

/** A password in running text, which has to look like one. */
export function isProsePassword(value: string, text: string, start: number): boolean {
  if (value.length < 6 || !isSecret(value, text, start)) return false;
  if (!hasMixture(value) && !isChosenAfterSureName(value, text, start)) return false;
  return !MEMBER.test(value) && !/^[A-Za-z_]\w*\[[\w.]+\]$/.test(value);
}

/** A secret of which a sentence says that it is one. */
export const isToldSecret = (value: string, text: string, start: number): boolean =>
  isProsePassword(value, text, start) && !isNameWithNumber(value);

/** What a word after the name of a password is, rather than the password. */
const NO_PASSWORD_BEFORE =
  /(?:^|[\s"'(])(?:users?|usernames?|accounts?|logins?|hosts?|servers?|from|by|at|on|in|to|ids?|ips?|ports?|files?|versions?|using|via|types?|algorithms?|hash(?:es|ed)?|methods?|class(?:es)?|modules?|functions?|fields?|columns?|tables?|benutzer|utilisateur|usuario|utente|gebruiker|användare|użytkownik)[:\s]{1,2}["'`«„“([*]{0,2}$/i;

/** A word some words after the name of a password, which has to look as if it had been chosen to be hard to guess. */
export function isNearPassword(value: string, text: string, start: number): boolean {
  if (value.length < 8 || value.length > 64 || /[/\\=:(){}[\]<>|,;]|@[\w-]+\./.test(value)) return false;
  const isName = /\d[A-Z][a-z]{2,}|^[a-z0-9]+(?:[-_.][a-z0-9]+)*$|^[A-Z0-9_-]+$|^[0-9a-f-]+$/.test(value);
  if (isName && !/[!#$%^&*?~+]/.test(value)) return false;
  if (NO_PASSWORD_BEFORE.test(text.slice(Math.max(0, start - 40), start))) return false;
  if (/[„“«「『]\s?$/.test(text.slice(Math.max(0, start - 2), start)))
    return isToldSecret(value, text, start);
  if (!isToldSecret(value, text, start) || !/\d/.test(value)) return false;
  return /[!#$%^&*?~+]/.test(value) || (/[A-Z]/.test(value) && /[a-z]/.test(value) && isRandom(value));
}

/** Marks in front of a value in a sentence. */
const OPENING_MARK = /(?:["'`«„“”‚‘「『‹]|\*\*|<\w{1,6}>)[ \u00a0]?$/;
/** A word, with what ends a sentence. */
const WORD_IN_SENTENCE = /^\p{L}+(?:['’/-]\p{L}+)*(?:\\[&,|])?[!?.,:;…)]*$/u;
/** Names of algorithms and standards, numbers with a unit, addresses, and names of products with a number. */
const NAME_WITH_NUMBER =
  /^(?:(?:sha|md|base|utf|aes|rsa|hmac|pbkdf|scrypt|argon|oauth|http|ipv|win|iso|rfc|tls|ssl|mp|id|log|web|windows|office|java|python|chapter|section|figure|table|step|version|node|level|phase|test|user|no|nr|line|page)[-_.]?\d+[-_.\w]{0,16}|[xvkshp][-_.]?\d+\w{0,3}(?:[-_.]\w{1,12}){0,2}|\d+(?:[-–+.,]?\p{L}{1,14})?[+%]?|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)[!?.,:;)]*$/iu;

/** Three words or more that are joined, and are no part of a sentence: `nebel-rocket-banane`, but not `easy-for-you`. */
const isToldJoined = (value: string) =>
  areJoinedWords(value) && !SENTENCE_WORD.test(value.replace(/[-._]/g, ' '));

/** A number in front of a word with a capital letter, `2007Saturn!`, is no number with a unit. */
const isNameWithNumber = (value: string) =>
  NAME_WITH_NUMBER.test(value) &&
  !/^\d{2,4}\p{Lu}\p{Ll}{3,}[!?]/u.test(value) &&
  !/^(?=.*\d.*[a-z].*\d)(?=.*\d.*[A-Z].*\d)[A-Za-z0-9-]{8,}$/.test(value);

/** A password of which a sentence says that it is one. In quotes it may be a word. */
export function isToldPassword(value: string, text: string, start: number): boolean {
  if (!canBePassword(value, text, start)) return false;
  if (OPENING_MARK.test(text.slice(Math.max(0, start - 9), start))) return !isProseMessage(value);
  if (/^\d+$/.test(value)) return true;
  if (areJoinedWords(value)) return isToldJoined(value);
  if (isNameWithNumber(value)) return false;
  if (WORD_IN_SENTENCE.test(value) && !hasOddCase(value)) return false;
  return hasMixture(value) || hasOddCase(value) || /\p{L}[?*]\p{L}/u.test(value);
}

const isProseMessage = (value: string) =>
  /\s/.test(value) && (MESSAGE_WORD.test(value) || SENTENCE_WORD.test(value));

/** Words of messages about passwords and accounts. */
const ABOUT_ACCOUNTS =
  /\b(?:required|mandatory|invalid|incorrect|missing|expired|changed|reset|updated|failed|denied|logins?|passwords?|tokens?|characters?|errors?|mismatch|successfully|validation|authentication|verification)\b/;

/** What has a value of three words already. */
const NAME_OF_PHRASE = /(?:pass[ _-]?phrase|wi-?fi|wlan)[^\n]{0,40}$/i;

/** Words that are chosen at random: none of a sentence or a message. */
export const areRandomWords = (value: string, text: string, start: number): boolean =>
  (/^[a-z]{3,20}(?: [a-z]{3,20}){3,23}$/.test(value) ||
    (areJoinedWords(value) && NAME_OF_PHRASE.test(text.slice(Math.max(0, start - 60), start)))) &&
  !ABOUT_ACCOUNTS.test(value) &&
  !SENTENCE_WORD.test(value) &&
  !isMessage(value);

/** Three words that someone chose, none of which a name or a message has. */
const areThreeWords = (value: string): boolean =>
  /^[a-z]{4,} [a-z]{4,} [a-z]{4,}$/.test(value) &&
  areJoinedWords(value) &&
  !SENTENCE_WORD.test(value) &&
  !ABOUT_ACCOUNTS.test(value) &&
  !MESSAGE_WORD.test(value);

/** Four words or more with a sign between them, as no sentence has. */
const areWordsOfPhrase = (value: string): boolean =>
  /^\p{L}+(?:([-._])\p{L}+)(?:\1\p{L}+){2}/u.test(value) && areJoinedWords(value);

/** A letter, a digit or a symbol that stands in front of no word; others only in front of letters in both cases and a digit. */
const STARTS_AS_PASSWORD = /^(?:[\p{L}\p{N}!^~*]|[?#%&+](?=.{0,40}\p{Lu})(?=.{0,40}\p{Ll})(?=.{0,40}\d))/u;

/** A password directly after its name in a sentence, which has to look like one. */
export function isBarePassword(value: string, text: string, start: number): boolean {
  if (areWordsOfPhrase(value)) return true;
  if (value.length < 6 || !isToldPassword(value, text, start) || NUMBER_LIKE.test(value)) return false;
  if (isQuote(text[start - 1]) || !STARTS_AS_PASSWORD.test(value)) return false;
  // Code, paths, versions and names of variables.
  if (/[(){}<>/\\]|^[a-z_]+=|::|->|^\d+[:.]\d|^[a-z]+(?:_[a-z0-9]+)+$/.test(value)) return false;
  return (
    looksChosen(value) ||
    (value.includes('-') && isToldJoined(value)) ||
    (/\d/.test(value) && NAME_IN_OTHER_LANGUAGE.test(text.slice(Math.max(0, start - 40), start)))
  );
}

/** A name after which English words with a number do not stand: it is none of English, or not even in the same script. */
const NAME_IN_OTHER_LANGUAGE =
  /(?:[\u0370-\u1fff\u3040-\uffff]|şifre\p{L}{0,4}|jelsz[óo]|jelszav\p{L}{1,4}|heslo|has[łl]o|salasana|lösenord\p{L}{0,2}|passord\p{L}{0,2}|adgangskode\p{L}?|wachtwoord|contraseña|senha|mot de passe|mdp|passwort|kennwort|kata sandi\p{L}{0,3})\s{1,2}$/iu;

/** A value after a name that often names something else, such as `clave` or `community`: it has to look like a password. */
export const isChosenPassword = (value: string, text: string, start: number): boolean =>
  !OTHER_IN_CODE.test(value) &&
  (/\d/.test(value) || isWordWithRandomPart(value)) &&
  isToldSecret(value, text, start) &&
  looksChosen(value);

/** What follows such a name, rather than what stands among arguments: generated values as well. */
export const isChosenOrToken = (value: string, text: string, start: number): boolean =>
  isToken(value, text, start) || isChosenPassword(value, text, start);

/** White space, a selector, a path, a format, and names in lower case. */
const OTHER_IN_CODE = /[\s/\\=(){}[\]<>|,;:]|%[sdvixf]|^[#.@$]|^[a-z]+(?:_[a-z0-9]+)+$|\.\w{1,4}$/;

/** Whether a value has what people and programs put into passwords, and names and numbers do not have. */
function looksChosen(value: string): boolean {
  return (
    /[!#$%^*~]|\d[@?&+]|[@?&+]\d/.test(value) ||
    (/\d/.test(value) && /[^\p{L}\p{N}.,:-]/u.test(value)) ||
    /^\p{Lu}\p{Ll}{3,}(?:[-_]\p{Ll}{3,})?\d{2,6}$/u.test(value) ||
    isWordWithRandomPart(value) ||
    (/\d/.test(value) && /[A-Z]/.test(value) && /[a-z]/.test(value) && isRandom(value))
  );
}

/** A value somewhere in an object that has the name of a password: it looks like one, or is a number of 6 to 12 digits. */
export const isInnerPassword = (value: string, text: string, start: number): boolean =>
  /^[0-9]+$/.test(value) ? isInnerNumber(value, text, start) : isProsePassword(value, text, start);

/** The key of a number, or of the array that it is in, and numbers about passwords: limits, counts and times. */
const KEY_OF_NUMBER = /([\w.-]{1,60})\\{0,7}["']\s{0,5}(?::|=>)\s{0,5}[[\s\d,]*$/;
const ABOUT_PASSWORDS =
  /min|max|len|size|limit|count|rounds?|iter|cost|attempt|tries|histor|age|ttl|time|expir|seconds?|days?|date|version|memory|bytes|port|number|status|code|index|total/i;
const ID_OR_TIME = /(?:^|_|[a-z](?=[A-Z]))(?:[iI]d|ID|[aA]t|[oO]n|[mM]s|[tT]s)$/;

function isInnerNumber(value: string, text: string, start: number): boolean {
  // Times in seconds and days.
  if (value.length < 6 || value.length > 12 || /^(?:1[5-9]\d{8}|(?:19|20)\d{6})$/.test(value)) return false;
  const key = KEY_OF_NUMBER.exec(text.slice(Math.max(0, start - 120), start))?.[1];
  return key === undefined || !(ABOUT_PASSWORDS.test(key) || ID_OR_TIME.test(key));
}

/** What is said about a flag: `the --password argument`, `--password requires a value`. */
const ABOUT_FLAG =
  /^(?:unless|whether|otherwise|when|while|arguments?|parameters?|switch(?:es)?|require(?:s|ment)|settings?|values?|support(?:s)?|prompts?|because|instead|together|should|available|without|option(?:s|al)|[a-z]+ed|[a-z]+ing)$/;

/** What follows a flag such as `--password`: a word only at the end of a command, or before its next flag. */
export function isFlagValue(value: string, text: string, start: number): boolean {
  if (value.startsWith('-') || !canBePassword(value, text, start)) return false;
  if (/^(?:options?|arguments?|parameters?|switch(?:es)?|flags?|unless|whether|otherwise)$/.test(value))
    return false;
  if (areJoinedWords(value)) return true;
  const isLongWord = /^[a-z]{8,}$/.test(value) && !ABOUT_FLAG.test(value);
  if (isProse(value, text, start)) return isLongWord && !isInSentence(value, text, start);
  return (
    hasMixture(value) ||
    isQuote(text[start - 1]) ||
    isLongWord ||
    /^(?:\s*$|["'`\\]|\s+-)/.test(text.slice(start + value.length))
  );
}

/** An argument of a command that is a password, wherever it stands: also a word, unless it is in a sentence about the command. */
export const isCommandArgument = (value: string, text: string, start: number): boolean =>
  !value.startsWith('-') &&
  canBePassword(value, text, start) &&
  (hasMixture(value) ||
    isQuote(text[start - 1]) ||
    !(ABOUT_FLAG.test(value) || isAtEndOfSentence(value, text, start) || isInSentence(value, text, start)));

const isAtEndOfSentence = (value: string, text: string, start: number) =>
  /^[.!?](?:\s|$)/.test(text.slice(start + value.length, start + value.length + 2));

/** An argument of a function that has other uses than to take passwords: it looks like one, or is a phrase. */
export const isArgument = (value: string, text: string, start: number): boolean =>
  (!/\s/.test(value) && isSecret(value, text, start) && hasMixture(value) && !MEMBER.test(value)) ||
  (isPhraseOfWords(value) && canBePassword(value, text, start));

/** The value in a request of a protocol. Without a digit or symbol it is one only if it stands in a dialogue. */
export function isRequestValue(value: string, text: string, start: number): boolean {
  if (!isCommandArgument(value, text, start)) return false;
  if (hasMixture(value) || isQuote(text[start - 1]) || areJoinedWords(value)) return true;
  const before = text.slice(Math.max(0, start - 200), start);
  return (
    SENT.test(before) ||
    ASKED.test(before) ||
    ANSWERED.test(text.slice(start + value.length, start + value.length + 20))
  );
}

/** A value after a name at the start of a line: letters with a digit or symbol, since a heading may have words there. */
export const isLineValue = (value: string, text: string, start: number): boolean =>
  canBePassword(value, text, start) && (hasMixture(value) || areJoinedWords(value) || isAppPassword(value));

/** What Google generates: 16 letters, which no word has in such a row. */
const isAppPassword = (value: string) => /^(?=[a-z]*[bcdfghjklmnpqrstvwxz]{4})[a-z]{16}$/.test(value);

/** A phrase from which keys are derived: 12 to 24 words. */
export const isPhrase = (value: string): boolean =>
  /^[a-z]{2,20}(?:[\s,]{1,3}[a-z]{2,20}){11,23}$/i.test(value);

/** The password in `scheme://user:password@host`. */
export const isUserInfo = (value: string, text: string, start: number): boolean =>
  /^\d{1,5}$/.test(value)
    ? value.length > 3 && USER.test(text.slice(Math.max(0, start - 60), start))
    : !/^[[{(]/.test(value);

/** A user in front of a password of four or five digits, rather than a host in front of its port. */
const USER = /\/\/(?!localhost|\w*(?:host|server|node|db|redis|proxy))[a-z](?:[a-z0-9_-]*[a-z])?:$/;

/** The user and password of `Authorization: Basic …`, in base64. */
export function isBasicCredentials(value: string): boolean {
  try {
    return /^[^\p{Cc}]*:[^\p{Cc}]*$/u.test(atob(value.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return false;
  }
}
