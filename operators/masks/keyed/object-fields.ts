import type { Place } from '../mask-rule.ts';
import { backslashesBefore, closingQuote, type Quote, written } from './literal.ts';

/*
 * Values that have no key of their own with the name of a secret: it is in a field beside them, or around the object that
 * they are in. The same holds for fields of events, which `field-context.ts` looks at.
 */

/** Names of fields that have the value of what another field names: `value`, `ParameterValue`, `new_value`, `v`, `after`. */
const VALUE_KEY =
  /^(?:[vV]|[\w.:-]*[vV](?:alue|ALUE)s?|(?:[\w.:-]*[_.:-])?(?:vals?|VALS?)|[\w.:-]*[a-z]Vals?|(?:[\w.:-]*[vV]alue)?(?:String|Text|Plain))$/;
/** Keys of the values of a change, as an audit logs it. */
const CHANGE_KEY = /^(?:old|new|before|after|previous|current)$/i;
/** What a text has in which there is such a field. */
export const VALUE_KEY_IN_TEXT =
  /["'\\](?<=(?:v|vals?|values?|string|text|plain|old|new|before|after|previous|current|to).)["'\\]{0,15}\s{0,5}(?::|=>)/i;
let lastLooked: { readonly text: string; readonly hasKey: boolean } | undefined;

/** Whether a text may have a field of {@link valueKeysOf}. Rules ask about the same text for each of its names. */
function hasValueKey(text: string): boolean {
  if (lastLooked?.text !== text) lastLooked = { text, hasKey: VALUE_KEY_IN_TEXT.test(text) };
  return lastLooked.hasKey;
}

/** A change from one value to another, if both are there. */
const FROM_OR_TO = /^(?:from|to)$/;

type KindOfKey = 'value' | 'change' | 'end' | undefined;
const MOST_KNOWN = 1000;
/** Keys of events come again and again. */
const known = new Map<string, KindOfKey | 'other'>();

function kindOf(key: string): KindOfKey {
  let kind = known.get(key);
  if (kind === undefined) {
    kind = VALUE_KEY.test(key)
      ? 'value'
      : CHANGE_KEY.test(key)
        ? 'change'
        : FROM_OR_TO.test(key)
          ? 'end'
          : 'other';
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(key, kind);
  }
  return kind === 'other' ? undefined : kind;
}

const NO_KEYS: readonly string[] = [];

/** The keys of an object whose values belong to a name in another field. */
export function valueKeysOf(keys: readonly string[]): readonly string[] {
  let found: string[] | undefined;
  let ends = 0;
  for (const key of keys) {
    const kind = kindOf(key);
    if (kind === undefined) continue;
    found ??= [];
    found.push(key);
    if (kind === 'end') ends++;
  }
  if (found === undefined) return NO_KEYS;
  return ends === 1 ? found.filter((key) => kindOf(key) !== 'end') : found;
}

/** Names of what is no secret in an object that has the name of one. */
const PUBLIC_KEY =
  /(?:^|_|[a-z](?=[A-Z]))(?:id|[uU]u?id|[nN]ame(?:space)?|[uU]ser(?:[nN]ame)?|[eE]?[mM]ail|[tT]ype|[kK]ind|[uU]r[li]|[pP]ath|[hH]ost|[vV]ersion|[aA]t|[tT]ime(?:stamp)?|[dD]ate|[eE]xpir\w*|[cC]reated|[uU]pdated|[sS]copes?|[rR]oles?|[rR]egion|[aA]rn|[rR]ef|[mM]essage|[dD]escription|[lL]abel|[tT]itle|[kK]id|[pP]attern|[rR]egexp?|[fF]ormat|[eE]xamples?|[aA]lg(?:orithm)?|[sS]tatus|[hH]int|ID|NAME|TYPE)$/;

const NUMBER = /-?\d[\d.]*(?=\s{0,5}[,}\]])/y;

/** Characters of an object around a place, and values in it, that are looked at. */
const LONGEST_BEFORE = 4000;
const LONGEST_OBJECT = 16_000;
/**
 * Objects and arrays in each other that are looked into, and that can be closed in front of a place. So each character of
 * a text is read so many times at most, however many names and brackets it has.
 */
const DEEPEST = 32;

