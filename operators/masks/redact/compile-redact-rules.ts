import { argumentError } from '../../support/check-options.ts';
import { CHECKS, CHECKS_OF_KEYED_VALUES, type Check } from '../checks/index.ts';
import { type IsAddition, isPlaceholderAt, ownMasks } from '../checks/placeholders.ts';
import { DEFAULT_ALPHABET, EntropyMeter } from '../entropy-index.ts';
import type { Cost } from '../expression/cost.ts';
import { boundedTest, type LinearEngine, lazily } from '../expression/linear-engine.ts';
import { inQuotes } from '../json-lines.ts';
import { endOfBare } from '../keyed/bare-value.ts';
import { compileKeyedRule } from '../keyed/keyed-finder.ts';
import { isQuote, literalAt } from '../keyed/literal.ts';
import { itemsBelow, VALUE_KEY_IN_TEXT, valuesBelow, valuesBeside } from '../keyed/object-fields.ts';
import type { KeyedRule } from '../keyed/vocabulary.ts';
import type { MaskRule, Place } from '../mask-rule.ts';
import { compileExpression, ExpressionError } from '../python-regex.ts';
import { NO_EXPRESSION } from '../search/finder.ts';
import { keyMatcher } from './key-patterns.ts';
import { type AnyRule, type Confidence, isKeyed, type RedactRule, type RuleCheck } from './redact-rule.ts';

/** What is known of an expression before it is compiled. */
interface KnownExpression {
  readonly cost: Cost;
  readonly character?: string | undefined;
  /** What `part` of {@link MaskRule} is made of. */
  readonly part?: { readonly source: string; readonly flags: string } | undefined;
}

/** Expressions that are known to be valid, as those of the packs: they are compiled when their rule is first tried. */
export const knownExpressions = new Map<string, KnownExpression>();

/** Replaces a value that the rule of this id has found. */
export type ReplaceValue = (value: string, id: string) => string;

interface CompileRedactRulesOptions {
  /** Rules with a lower confidence are left out. */
  readonly confidence: Confidence;
  /** Expressions for values that no rule masks. */
  readonly allowedValues: readonly string[];
  /** Keys, and patterns of keys, whose values no rule masks, where the text has the form of a key and a value. */
  readonly allowedKeys: readonly string[];
  readonly replace: ReplaceValue;
  /** What `replace` adds to names of rules: `1111` of `<:card:1111:>`. Nothing by default. */
  readonly isAddition?: IsAddition | undefined;
  /** Whether a text is a mask by another name than that of a rule: `<:EMAIL_1:>`. None is by default. */
  readonly isMask?: ((mask: string) => boolean) | undefined;
  /** Undefined: the entropy rule is on at low confidence. */
  readonly entropy?: EntropyRuleOptions | false | undefined;
  readonly linearEngine?: LinearEngine | undefined;
}

/** How the entropy rule finds tokens that look random. */
export interface EntropyRuleOptions {
  /** The lowest index of tokens that are masked, in [0, 1]. 0.9 by default. */
  readonly threshold?: number | undefined;
  /** The lowest length of tokens that are masked, in characters, at least 2. 16 by default. */
  readonly length?: number | undefined;
  /** The characters that separate tokens, in addition to white space. Brackets and ``,;:&=?|<>`` by default. */
  readonly delimiters?: string | undefined;
  /** Characters to trim from both ends of a token. Quotes and ``.!`` by default. */
  readonly trim?: string | undefined;
}

export const ENTROPY_RULE = 'high-entropy';
/** The rule of lines that look like the rest of a block whose start was not read. */
export const KEY_FRAGMENT = 'key-fragment';
/** Rules that are of no pack. */
export const OTHER_RULES: readonly string[] = [ENTROPY_RULE, KEY_FRAGMENT];

const LEVELS: readonly Confidence[] = ['low', 'medium', 'high'];

/** `password` of `secrets/context:password`: what masks show. */
export const nameOfRule = (id: string): string => id.slice(id.indexOf(':') + 1);

