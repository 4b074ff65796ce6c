/*
 * Values that follow a key such as `password` or `token`. Whether one is a secret depends on how it looks: code, paths
 * and names of resources are not. A shared vocabulary of placeholders is applied before these checks.
 */

import { areJoinedWords } from './joined-words.ts';
import { isPlaceholder } from './placeholders.ts';

const IDENTIFIER = /^[A-Za-z_$][\w$]*(?:(?:\.#?|->|::)[A-Za-z_$][\w$]*)*$/;
const CALL = /^!?[A-Za-z_$][\w.$:>#-]*[([]/;
/** A member of an object, a class or a host, in words: `config.password`, `com.example.Token`. */
const MEMBER = /^[A-Za-z_$]+(?:(?:\.#?|->|::)[A-Za-z_$]+)+$/;
/** The output of a command, as far as the value goes: `$(cat`, `"$(echo`. */
const COMMAND_OUTPUT = /^["']?[$<]\(\s?[a-z][\w./-]*(?:[\s)]|$)/;
/** The arguments of a call after a space: `signature = encode (text);`. */
const ARGUMENTS_AFTER_SPACE = /^ \([^()]{0,80}\);/;
/** The name of a variable or type in camel case, of words that are no shorter than usual. */
const CAMEL_CASE = /^[A-Z]?[a-z]+(?:[A-Z][a-z]+|\d[A-Z][a-z]*){1,8}[;,]?$/;
/** What Java prints for an object without a `toString`. */
const OBJECT = /^(?:[\w$]+\.)*(?:[A-Z][\w$]*[a-z][A-Z][\w$]*|[\w$]+\$\w+|(?<=\.)\w+)@[0-9a-f]{3,8}$/;
/** What stands between two strings, when a quote that ends the first was taken for one that starts a value. */
const BETWEEN_STRINGS = /^["'`]\s*[+.,]\s|^\s|^[+,):;\]}.]\s*$|^[+,):;\]}.]\s|^\.\$/;
/** Names of things that have to do with secrets: `#add-password`, `users/passwords#edit`. */
const NAME_OF_SECRET =
  /^[#./]?(?:[a-z]+[-_/#.])*(?:passwords?|tokens?|secrets?|credentials?|keys?)(?:[-_/#.][a-z]+)*$|^[a-z][A-Za-z]*(?:Password|Token|Secret|Key|Id|Signature|Session|Pass|Credentials?)$/;
const PATH = /^(?:[A-Za-z]:|~|\.{1,2})?[\\/](?:(?:[\w.$@+-]*|<[\w-]+>)[\\/])*[\w.$@+-]*$/;
/** A file in a folder, whatever its name: base64 has no ending. */
const FILE = /^(?:[A-Za-z]:|~|\.{1,2}|[a-z][\w-]*)?(?:[\\/][\w.-]+){1,12}\.[a-z][a-z0-9]{1,5}$/;
const URL_VALUE = /^[A-Za-z][A-Za-z0-9+.-]{1,20}:\\?\/\\?\//;
const NUMBER_LIKE = /^[+-]?\d[\d.,:_/TZ+-]*(?:ms|s|m|h|d|[kKMGT]i?[bB]?|%)?$/;

const isQuote = (character: string | undefined) => character !== undefined && /["'`]/.test(character);

/** Whether a value is an expression in a programming language rather than a value. */
function isCode(value: string, text: string, start: number): boolean {
  if (OBJECT.test(value) || COMMAND_OUTPUT.test(value)) return true;
  if (isQuote(text[start - 1])) return BETWEEN_STRINGS.test(value);
  const end = start + value.length;
  const next = text[end];
  if (IDENTIFIER.test(value) && ARGUMENTS_AFTER_SPACE.test(text.slice(end, end + 90))) return true;
  if (next === '(' || next === '[')
    return value
      .replace(/^:/, '')
      .split(/[()[\]]+\.?/)
      .every(isFunction);
  return CALL.test(value)
    ? isCall(value, text, start)
    : MEMBER.test(value) && !value.split('.').some(hasRandomCase);
}

/** Whether a value that starts as a call is one: nothing of a word follows its bracket, which ends in it or after it. */
function isCall(value: string, text: string, start: number): boolean {
  const opening = value.search(/[([]/);
  const name = value.slice(value.startsWith('!') ? 1 : 0, opening);
  // Functions of code that was made short.
  const isShort =
    /^[A-Za-z_$]{1,2}$/.test(name) && /^[([][A-Za-z_$]+(?:\.[A-Za-z_$]+)+\)?$/.test(value.slice(opening));
  if (!isShort && name !== 'Ok' && !isFunction(name)) return false;
  const closing = value.slice(opening).search(/[)\]]/);
  const argument = closing === -1 ? value.slice(opening) : value.slice(opening, opening + closing);
  if (/[A-Za-z]\d|\d[A-Za-z]/.test(argument) && isMixedName(value.slice(0, opening))) return false;
  if (closing !== -1) return !/^[A-Za-z0-9]/.test(value.slice(opening + closing + 1));
  const after = start + value.length;
  return /^\s{0,3},|[)\]]/.test(text.slice(after, after + 200));
}

/** Whether there are digits in a name that is none of an algorithm or a version. */
const isMixedName = (name: string) =>
  /[A-Za-z]\d/.test(
    name.replace(/(?:sha|md|base|utf|aes|rsa|ec|s|k|x|v|h|p|b|to)\d+|oauth2|(?<=[a-z])2(?=[a-z])/gi, ''),
  );

/** Whether letters change their case more often than in the name of a member: those of `s.hWdDPRkOGWlqpUrmsJQDJdZJ` do. */
const hasRandomCase = (word: string) => word.length >= 20 && caseChanges(word) > word.length / 4;

/** Whether something can be the name of a function or an array: it has a word in it, with a vowel if its case is mixed. */
const isFunction = (name: string) =>
  IDENTIFIER.test(name) &&
  (/(?:^|[_$.>:])(?:[a-z]{3}|[A-Z]{3})[a-z_]*/.test(name) ||
    (name.match(/[A-Z]?[a-z]{2,}|[A-Z]{3,}/g)?.some((word) => /[aeiouy]/i.test(word) && word.length > 2) ??
      false));

/** Whether a segment of a path is base64 rather than a name. */
const isRandomSegment = (part: string) =>
  (part.length >= 16 && isRandomWord(part)) || (part.length >= 10 && part.includes('+') && isRandom(part));

/** Whether a value is a path. Base64 may begin with a slash too, so a long segment of mixed characters speaks against it. */
function isPath(value: string): boolean {
  if (/^\\u[0-9a-f]{4}/i.test(value)) return false;
  return FILE.test(value) || (PATH.test(value) && !value.split(/[\\/]/).some(isRandomSegment));
}

/** How messages about a value start, and what they say of it. */
const MESSAGE_START =
  /^(?:(?:is|are|was|must|can|cannot|can't|could|should|has|have|may|needs?|requires?|does|do|did|will|too|not|no|at|please|enter|invalid|incorrect|wrong|missing|bad|unknown|expired|failed)\b|(?:the|your|this|that|new|old|current|both|value|field|password|passphrase|token|secret|key|credentials?)\b.*\b(?:is|are|was|were|must|cannot|can|can't|could|should|has|have|does|do|will|needs?|field|not|required|invalid|incorrect)\b)/is;
const MESSAGE_WORD =
  /\b(?:required|mandatory|invalid|incorrect|wrong|missing|bad|blank|empty|null|short|long|weak|match(?:es)?|least|most|characters?|letters?|digits?|contain|expired?|changed|reset|updated|set|given|provided|supplied|specified|found|valid|allowed|supported|accepted|correct|configured|confirm|enter|known|unknown|failed|denied|exists?|same|different|common|again)\b/i;

/** Whether a value is several words about a value: an error message instead of a secret. */
const isMessage = (value: string) =>
  /\s/.test(value) && MESSAGE_START.test(value) && MESSAGE_WORD.test(value);

/** Whether a value is an unquoted word, and the text goes on in words: `password: required for login`. */
function isProse(value: string, text: string, start: number): boolean {
  if (isQuote(text[start - 1]) || !/^(?:[A-Za-z]?[a-z'-]+|[A-Z]+)$/.test(value)) return false;
  return (
    /\s/.test(text[start - 1] ?? '') &&
    /^[,.]?\s+(?![\w.-]+[=:])[^\s-]/.test(text.slice(start + value.length, start + value.length + 40))
  );
}

/** Whether a value without quotes is a name in camel case rather than something generated: `accessKey = subAccessKeyId`. */
const isIdentifier = (value: string, text: string, start: number) =>
  !isQuote(text[start - 1]) &&
  CAMEL_CASE.test(value) &&
  value.length / value.split(/(?=[A-Z])/).length >= 3.5;

/** Whether a value is a sentence of words none of which was generated. */
function isSentence(value: string): boolean {
  const words = value.split(/\s+/);
  return words.length >= 4 && !words.some((word) => word.length >= 16 && isRandom(word));
}

/** Whether a value is the name of a test that has passed: `--- PASS: TestLogin (0.01s)`, `PASS: login-test`. */
const isPassedTest = (value: string, text: string, start: number) =>
  /(?:^|---\s|\]\s)PASS: $/.test(text.slice(Math.max(0, start - 12), start)) &&
  /^[A-Za-z_][\w./-]*$/.test(value);

/** A version, as in the tag of an image: `registry.example/token:1.63.37-5e7a6fb`. */
const VERSION = /^v?\d+\.\d+(?:\.\d+)?(?:[-+.][0-9A-Za-z.]{1,16})?$/;
const SHORT_ID = /^(?:[a-z]{2,10}-)?[0-9a-f]{4,12}$/i;

/** Whether a value is the id in the name of a thing: a key of Redis, `session:6967e789`, or an image, `app/token:5e7a6fb`. */
const isIdInName = (value: string, text: string, start: number) =>
  VERSION.test(value) ||
  (SHORT_ID.test(value) && /[A-Za-z]:$/.test(text.slice(Math.max(0, start - 2), start)));

/** Whether a value starts after a bracket and is not all that is in it, with a number or symbol: it is code then. */
function isInCode(value: string, text: string, start: number): boolean {
  const opening = text[start - 1];
  if (opening !== '(' && opening !== '{') return false;
  const closing = opening === '(' ? ')' : '}';
  return text[start + value.length] !== closing || !(hasMixture(value) || isPhraseOfWords(value));
}

/** A setting after a key: `secret: secretName=tls`, `password: policy=strict-v2`. */
const SETTING =
  /^(?:(?:secret|password|token|key|file|volume)[-_.]?)?(?:name|ref|policy|type|mode|namespace|version|provider|path|dest|file)=(.*)$/i;

/** Whether an unquoted value after a space is the name of a setting with words or a number. */
function isSetting(value: string, text: string, start: number): boolean {
  const setting = SETTING.exec(value)?.[1];
  if (setting === undefined || !/\s/.test(text[start - 1] ?? '')) return false;
  return (
    /^[A-Za-z]*$/.test(setting) || NUMBER_LIKE.test(setting) || isResourceName(setting) || isPath(setting)
  );
}

const isOrdinaryValue = (value: string, text: string, start: number) =>
  isInCode(value, text, start) ||
  isCode(value, text, start) ||
  isPath(value) ||
  URL_VALUE.test(value) ||
  NAME_OF_SECRET.test(value) ||
  value.startsWith('arn:') ||
  /\barn:[\w:-]*$/.test(text.slice(Math.max(0, start - 100), start)) ||
  isMessage(value) ||
  isSetting(value, text, start) ||
  isPassedTest(value, text, start);

const isOrdinary = (value: string, text: string, start: number) =>
  isOrdinaryValue(value, text, start) || isProse(value, text, start);

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
  /(?:passwor[dt]|passwd|pwd|kennwort|senha|contraseña|mot de passe|wachtwoord|has[łl]o|heslo|lösenord|adgangskode|salasana|şifre|jelszó|пароль|密码|密碼|パスワード|비밀번호|الرقم السري|(?:admin|db|ftp|login|mail|my|mysql|postgres|redis|root|smtp|sql|ssh|user)_?pass)(?:\\{0,3}["'`]\]?\s?(?::|=>?|,)|\s?=|[:：](?=\s))\s?\\{0,3}["'`]?$/i;

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

const isChosenAfterSureName = (value: string, text: string, start: number): boolean =>
  areJoinedWords(value) && SURE_SECRET.test(text.slice(Math.max(0, start - 120), start));

/** A value after a name such as `token` or `api_key`, which looks as if it had been generated. */
export function isToken(value: string, text: string, start: number): boolean {
  if (isChosenAfterSureName(value, text, start)) return true;
  if (/^\S+(?:\s\S+){3}/.test(value) && SENTENCE_WORD.test(value)) return false;
  if (value.length < 6 || isOrdinary(value, text, start) || isIdInName(value, text, start)) return false;
  if (isIdentifier(value, text, start) || isSentence(value)) return false;
  if (value.length >= 8 && (isRandom(value) || isWordWithNumber(value))) return true;
  if (ONE_WORD.test(value) && NAME_OF_TOKEN.test(text.slice(Math.max(0, start - 80), start))) return true;
  const isSure = isQuote(text[start - 1]) && SURE_NAME.test(text.slice(Math.max(0, start - 80), start));
  return (
    isSure && /\d/.test(value) && hasMixture(value) && !NUMBER_LIKE.test(value) && !isResourceName(value)
  );
}

/** A value that is one word, of digits and letters that are not a word with a number after it. */
const ONE_WORD = /^(?![A-Za-z]+\d{1,6}$)(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}$/;
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

/** Words of sentences that commands rarely have. */
const SENTENCE_WORD =
  /(?:^|\s)(?:the|a|an|is|are|was|were|be|to|of|on|for|with|and|or|if|when|you|it|this|that|not|can|must|should|will|(?<!\bnet\s{1,3})use|using|via|by|as|from)(?=\s|[,.](?:\s|$)|$)/i;
const isInSentence = (value: string, text: string, start: number) =>
  SENTENCE_WORD.test(text.slice(Math.max(0, start - 80), start)) ||
  SENTENCE_WORD.test(text.slice(start + value.length, start + value.length + 80));

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

/** Three words or more that make no sentence. */
const isPhraseOfWords = (value: string) =>
  /^[a-z]{3,}(?:[ -][a-z]{3,}){2,9}$/.test(value) &&
  !SENTENCE_WORD.test(value.replaceAll('-', ' ')) &&
  !MESSAGE_WORD.test(value);
/** In front of the value of a request: who sends it, or a string that starts with it. */
const SENT =
  /(?:(?:[>:<|"'}→←*#$%]|-->?)\s{0,5}|(?:^|\s)[A-Za-z]{0,4}\d{1,6} )[A-Z]{3,}(?: [\w.@-]{1,60})? ["']?$/;
/** The lines around a request in a dialogue: other requests, and what a server answers. */
const ASKED =
  /(?:^|\n)(?:USER [^\s]{1,60}|NICK [^\s]{1,60}|CAP [^\n]{1,60}|\+OK[^\n]{0,100}|331[ -][^\n]{0,100})\r?\n[A-Z]{3,}(?: \S{1,60})? $/;
const ANSWERED =
  /^\r?\n(?:(?:USER|NICK|SELECT|PING|CAP|LIST|STAT|QUIT|SYST|TYPE|CWD|PASV|EPSV|GET|SET|INFO) ?|\+OK|-ERR|-WRONGPASS|[+:]|[2-5]\d\d[ -])/;

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

/** Letters with digits or other characters, as generated and chosen passwords have. */
const hasMixture = (value: string) =>
  /\p{L}/u.test(value) &&
  (/\d/.test(value) ||
    /[^\p{L}\p{N}_\s.,:/*?-]/u.test(value) ||
    /[a-z][A-Z]{2,}[a-z]/.test(value) ||
    isWordWithRandomPart(value));

/** Letters whose case changes as in no word or name: `zzsPLDRPFE`, `Pepper-GwYaEV`. */
const hasOddCase = (value: string) =>
  /[a-z][A-Z]{2,}[a-z]/.test(value) ||
  (/[a-z][A-Z]{2,}/.test(value) && /[bcdfghjklmnpqrstvwxz]{5}/i.test(value)) ||
  isWordWithRandomPart(value);

/** A word, and letters and digits that were drawn: `Pepper-GwYaEV`. Words in camel case have more letters between capitals. */
function isWordWithRandomPart(value: string): boolean {
  const drawn = /^\p{L}\p{Ll}{2,}[-_.]([A-Za-z0-9]{6,12})$/u.exec(value)?.[1]?.replace(/[A-Z]{3,5}$/, '');
  if (drawn === undefined || !/[a-z]/.test(drawn) || !/[A-Z]/.test(drawn)) return false;
  return drawn.split(/(?=[A-Z])/).length >= drawn.length / 2.5;
}

/** Lower-case words and numbers that are joined, such as `default-token-x7k2p` or `kube-system/registry-key`. */
const isResourceName = (value: string) =>
  /^[a-z0-9]+(?:[-./_][a-z0-9]+)+$/.test(value) &&
  value.split(/[-./_]/).some((part) => /^[a-z]{3,}$/.test(part));

/** Whether a value was probably generated: not a number, a date, a version, words, or a word with a number. */
function isRandom(value: string): boolean {
  if (NUMBER_LIKE.test(value)) return /^\d{16,}$/.test(value);
  if (/^0x[0-9a-f]{1,16}$/i.test(value)) return false;
  if (/^(?:[0-9a-f]{16,}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/i.test(value)) return true;
  const words = value.split(/[^A-Za-z0-9]+/);
  if (words.some(isRandomWord) || isMixedThroughout(value)) return true;
  // Short pieces of what was drawn from an alphabet with separators in it.
  const joined = words.join('');
  return (
    /[A-Z]/.test(joined) &&
    (/[a-z]/.test(joined) || joined.length >= 20) &&
    joined.length >= 10 &&
    changes(joined) >= 4 &&
    !/[a-z]{4}/.test(value)
  );
}

/** Whether a run of letters and digits was probably generated. */
function isRandomWord(word: string): boolean {
  if (/^\d+$/.test(word)) return word.length >= 20;
  if (isCamelCase(word)) return false;
  // Words in camel case change between cases once a syllable, in another way than what is drawn at random.
  const cases = caseChanges(word);
  if (word.length >= 10 && cases + changes(word) >= word.length / 7 && cases > 2) return true;
  if (/\d/.test(word)) {
    // A word with a number before or after it is none.
    return (
      word.length >= 6 &&
      !/^(?:[A-Za-z][a-z]+|[A-Z]+)\d{1,6}$|^\d{1,4}[a-z]+$/.test(word) &&
      changes(word) >= 2
    );
  }
  // No word has six consonants in a row.
  return word.length >= 14 && /[bcdfghjklmnpqrstvwxz]{6}/i.test(word);
}

/** Words of four letters or more, on average: `pageTargetSessionId`. */
const isCamelCase = (word: string) =>
  /^[A-Za-z][a-z]+(?:[A-Z][a-z]+)+$/.test(word) && word.length / word.split(/(?=[A-Z])/).length >= 4;

/** How often a word changes its case, apart from the first letter of a word. */
const caseChanges = (word: string) => word.match(/[a-z][A-Z]|[A-Z]{2}[a-z]/g)?.length ?? 0;

/** How often a word changes between letters and digits. */
const changes = (word: string) => word.match(/(?<=[A-Za-z])\d|(?<=\d)[A-Za-z]/g)?.length ?? 0;

/** Symbols, digits and letters of both cases all over, as passwords that are generated have. */
const isMixedThroughout = (value: string) =>
  /[A-Z]/.test(value) &&
  /[a-z]/.test(value) &&
  ((/[^\w\s.,:/-]/.test(value) && /\d/.test(value)) ||
    (/[~!#%^]/.test(value) && caseChanges(value) >= 2) ||
    (value.length >= 12 && /[*&@$]/.test(value) && caseChanges(value) >= 4));