interface ObjectField {
  readonly key: string;
  /** Its string or number, or those in its object or array, without those of public keys. */
  readonly values: Place[];
}

/** A name, rather than a sentence. What changes is a field, not a path such as `refs/heads/session`. */
const NAME = /^[\w./:$-]{1,100}(?: [\w./:$-]{1,30}){0,2}$/;
const NAME_OF_FIELD = /^[\w.:$-]{1,100}(?: [\w.:$-]{1,30}){0,2}$/;

/** Whether a string can name what the field with a key of {@link valueKeysOf} has. */
export const canName = (name: string, key: string): boolean =>
  kindOf(key) === 'value' || NAME_OF_FIELD.test(name);

/**
 * The values of the object whose field at a place has a name: all spellings of names and values, in any order.
 *
 * @param start of the quote after the name
 */
export function valuesBeside(text: string, start: number, end: number): readonly Place[] {
  const quote = quoteBefore(text, end);
  if (quote === undefined || !hasValueKey(text)) return [];
  const opening = openingBraceBefore(text, end, quote);
  if (opening === undefined) return [];
  const { fields } = objectAt(text, opening, quote);
  const own = fields.find(({ values }) => values.some((value) => value.end === start));
  const place = own?.values.find((value) => value.end === start);
  const name = place && text.slice(place.start, place.end);
  if (name === undefined || !NAME.test(name)) return [];
  const keys = valueKeysOf(fields.map(({ key }) => key)).filter((key) => canName(name, key));
  return fields.filter((field) => field !== own && keys.includes(field.key)).flatMap(({ values }) => values);
}

/**
 * The strings in an object or array.
 *
 * @param start of its bracket, in front of which its key stands
 */
export function valuesBelow(text: string, start: number): readonly Place[] {
  const quote = quoteOfKey(text, start);
  if (quote === undefined) return [];
  const { fields } = objectAt(text, start, quote);
  return fields.filter(({ key }) => !PUBLIC_KEY.test(key)).flatMap(({ values }) => values);
}

/**
 * The strings and numbers in an array, and in arrays in it, without those of objects.
 *
 * @param start of its bracket, in front of which its key stands
 */
export function itemsBelow(text: string, start: number): readonly Place[] {
  const quote = quoteOfKey(text, start) ?? quoteOfItem(text, start);
  return quote === undefined ? [] : objectAt(text, start, quote).items;
}

/** The object that was read last: rules ask about the same one again and again. */
let last: (ObjectOrArray & { readonly text: string; readonly start: number }) | undefined;

interface ObjectOrArray {
  readonly fields: readonly ObjectField[];
  /** What is in no object, but only in arrays. */
  readonly items: readonly Place[];
}