/** What is known of values before a rule looks at them: placeholders and allowed values are not masked. */
export function valueFilter(
  allowedValues: readonly string[],
  engine?: LinearEngine | undefined,
): (value: string, isSecret: boolean, text?: string, start?: number, isKeyed?: boolean) => boolean {
  const isAllowed = allowedBy(allowedValues, engine);
  return (value, isSecret, text = value, start = 0, isKeyed = false) =>
    !isPlaceholderAt(value, isSecret, text, start, isKeyed) && !isAllowed(value);
}

/** A value that is too long for one of the expressions is not allowed by it, so it is masked. */
function allowedBy(
  sources: readonly string[],
  engine: LinearEngine | undefined,
  id?: string,
): (value: string) => boolean {
  const tests = sources.map((source) => boundedTest(withoutGlobal(compileExpression(source, id)), engine));
  return (value) => tests.some((test) => test(value));
}

/**
 * Compiles rules for the engine, in the order in which they are applied: blocks come first, because a rule that takes a
 * part of a block would hide its start.
 *
 * @throws ExpressionError for a rule that is not a regular expression, TypeError for an unknown check or group.
 */
export function compileRedactRules(
  rules: Readonly<Record<string, AnyRule>>,
  options: CompileRedactRulesOptions,
): MaskRule[] {
  const least = LEVELS.indexOf(options.confidence);
  const isMaskable = valueFilter(options.allowedValues, options.linearEngine);
  const hasAllowedKey = keyFilter(options.allowedKeys);
  const ids = [...Object.keys(rules), ...OTHER_RULES];
  const context: RuleContext = {
    least,
    isInMask: ownMasks(
      new Set([...ids, ...ids.map(nameOfRule)]),
      options.isAddition ?? (() => false),
      options.isMask,
    ),
    isMaskable: (value, isSecret, text, start, isKeyed) =>
      !hasAllowedKey(text, start) && isMaskable(value, isSecret, text, start, isKeyed),
    replace: options.replace,
    linearEngine: options.linearEngine,
  };
  const compiled = Object.entries(rules)
    .map(([id, rule]) => ({
      id,
      rule: typeof rule === 'string' ? ({ match: rule } satisfies RedactRule) : rule,
    }))
    .sort((a, b) => Number(hasBlock(b.rule)) - Number(hasBlock(a.rule)))
    .flatMap(
      ({ id, rule }) => (isKeyed(rule) ? keyedRule(id, rule, context) : compileRule(id, rule, context)) ?? [],
    );
  const { entropy = least === 0 ? {} : false } = options;
  if (entropy !== false) compiled.push(entropyRule(entropy, context));
  return compiled;
}

const hasBlock = (rule: RedactRule | KeyedRule) => !isKeyed(rule) && rule.block !== undefined;

/** What rules share. */
interface RuleContext {
  /** The level of confidence that a rule needs. */
  readonly least: number;
  /** Whether a value is masked, as far as its rule does not decide. */
  readonly isMaskable: (
    value: string,
    isSecret: boolean,
    text: string,
    start: number,
    isKeyed: boolean,
  ) => boolean;
  /** Whether a value is a part of one of our own masks. */
  readonly isInMask: (value: string, text: string, start: number) => boolean;
  readonly replace: ReplaceValue;
  readonly linearEngine: LinearEngine | undefined;
}

