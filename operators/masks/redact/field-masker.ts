import { compileMaskRules, type MaskRules } from '../compile-mask-rules.ts';
import type { Field, MaskFields } from '../mask-strings.ts';
import type { RowMask } from '../row-mask.ts';
import { compileRedactRules } from './compile-redact-rules.ts';
import { type FieldContext, FieldContexts, namesBesideFields } from './field-context.ts';
import { keyMatcher } from './key-patterns.ts';
import { escaped, type RedactorOptions, type TextMasker, unescaped } from './text-masker.ts';

/** Keys that events have by themselves: a rule that matches such a word does not rename fields that everybody reads. */
const OWN_KEYS: ReadonlySet<string> = new Set(
  'timestamp stamp tag data backfill truncated line source'.split(' '),
);
/** Keys and masked values without secrets that are remembered, since most events have the same. */
const MOST_CLEAN = 10_000;
const LONGEST_CLEAN = 100;
/** Whole numbers with fewer digits are no number of a card or a person. */
const LEAST_NUMBER = 1e7;
/** Names of fields, rather than data: no number of three digits, no address and no token is one. */
const NAME = /^(?!.*\d{3})[A-Za-z_@$][\w$-]{0,39}(?:\.[A-Za-z_][\w-]{0,39}){0,7}$/;
/** What a string may have that is not masked as a line is: LF, NULs, and escapes. */
const MAY_HIDE = /[\\\p{Cc}]/u;
/** What JSON does not write as it is. */
const NEEDS_ESCAPE = /["\\\p{Cc}]/u;

/** Masks the fields of events: each value behind its key, as in a line of JSON, and by itself. */
export class FieldMasker implements MaskFields {
  readonly #texts: TextMasker;
  readonly #options: RedactorOptions;
  readonly #contexts: FieldContexts;
  readonly #isAllowedKey: ((key: string) => boolean) | undefined;
  readonly #clean = new Set<string>();
  /** Strings that stay as they are, each behind its key. */
  readonly #kept = new Set<string>();
  #ofNumbers: MaskRules | undefined;

  constructor(texts: TextMasker, options: RedactorOptions) {
    this.#texts = texts;
    this.#options = options;
    this.#contexts = new FieldContexts((text) => texts.rules.mentions(text));
    this.#isAllowedKey = options.allowedKeys.length === 0 ? undefined : keyMatcher(options.allowedKeys);
  }

  isAllowed(key: string | undefined, names: readonly string[] = []): boolean {
    if (key === undefined || this.#isAllowedKey === undefined) return false;
    return [key, ...names].some(this.#isAllowedKey);
  }

  readonly text: MaskFields['text'] = (text, key, within, previous, names) => {
    if (this.isAllowed(key, names)) return text;
    if (previous === undefined && this.#isBare(key, within, names, '"')) return this.#texts.mask(text);
    const found = key === undefined ? [] : this.#contexts.all(key, within, names, '"');
    if (previous !== undefined) found.push(this.#contexts.ofItem(previous));
    return this.#maskField(text, found);
  };

  readonly number: NonNullable<MaskFields['number']> = (value, key, within, names) => {
    if (this.isAllowed(key, names)) return value;
    if (this.#isBare(key, within, names, '')) return this.#maskNumber(value);
    for (const context of key === undefined ? [] : this.#contexts.all(key, within, names, '')) {
      const masked = context && this.#maskBehind(String(value), context);
      if (masked !== undefined) return masked;
    }
    return this.#maskNumber(value);
  };

  /** Whether the key of a value says nothing of it. */
  #isBare(
    key: string | undefined,
    within: Field | undefined,
    names: readonly string[] | undefined,
    quote: '"' | '',
  ): boolean {
    return key === undefined || this.#contexts.hasNone(key, within, names, quote);
  }

  readonly key = (key: string): string => {
    if (OWN_KEYS.has(key) || this.#clean.has(key) || this.isAllowed(key)) return key;
    const masked = this.#texts.mask(key);
    if (masked === key) this.#rememberClean(key);
    return masked;
  };

  readonly namesIn: NonNullable<MaskFields['namesIn']> = (object) =>
    namesBesideFields(object, this.#contexts);

  /** What is known of a string before it is masked. Strings with a key that says something are masked to find out. */
  readonly fateOf: RowMask['text'] = (text, key, within, previous, names) => {
    if (this.isAllowed(key, names)) return 'kept';
    const isBare = this.#isBare(key, within, names, '"');
    if (!isBare || (previous !== undefined && this.#contexts.ofItem(previous) !== undefined)) {
      return this.#leaves(text, key, within, previous, names) ? 'kept' : 'alone';
    }
    if (!MAY_HIDE.test(text)) return 'line';
    return text.includes('\n') || text.includes('\0') || this.#texts.renderer.needs(text) ? 'alone' : 'line';
  };

  /** Whether the mask of a string is the string. Of short ones it is remembered: a level or a host comes again and again. */
  #leaves(...[text, key, within, previous, names]: Parameters<MaskFields['text']>): boolean {
    const mask = (value: string) => this.text(value, key, within, previous, names);
    const [context, ...others] = key === undefined ? [] : this.#contexts.all(key, within, names, '"');
    const isSimple = context !== undefined && others.length === 0 && previous === undefined;
    if (!isSimple || text.length > LONGEST_CLEAN) return this.#texts.leaves(text, mask);
    // The key ends with a quote, which no key has within it: other keys and strings make another text.
    const known = context.before + text;
    if (this.#kept.has(known)) return true;
    if (!this.#texts.leaves(text, mask)) return false;
    if (this.#kept.size >= MOST_CLEAN) this.#kept.clear();
    this.#kept.add(known);
    return true;
  }

  readonly keepsNumber: NonNullable<RowMask['keepsNumber']> = (value, key, within, names) => {
    const isSmall = !Number.isInteger(value) || Math.abs(value) < LEAST_NUMBER;
    if (isSmall && this.#isBare(key, within, names, '')) return true;
    return this.#texts.leaves(value, () => this.number(value, key, within, names));
  };

  readonly keepsKey = (key: string): boolean =>
    OWN_KEYS.has(key) || this.#clean.has(key) || this.#texts.leaves(key, this.key);

  /** The path of a field, as policies name it. Keys can be content too: `*` stands for one that may be data. */
  shownPath(field: Field): string {
    const keys: string[] = [];
    for (let each: Field | undefined = field; each !== undefined; each = each.within) {
      if (each.within === undefined && each.key === 'data' && keys.length > 0) break;
      const isName = NAME.test(each.key) && this.#texts.isClean(each.key);
      keys.unshift(isName ? each.key : '*');
    }
    return keys.join('.');
  }

  /** Rules that check what they find, for numbers: others are about text. */
  get #rulesOfNumbers(): MaskRules {
    if (this.#ofNumbers === undefined) {
      const { rules, boundTime, isLate, linearEngine } = this.#options;
      const checked = Object.entries(rules).filter(
        ([, rule]) => typeof rule === 'object' && 'check' in rule && rule.check !== undefined,
      );
      this.#ofNumbers = compileMaskRules(
        compileRedactRules(Object.fromEntries(checked), { ...this.#options, entropy: false }),
        { onMask: (rule, count) => this.#texts.count(rule, count), boundTime, isLate, linearEngine },
      );
    }
    return this.#ofNumbers;
  }

  #maskNumber(value: number): unknown {
    if (!Number.isInteger(value) || Math.abs(value) < LEAST_NUMBER) return value;
    const text = String(value);
    const masked = this.#rulesOfNumbers.mask(text);
    if (masked === text) return value;
    for (const finding of this.#options.onFind ? this.#texts.find(text) : []) this.#options.onFind?.(finding);
    return masked;
  }

  /** Searches a string in each of the contexts that it has, and by itself. */
  #maskField(text: string, contexts: readonly (FieldContext | undefined)[]): string {
    // As in a line: what is found behind a key would be cut out of it.
    const hidden = this.#texts.maskHidden(text);
    if (hidden !== undefined) return hidden;
    let masked = this.#maskBehindAny(text, contexts);
    // NULs can also hide a secret that is one only behind its key: such a value is masked without its NULs.
    if (masked === undefined && text.includes('\0')) {
      masked = this.#maskBehindAny(text.replaceAll('\0', ''), contexts);
    }
    if (masked === undefined) return this.#texts.mask(text);
    // Mostly it is the name of a rule now.
    if (this.#clean.has(masked)) return masked;
    const { onFind } = this.#options;
    // Places in a string that is masked already are none in the original one.
    const again = this.#texts.mask(
      masked,
      onFind && (({ rule }) => onFind({ rule, start: 0, end: text.length })),
    );
    if (again === masked) this.#rememberClean(masked);
    return again;
  }

  #rememberClean(text: string): void {
    if (text.length > LONGEST_CLEAN) return;
    if (this.#clean.size >= MOST_CLEAN) this.#clean.clear();
    this.#clean.add(text);
  }

  /** A value as rules mask it in the first context in which they do. */
  #maskBehindAny(text: string, contexts: readonly (FieldContext | undefined)[]): string | undefined {
    let masked: string | undefined;
    for (const context of contexts) masked ??= context && this.#maskBehind(text, context);
    return masked;
  }

  /** A value as rules mask it in its context; undefined if they leave it. */
  #maskBehind(written: string, { before, after }: FieldContext): string | undefined {
    const texts = this.#texts;
    const value = texts.renderer.needs(written) ? texts.renderer.render(written) : written;
    const isEscaped = after === '"' && NEEDS_ESCAPE.test(value);
    const inJson = isEscaped ? escaped(value) : value;
    const text = before + inJson + after;
    const { result, counts } = texts.attempt(text, isEscaped);
    if (result === text) return undefined;
    let masked: string | undefined;
    if (result.startsWith(before) && result.endsWith(after)) {
      const inner = result.slice(before.length, result.length - after.length);
      masked = isEscaped ? unescaped(inner) : after === '"' ? inner : withoutQuotes(inner);
    } else if (texts.attempt(before, isEscaped).result + inJson + after === result) {
      // Only the key itself has a secret.
      return undefined;
    }
    if (masked !== undefined) {
      for (const [rule, count] of counts) texts.count(rule, count);
      this.#reportBehind(text, before.length, value, isEscaped);
      return masked;
    }
    // A rule has replaced more than the value.
    const [[rule] = ['']] = counts;
    texts.count(rule, 1);
    this.#options.onFind?.({ rule, start: 0, end: value.length });
    return this.#options.replace(value, rule);
  }

  /** @param from where the value is in a text */
  #reportBehind(text: string, from: number, value: string, isEscaped: boolean): void {
    const { onFind } = this.#options;
    if (onFind === undefined) return;
    const last = value.length;
    for (const { rule, start, end } of this.#texts.findByRules(text, isEscaped)) {
      if (end <= from) continue;
      if (isEscaped) onFind({ rule, start: 0, end: last });
      else onFind({ rule, start: Math.max(start - from, 0), end: Math.min(end - from, last) });
    }
  }
}

/** The mask of a number is a string of JSON in a text, and a string in an event. */
const withoutQuotes = (text: string): string => (/^".*"$/s.test(text) ? text.slice(1, -1) : text);

/** `data.log`, for a field at any depth. Items of an array have the path of their array. */
export function pathOf(key: string | undefined, within: Field | undefined): string {
  const keys = key === undefined ? [] : [key];
  for (let field = within; field !== undefined; field = field.within) keys.unshift(field.key);
  return keys.join('.');
}