/** The fields of the object, or array, that starts at a place. */
function objectAt(text: string, start: number, quote: Quote): ObjectOrArray {
  if (last?.text === text && last.start === start) return last;
  const fields: ObjectField[] = [];
  const items: Place[] = [];
  const limit = Math.min(text.length, start + LONGEST_OBJECT);
  const mark = markOf(quote);
  let values: Place[] = [];
  let depth = 0;
  let objects = 0;
  let isPublic = false;
  const add = (place: Place) => {
    if (fields.length === 0) fields.push({ key: '', values });
    if (!isPublic || depth === 1) values.push(place);
    if (objects === 0) items.push(place);
  };
  for (let at = start; at < limit; at++) {
    const character = text[at] as string;
    if (character === '{') objects++;
    if (character === '}') objects--;
    if (character === '{' || character === '[') {
      if (++depth > DEEPEST) break;
    } else if (character === '}' || character === ']') {
      if (--depth <= 0) break;
    } else if (text.startsWith(mark, at)) {
      const from = at + mark.length;
      const closing = text.startsWith(mark, from)
        ? { start: from, end: from + mark.length, isClosed: true }
        : closingQuote(text, from, quote);
      at = closing.end - 1;
      const isKey = /^\s{0,5}(?::|=>)/.test(text.slice(closing.end, closing.end + 8));
      if (isKey) {
        const key = text.slice(from, closing.start);
        isPublic = PUBLIC_KEY.test(key);
        if (depth === 1) {
          values = [];
          fields.push({ key, values });
        }
      } else if (closing.start > from) {
        add({ start: from, end: closing.start });
      }
      if (!closing.isClosed) break;
    } else if (/[\d-]/.test(character) && /[\s,:>[]/.test(text[at - 1] as string)) {
      NUMBER.lastIndex = at;
      const number = NUMBER.exec(text)?.[0] ?? '';
      if (number === '') continue;
      add({ start: at, end: at + number.length });
      at += number.length - 1;
    }
  }
  last = { text, start, fields, items };
  return last;
}

/** The last place that was asked about, and where its object starts. */
let lastAsked:
  | {
      readonly text: string;
      readonly before: number;
      readonly mark: string;
      readonly opening: number | undefined;
    }
  | undefined;

/** Where the object starts that has a field at a place. */
function openingBraceBefore(text: string, before: number, quote: Quote): number | undefined {
  const opening = findOpeningBrace(text, before, quote);
  lastAsked = { text, before, mark: markOf(quote), opening };
  return opening;
}

function findOpeningBrace(text: string, before: number, quote: Quote): number | undefined {
  const { character } = quote;
  const one = written(quote);
  const lowest = Math.max(0, before - LONGEST_BEFORE);
  const asked = lastAsked?.text === text && lastAsked.mark === markOf(quote) ? lastAsked : undefined;
  let depth = 0;
  for (let at = before - 1; at >= lowest; at--) {
    // Names of the same object, one after the other: it has been searched for from here.
    if (depth === 0 && asked?.before === at + 1) {
      return asked.opening !== undefined && asked.opening >= lowest ? asked.opening : undefined;
    }
    if (text[at] === character) {
      // The string that ends here: back to its opening quote, unless it is empty.
      const end = runBefore(text, at + 1, one);
      if (end.count < 2 * quote.count) at = openingOf(text, end.start, quote);
      else at = end.start;
    } else if (text[at] === '}' || text[at] === ']') {
      if (++depth > DEEPEST) return undefined;
    } else if (text[at] === '{' || text[at] === '[') {
      if (depth === 0) return text[at] === '{' ? at : undefined;
      depth--;
    }
  }
  return undefined;
}

/** All quotes that stand together. */
const markOf = (quote: Quote) => written(quote).repeat(quote.count);

const MOST_BACKSLASHES = 7;

/** The quote after the key in front of a bracket. */
function quoteOfKey(text: string, bracket: number): Quote | undefined {
  let at = bracket;
  while (/[\s:=>]/.test(text[at - 1] ?? '')) at--;
  return quoteBefore(text, at);
}

/** The quote of the first item of a list, whose key has none. */
function quoteOfItem(text: string, bracket: number): Quote | undefined {
  // A string with an arrow or a colon after it is the key of a map.
  const [, opening = ''] =
    /^(\[\s{0,20}\\{0,7}["'])[^"'\n]{1,200}\\{0,7}["']\s{0,3}[,\]]/.exec(
      text.slice(bracket, bracket + 260),
    ) ?? [];
  return opening === '' ? undefined : quoteBefore(text, bracket + opening.length);
}

/** The quote in front of a place. */
function quoteBefore(text: string, at: number): Quote | undefined {
  const character = text[at - 1];
  if (character !== '"' && character !== "'") return undefined;
  const one: Quote = {
    character,
    depth: Math.min(backslashesBefore(text, at - 1), MOST_BACKSLASHES),
    count: 1,
  };
  return { ...one, count: runBefore(text, at, written(one)).count };
}

/** How often a quote stands in front of a place, and where it stands first. */
function runBefore(
  text: string,
  end: number,
  one: string,
): { readonly start: number; readonly count: number } {
  let count = 0;
  let start = end;
  for (; text.startsWith(one, start - one.length) && start >= one.length; start -= one.length) count++;
  return { start, count };
}

/** Where the string starts that ends in front of a place. */
function openingOf(text: string, end: number, { character, depth, count }: Quote): number {
  const one = '\\'.repeat(depth) + character;
  const lowest = Math.max(0, end - LONGEST_BEFORE);
  for (let at = end - 1; at >= lowest; at--) {
    if (text[at] !== character) continue;
    if (backslashesBefore(text, at) % (2 * one.length) !== depth) continue;
    const run = runBefore(text, at + 1, one);
    if (run.count !== 2 * count) return run.start;
    at = run.start;
  }
  return lowest;
}