/** The key in front of a value: `key=`, `"key": "`, `\"key\": \"`, `--key `, `<key>`. */
const KEY_BEFORE =
  /([\p{L}\p{N}_.-]{1,100})[>"'\\]{0,16}\s{0,4}(?:[=:]|\s)\s{0,4}["'\\]{0,16}$|<([\p{L}\p{N}_.-]{1,100})>$/u;
const LONGEST_KEY = 120;

function keyFilter(allowedKeys: readonly string[]): (text: string, start: number) => boolean {
  const isAllowed = keyMatcher(allowedKeys);
  return (text, start) => {
    if (allowedKeys.length === 0) return false;
    const match = KEY_BEFORE.exec(text.slice(Math.max(0, start - LONGEST_KEY), start));
    return match !== null && isAllowed(match[1] ?? match[2] ?? '');
  };
}

/** Undefined if the confidence of the rule is too low, even if its check passes. */
function compileRule(
  id: string,
  rule: RedactRule,
  { least, isMaskable, isInMask, replace, linearEngine }: RuleContext,
): MaskRule | undefined {
  const { check, isRaising, searchesInside, isKeyed } = compileCheck(id, rule.check);
  const level = LEVELS.indexOf(rule.confidence ?? 'high');
  const lacking = least - level;
  if (lacking > (isRaising ? 1 : 0)) return undefined;
  const expressions = lazily(() => ({
    match: withoutGlobal(compileExpression(rule.match, id)),
    isAllowed: allowedBy(rule.allow ?? [], linearEngine, id),
  }));
  const groups = [rule.mask ?? 0].flat();
  const known = knownExpressions.get(rule.match);
  const part = lazily(() => {
    if (rule.value === 'beside') return VALUE_KEY_IN_TEXT;
    return known?.part && new RegExp(known.part.source, known.part.flags);
  });
  if (known === undefined) {
    const last = groupsIn(expressions().match);
    const missing = groups.find((group) => group > last);
    if (missing !== undefined) {
      throw new ExpressionError(`mask: ${missing} is not a group of it; it has ${last}`, id);
    }
  }
  const isRequired = check !== undefined && (!isRaising || lacking > 0);
  // Rules of one's own, and rules about people, mean what they say: ada@example.com may be someone.
  // A block is no placeholder because of a few characters in it.
  const isSecret = id.startsWith('secrets/') && rule.block === undefined;
  const accepts = (value: string, text: string, start: number): boolean | 'search-inside' => {
    const passes = !isRequired || check(value, text, start);
    if (!passes && !searchesInside) return false;
    const isAllowed =
      !isMaskable(value, isSecret, text, start, isSecret && isKeyed) ||
      isInMask(value, text, start) ||
      expressions().isAllowed(value);
    // A part of an allowed value is no secret either.
    if (isAllowed) return false;
    return passes || 'search-inside';
  };
  return {
    name: id,
    get expression() {
      return expressions().match;
    },
    cost: known?.cost,
    character: known?.character,
    get part() {
      return part();
    },
    groups,
    ...(rule.keywords && { keywords: rule.keywords.map((keyword) => keyword.toLowerCase()) }),
    ...(rule.value && {
      locate: rule.value === 'groups' ? groupsThatPass(check ?? (() => true)) : LOCATE[rule.value],
    }),
    // What is joined to a value is masked with it, and can make a secret of it.
    accepts: (value, text, start, { first } = { start, end: start }) =>
      (first !== undefined && accepts(text.slice(first.start, first.end), text, first.start)) ||
      accepts(value, text, start),
    replace: (value, text, start) => inQuotes(replace(value, id), value, text, start),
  };
}

/** A search for names costs little for each character, and reads each value a few times at most. */
const COST_OF_NAMES: Cost = { degree: 1, factor: 10, ambiguity: undefined };

/** A rule for values after names, which code finds. Undefined if its confidence is too low. */
function keyedRule(
  id: string,
  rule: KeyedRule,
  { least, isMaskable, isInMask, replace }: RuleContext,
): MaskRule | undefined {
  if (LEVELS.indexOf(rule.confidence ?? 'high') < least) return undefined;
  const { keywords, finder, isGuarded } = compileKeyedRule(rule);
  // Words such as `example` may be parts of names and addresses.
  const isSecret = !id.startsWith('pii/');
  const accepts = (value: string, text: string, start: number, { key }: Place) =>
    key?.check?.(value, text, start) !== false &&
    isMaskable(value, isSecret, text, start, true) &&
    !isInMask(value, text, start) &&
    !(key !== undefined && isGuarded(value, text, start, key));
  return {
    name: id,
    expression: NO_EXPRESSION,
    finder,
    cost: COST_OF_NAMES,
    part: rule.needs === undefined ? undefined : new RegExp(rule.needs),
    groups: [],
    keywords,
    // What is joined to a value is masked with it, and can make a secret of it.
    accepts: (value, text, start, place = { start, end: start + value.length }) => {
      const { first } = place;
      if (first && accepts(text.slice(first.start, first.end), text, first.start, place)) return true;
      return accepts(value, text, start, place);
    },
    replace: (value, text, start) => inQuotes(replace(value, id), value, text, start),
  };
}

type Locate = NonNullable<MaskRule['locate']>;

const LOCATE: Readonly<Record<Exclude<NonNullable<RedactRule['value']>, 'groups'>, Locate>> = {
  literal: (text, start, end) => {
    const place = literalAt(text, start, end);
    return place === undefined ? [] : [place];
  },
  word: (text, start, end) => {
    const place = isQuote(text[start - 1])
      ? literalAt(text, start, end)
      : { start, end: Math.max(start + 1, endOfBare(text, start)) };
    return place === undefined ? [] : [place];
  },
  beside: valuesBeside,
  below: valuesBelow,
  items: itemsBelow,
};

/** As many groups of a number as pass the check: `BE68 5390 0754 7034` of `BE68 5390 0754 7034 EUR`. */
const groupsThatPass =
  (check: Check): Locate =>
  (text, start, end) => {
    for (let to = end; to > start; to = lastSeparator(text, start, to)) {
      if (check(text.slice(start, to), text, start)) return [{ start, end: to }];
    }
    return [{ start, end }];
  };

/** What is between groups of a number: also spaces that do not break. */
const SEPARATORS = ' -./\u00a0\u202f';

/** Where the last separator of groups between two places is, or the first of the places. */
function lastSeparator(text: string, start: number, end: number): number {
  let at = end - 1;
  while (at > start && !SEPARATORS.includes(text[at] as string)) at--;
  return at;
}

function compileCheck(
  id: string,
  written: RuleCheck | undefined,
): { check: Check | undefined; isRaising: boolean; searchesInside: boolean; isKeyed: boolean } {
  const rule = typeof written === 'string' ? { name: written } : written;
  const isKeyed = rule !== undefined && 'name' in rule && CHECKS_OF_KEYED_VALUES.has(rule.name);
  if (rule === undefined || rule.mode === 'off')
    return { check: undefined, isRaising: false, searchesInside: false, isKeyed };
  const isRaising = rule.mode === 'raise';
  if ('entropy' in rule) {
    return {
      check: (value) => bitsPerCharacter(value) >= rule.entropy,
      isRaising,
      searchesInside: true,
      isKeyed,
    };
  }
  if (!Object.hasOwn(CHECKS, rule.name)) {
    const known = Object.keys(CHECKS).join(', ');
    throw argumentError(
      TypeError,
      `the rule "${id}" has the check "${rule.name}", which does not exist; checks: ${known}`,
    );
  }
  return { check: CHECKS[rule.name], isRaising, searchesInside: !isKeyed, isKeyed };
}

/** The number of capturing groups. To ask the engine would compile the expression, which takes a millisecond. */
function groupsIn({ source }: RegExp): number {
  const plain = source.replace(/\\.|\[(?:\\.|[^\]\\])*\]/gs, 'x');
  return plain.match(/\((?!\?)|\(\?<(?![=!])/g)?.length ?? 0;
}

function withoutGlobal({ source, flags }: RegExp): RegExp {
  return new RegExp(source, flags.replace('g', ''));
}

/** Shannon's entropy of the characters of a value. */
export function bitsPerCharacter(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  const length = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...counts.values()].reduce((sum, count) => sum - (count / length) * Math.log2(count / length), 0);
}

function entropyRule(
  { threshold = 0.9, length = 16, delimiters = '()[]{},;:&=?|<>', trim = '"\'`.!' }: EntropyRuleOptions,
  { isMaskable, isInMask, replace }: RuleContext,
): MaskRule {
  const outside = escapeClass(delimiters);
  const edge = escapeClass(delimiters + trim);
  const meter = new EntropyMeter(DEFAULT_ALPHABET);
  return {
    name: ENTROPY_RULE,
    // A token without what is trimmed off its ends.
    expression: new RegExp(
      `(?<![^\\s${edge}])[^\\s${edge}][^\\s${outside}]{${Math.max(0, length - 2)},}(?<![\\s${edge}])`,
    ),
    groups: [0],
    accepts: (value, text, start) =>
      meter.canReach(threshold, value, 0, value.length) &&
      meter.index(value, 0, value.length, length) >= threshold &&
      !isInMask(value, text, start) &&
      isMaskable(value, true, text, start, false),
    replace: (value, text, start) => inQuotes(replace(value, ENTROPY_RULE), value, text, start),
  };
}

function escapeClass(characters: string): string {
  return characters.replace(/[\\\]^-]/g, '\\$&');
}
