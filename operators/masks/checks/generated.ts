/*
 * Values that were probably generated, or that someone made hard to guess, by their letters, digits and symbols alone.
 */

export const NUMBER_LIKE = /^[+-]?\d[\d.,:_/TZ+-]*(?:ms|s|m|h|d|[kKMGT]i?[bB]?|%)?$/;

/** Letters with digits or other characters, as generated and chosen passwords have. */
export const hasMixture = (value: string) =>
  /\p{L}/u.test(value) &&
  (/\d/.test(value) ||
    /[^\p{L}\p{N}_\s.,:/*?-]/u.test(value) ||
    /[a-z][A-Z]{2,}[a-z]/.test(value) ||
    isWordWithRandomPart(value));

/** Letters whose case changes as in no word or name: `zzsPLDRPFE`, `Pepper-GwYaEV`. */
export const hasOddCase = (value: string) =>
  /[a-z][A-Z]{2,}[a-z]/.test(value) ||
  (/[a-z][A-Z]{2,}/.test(value) && /[bcdfghjklmnpqrstvwxz]{5}/i.test(value)) ||
  isWordWithRandomPart(value);

/** A word, and letters and digits that were drawn: `Pepper-GwYaEV`. Words in camel case have more letters between capitals. */
export function isWordWithRandomPart(value: string): boolean {
  const drawn = /^\p{L}\p{Ll}{2,}[-_.]([A-Za-z0-9]{6,12})$/u.exec(value)?.[1]?.replace(/[A-Z]{3,5}$/, '');
  if (drawn === undefined || !/[a-z]/.test(drawn) || !/[A-Z]/.test(drawn)) return false;
  return drawn.split(/(?=[A-Z])/).length >= drawn.length / 2.5;
}

/** Lower-case words and numbers that are joined, such as `default-token-x7k2p` or `kube-system/registry-key`. */
export const isResourceName = (value: string) =>
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
    (/[a-z]/.test(joined) || joined.length >= 20) &&
    joined.length >= 10 &&
    changes(joined) >= 4 &&
    !/[a-z]{4}/.test(value)
  );
}

/** Whether a run of letters and digits was probably generated. */
export function isRandomWord(word: string): boolean {
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
export const caseChanges = (word: string) => word.match(/[a-z][A-Z]|[A-Z]{2}[a-z]/g)?.length ?? 0;

/** How often a word changes between letters and digits. */
const changes = (word: string) => word.match(/(?<=[A-Za-z])\d|(?<=\d)[A-Za-z]/g)?.length ?? 0;

/** Symbols, digits and letters of both cases all over, as passwords that are generated have. */
const isMixedThroughout = (value: string) =>
  /[A-Z]/.test(value) &&
  /[a-z]/.test(value) &&
  ((/[^\w\s.,:/-]/.test(value) && /\d/.test(value)) ||
    (/[~!#%^]/.test(value) && caseChanges(value) >= 2) ||
    (value.length >= 12 && /[*&@$]/.test(value) && caseChanges(value) >= 4));
