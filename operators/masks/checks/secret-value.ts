/*
 * Values that follow a key such as `password` or `token`. Whether one is a secret depends on how it looks: code, paths
 * and names of resources are not. A shared vocabulary of placeholders is applied before these checks.
 */

const IDENTIFIER = /^[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)*$/;
const CALL = /^!?[A-Za-z_$][\w.$:>-]*[([]/;
/** A member of an object, a class or a host, in words: `config.password`, `com.example.Token`. */
const MEMBER = /^[A-Za-z_$]+(?:(?:\.|->|::)[A-Za-z_$]+)+$/;
/** What Java prints for an object without a `toString`. */
const OBJECT = /^(?:[\w$]+\.)*(?:[A-Z][\w$]*[a-z][A-Z][\w$]*|[\w$]+\$\w+|(?<=\.)\w+)@[0-9a-f]{3,8}$/;
/** What stands between two strings, when a quote that ends the first was taken for one that starts a value. */
const BETWEEN_STRINGS = /^\s|^[+,):;\]}.]\s*$|^[+,):;\]}.]\s|^\.\$/;
/** Names of things that have to do with secrets: `#add-password`, `users/passwords#edit`. */
const NAME_OF_SECRET =
  /^[#./]?(?:[a-z]+[-_/#.])*(?:passwords?|tokens?|secrets?|credentials?|keys?)(?:[-_/#.][a-z]+)*$|^[a-z]+(?:[A-Z][a-z]+)*(?:Password|Token|Secret|Key)$/;
const PATH = /^(?:[A-Za-z]:|~|\.{1,2})?[\\/](?:[\w.$@+-]*[\\/])*[\w.$@+-]*$/;
const URL_VALUE = /^[A-Za-z][A-Za-z0-9+.-]{1,20}:\\?\/\\?\//;
const NUMBER_LIKE = /^[+-]?\d[\d.,:_/TZ+-]*(?:ms|s|m|h|d|[kKMGT]i?[bB]?|%)?$/;

const isQuote = (character: string | undefined) => character !== undefined && /["'`]/.test(character);

/** Whether a value is an expression in a programming language rather than a value. */
function isCode(value: string, text: string, start: number): boolean {
  if (OBJECT.test(value)) return true;
  if (isQuote(text[start - 1])) return BETWEEN_STRINGS.test(value);
  const next = text[start + value.length];
  if ((next === '(' || next === '[') && IDENTIFIER.test(value)) return true;
  return CALL.test(value)
    ? IDENTIFIER.test(value.slice(value.startsWith('!') ? 1 : 0, value.search(/[([]/)))
    : MEMBER.test(value);
}

/** Whether a value is a path. Base64 may begin with a slash too, so a long segment of mixed characters speaks against it. */
function isPath(value: string): boolean {
  return PATH.test(value) && !value.split(/[\\/]/).some((part) => part.length >= 16 && isRandomWord(part));
}

/** Whether a value is several words that read as a sentence: an error message instead of a secret. */
function isSentence(value: string): boolean {
  return (
    /\s/.test(value) &&
    /(?:^|\s)(?:is|are|be|was|must|can|cannot|can't|should|has|have|not|no|the|an?|for|to|of|in|with|at|your?|from|and|or|by|this|failed|invalid|required|missing|expired|incorrect|changed)(?:\s|[.,!:]?$)/i.test(
      value,
    )
  );
}

/** Whether a value is an unquoted word, and the text goes on in words: `password: required for login`. */
function isProse(value: string, text: string, start: number): boolean {
  if (isQuote(text[start - 1]) || !/^(?:[A-Za-z]?[a-z'-]+|[A-Z]+)$/.test(value)) return false;
  return (
    /\s/.test(text[start - 1] ?? '') &&
    /^[,.]?\s+(?![\w.-]+[=:])[^\s-]/.test(text.slice(start + value.length, start + value.length + 40))
  );
}

/** Whether a value is the name of a test that has passed: `--- PASS: TestLogin (0.01s)`, `PASS: login-test`. */
const isPassedTest = (value: string, text: string, start: number) =>
  /(?:^|---\s|\]\s)PASS: $/.test(text.slice(Math.max(0, start - 12), start)) &&
  /^[A-Za-z_][\w./-]*$/.test(value);

const isOrdinary = (value: string, text: string, start: number) =>
  isCode(value, text, start) ||
  isPath(value) ||
  URL_VALUE.test(value) ||
  NAME_OF_SECRET.test(value) ||
  value.startsWith('arn:') ||
  /\barn:[\w:-]*$/.test(text.slice(Math.max(0, start - 100), start)) ||
  isSentence(value) ||
  isProse(value, text, start) ||
  isPassedTest(value, text, start);

/** A value behind the name of a password, which may be a word. */
export function isPassword(value: string, text: string, start: number): boolean {
  if (value.length < 4 || isOrdinary(value, text, start)) return false;
  return /^\d+$/.test(value) ? value.length >= 6 : /[A-Za-z0-9]/.test(value);
}

/** A value behind a name such as `secret`: not only letters, and not the name of a resource. */
export function isSecret(value: string, text: string, start: number): boolean {
  if (value.length < 6 || isOrdinary(value, text, start) || NUMBER_LIKE.test(value)) return false;
  return isRandom(value) || (hasMixture(value) && !isResourceName(value));
}

/** A value behind a name such as `token` or `api_key`, which looks as if it had been generated. */
export function isToken(value: string, text: string, start: number): boolean {
  return value.length >= 8 && !isOrdinary(value, text, start) && isRandom(value);
}

/** A password in running text, which has to look like one. */
export function isProsePassword(value: string, text: string, start: number): boolean {
  return value.length >= 6 && isSecret(value, text, start) && hasMixture(value) && !MEMBER.test(value);
}

/** What follows a flag such as `--password`: a word only at the end of a command, or before its next flag. */
export function isFlagValue(value: string, text: string, start: number): boolean {
  if (value.startsWith('-') || !isPassword(value, text, start)) return false;
  return (
    hasMixture(value) ||
    isQuote(text[start - 1]) ||
    /^(?:\s*$|["'`\\]|\s+-)/.test(text.slice(start + value.length))
  );
}

/** The password in `scheme://user:password@host`. */
export function isUserInfo(value: string): boolean {
  return !/^\d{1,5}$/.test(value) && !/^[[{(]/.test(value);
}

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
  /[A-Za-z]/.test(value) &&
  (/\d/.test(value) || /[^\w\s.,:/*?-]/.test(value) || /[a-z][A-Z]{2,}[a-z]/.test(value));

/** Lower-case words and numbers that are joined, such as `default-token-x7k2p` or `kube-system/registry-key`. */
const isResourceName = (value: string) =>
  /^[a-z0-9]+(?:[-./_][a-z0-9]+)+$/.test(value) &&
  value.split(/[-./_]/).some((part) => /^[a-z]{3,}$/.test(part));

/** Whether a value was probably generated: not a number, a date, a version, words, or a word with a number. */
export function isRandom(value: string): boolean {
  if (NUMBER_LIKE.test(value)) return /^\d{16,}$/.test(value);
  if (/^0x[0-9a-f]{1,16}$/i.test(value)) return false;
  if (/^(?:[0-9a-f]{16,}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/i.test(value)) return true;
  const words = value.split(/[^A-Za-z0-9]+/);
  if (words.some(isRandomWord) || isMixedThroughout(value)) return true;
  // Short pieces of what was drawn from an alphabet with separators in it.
  const joined = words.join('');
  return (
    /[A-Z]/.test(joined) &&
    /[a-z]/.test(joined) &&
    joined.length >= 10 &&
    changes(joined) >= 4 &&
    !/[a-z]{4}/.test(value)
  );
}

/** Whether a run of letters and digits was probably generated. */
function isRandomWord(word: string): boolean {
  if (/^\d+$/.test(word)) return word.length >= 20;
  // Words in camel case change between cases once a syllable, in another way than what is drawn at random.
  const caseChanges = word.match(/[a-z][A-Z]|[A-Z]{2}[a-z]/g)?.length ?? 0;
  if (word.length >= 10 && caseChanges + changes(word) >= word.length / 7 && caseChanges > 2) return true;
  if (/\d/.test(word)) {
    // A word with a number before or behind it is none.
    return (
      word.length >= 6 &&
      !/^(?:[A-Za-z][a-z]+|[A-Z]+)\d{1,6}$|^\d{1,4}[a-z]+$/.test(word) &&
      changes(word) >= 2
    );
  }
  // No word has six consonants in a row.
  return word.length >= 14 && /[bcdfghjklmnpqrstvwxz]{6}/i.test(word);
}

/** How often a word changes between letters and digits. */
const changes = (word: string) => word.match(/(?<=[A-Za-z])\d|(?<=\d)[A-Za-z]/g)?.length ?? 0;

/** Symbols, digits and letters of both cases all over, as passwords that are generated have. */
const isMixedThroughout = (value: string) =>
  /[^\w\s.,:/-]/.test(value) && /\d/.test(value) && /[A-Z]/.test(value) && /[a-z]/.test(value);
