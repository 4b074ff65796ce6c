/*
 * What may stand in the place of a secret and is none: code, paths, messages, names of settings and things.
 */

import { caseChanges, hasMixture, isRandom, isRandomWord, isResourceName, NUMBER_LIKE } from './generated.ts';

const IDENTIFIER = /^[A-Za-z_$][\w$]*(?:(?:\.#?|->|::)[A-Za-z_$][\w$]*)*$/;
const CALL = /^!?[A-Za-z_$][\w.$:>#-]*[([]/;
/** A member of an object, a class or a host, in words: `config.password`, `com.example.Token`. */
export const MEMBER = /^[A-Za-z_$]+(?:(?:\.#?|->|::)[A-Za-z_$]+)+$/;
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

export const isQuote = (character: string | undefined) => character !== undefined && /["'`]/.test(character);

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
export const MESSAGE_WORD =
  /\b(?:required|mandatory|invalid|incorrect|wrong|missing|bad|blank|empty|null|short|long|weak|match(?:es)?|least|most|characters?|letters?|digits?|contain|expired?|changed|reset|updated|set|given|provided|supplied|specified|found|valid|allowed|supported|accepted|correct|configured|confirm|enter|known|unknown|failed|denied|exists?|same|different|common|again)\b/i;

/** Whether a value is several words about a value: an error message instead of a secret. */
export const isMessage = (value: string) =>
  /\s/.test(value) && MESSAGE_START.test(value) && MESSAGE_WORD.test(value);

/** Whether a value is an unquoted word, and the text goes on in words: `password: required for login`. */
export function isProse(value: string, text: string, start: number): boolean {
  if (isQuote(text[start - 1]) || !/^(?:[A-Za-z]?[a-z'-]+|[A-Z]+)$/.test(value)) return false;
  return (
    /\s/.test(text[start - 1] ?? '') &&
    /^[,.]?\s+(?![\w.-]+[=:])[^\s-]/.test(text.slice(start + value.length, start + value.length + 40))
  );
}

/** Whether a value without quotes is a name in camel case rather than something generated: `accessKey = subAccessKeyId`. */
export const isIdentifier = (value: string, text: string, start: number) =>
  !isQuote(text[start - 1]) &&
  CAMEL_CASE.test(value) &&
  value.length / value.split(/(?=[A-Z])/).length >= 3.5;

/** Whether a value is a sentence of words none of which was generated. */
export function isSentence(value: string): boolean {
  const words = value.split(/\s+/);
  return words.length >= 4 && !words.some((word) => word.length >= 16 && isRandom(word));
}

/** Whether a value is the name of a test that has passed: `--- PASS: TestLogin (0.01s)`, `PASS: login-test`. */
const isPassedTest = (value: string, text: string, start: number) =>
  /(?:^|---\s|\]\s)PASS: $/.test(text.slice(Math.max(0, start - 12), start)) &&
  /^[A-Za-z_][\w./-]*$/.test(value);

/** A version, as in the tag of an image: `registry.example/token:1.63.37-5e7a6fb`. */
export const VERSION = /^v?\d+\.\d+(?:\.\d+)?(?:[-+.][0-9A-Za-z.]{1,16})?$/;
const SHORT_ID = /^(?:[a-z]{2,10}-)?[0-9a-f]{4,12}$/i;

/** Whether a value is the id in the name of a thing: a key of Redis, `session:6967e789`, or an image, `app/token:5e7a6fb`. */
export const isIdInName = (value: string, text: string, start: number) =>
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

export const isOrdinaryValue = (value: string, text: string, start: number) =>
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

export const isOrdinary = (value: string, text: string, start: number) =>
  isOrdinaryValue(value, text, start) || isProse(value, text, start);

/** Words of sentences that commands rarely have. */
export const SENTENCE_WORD =
  /(?:^|\s)(?:the|a|an|is|are|was|were|be|to|of|on|for|with|and|or|if|when|you|it|this|that|not|can|must|should|will|(?<!\bnet\s{1,3})use|using|via|by|as|from)(?=\s|[,.](?:\s|$)|$)/i;
export const isInSentence = (value: string, text: string, start: number) =>
  SENTENCE_WORD.test(text.slice(Math.max(0, start - 80), start)) ||
  SENTENCE_WORD.test(text.slice(start + value.length, start + value.length + 80));

/** Three words or more that make no sentence. */
export const isPhraseOfWords = (value: string) =>
  /^[a-z]{3,}(?:[ -][a-z]{3,}){2,9}$/.test(value) &&
  !SENTENCE_WORD.test(value.replaceAll('-', ' ')) &&
  !MESSAGE_WORD.test(value);
/** In front of the value of a request: who sends it, or a string that starts with it. */
export const SENT =
  /(?:(?:[>:<|"'}→←*#$%]|-->?)\s{0,5}|(?:^|\s)[A-Za-z]{0,4}\d{1,6} )[A-Z]{3,}(?: [\w.@-]{1,60})? ["']?$/;
/** The lines around a request in a dialogue: other requests, and what a server answers. */
export const ASKED =
  /(?:^|\n)(?:USER [^\s]{1,60}|NICK [^\s]{1,60}|CAP [^\n]{1,60}|\+OK[^\n]{0,100}|331[ -][^\n]{0,100})\r?\n[A-Z]{3,}(?: \S{1,60})? $/;
export const ANSWERED =
  /^\r?\n(?:(?:USER|NICK|SELECT|PING|CAP|LIST|STAT|QUIT|SYST|TYPE|CWD|PASV|EPSV|GET|SET|INFO) ?|\+OK|-ERR|-WRONGPASS|[+:]|[2-5]\d\d[ -])/;
