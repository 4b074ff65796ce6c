import { type MonoTypeOperatorFunction, map } from 'rxjs';
import { type ByteMask, byteMasks, type MaskInBytes } from './bytes/byte-masks.ts';
import { assertKnownOptions, assertTexts } from './check-options.ts';
import { type LinesMasker, LONGEST_TEXT, type Masks } from './lines-masker.ts';
import { type Masker, maskerOf } from './mask-event.ts';
import type { MaskText } from './mask-strings.ts';
import { compileExpression } from './python-regex.ts';
import { type Cost, costOf } from './regex/cost.ts';
import { JoinedGates } from './regex/joined-gates.ts';
import {
  type LinesPlan,
  type Plan,
  plainSearch,
  plainSearchOfLines,
  planSearch,
  planSearchOfLines,
} from './regex/plan.ts';
import { REPLACEMENT_OPTIONS, Replacement, type ReplacementOptions } from './replacement.ts';

export interface RegexMaskOptions extends ReplacementOptions {
  /**
   * Rule names and their regular expressions, applied in this order; later rules see what earlier ones left.
   * (JavaScript puts keys that are whole numbers first, in ascending order.)
   */
  readonly rules: Readonly<Record<string, string>>;
  /** Called after a text in which `rule` masked `count` matches, at least one. */
  readonly onMask?: ((rule: string, count: number) => void) | undefined;
  /**
   * Runs what may take more than a moment: the masking of a text so long that backtracking over it could take
   * time in proportion to a power of its length. It may throw. Without it, nothing bounds that time. `rule` gives the
   * rule that was begun last, or an empty text.
   */
  readonly boundTime?: ((mask: () => string, length: number, rule: () => string) => string) | undefined;
}

const OPTIONS = ['rules', 'onMask', 'boundTime', ...REPLACEMENT_OPTIONS];

interface Rule extends Plan {
  readonly name: string;
  readonly replacement: Replacement;
}

/**
 * A mask that replaces every match of its rules: by prefix + rule name + suffix, or by `mask_char` once per
 * character. An empty match masks nothing. Works on a text, or on all text of an event: see `maskEvent`.
 *
 * @throws ExpressionError for a rule that is no regular expression, naming the rule.
 * @throws TypeError for an option that is not known, and for rules that are not strings.
 * @throws RangeError if `mask_char` is not exactly one character.
 *
 * @example
 * const mask = regexMasker({ rules: { PIN: '[0-9]{4}' } });
 * mask('my pin is 1234'); // 'my pin is <:PIN:>'
 * mask({ data: { pins: ['1234'] } }); // { data: { pins: ['<:PIN:>'] } }
 */
export function regexMasker(options: RegexMaskOptions): Masker {
  return regexMasks(options).mask;
}

/** {@link regexMasker}, and the same for many lines, if it can be said for them. */
export function regexMasks(options: RegexMaskOptions): Masks {
  assertKnownOptions('regexMasker', options, OPTIONS);
  assertTexts('rules', options.rules, "{ PIN: '[0-9]{4}' }");
  const { onMask, boundTime } = options;
  const names = Object.keys(options.rules);
  const expressions = names.map((name) => compileExpression(options.rules[name] as string, name));
  const replacements = names.map((name) => new Replacement(name, options));
  const rulesOf = (plans: readonly Plan[]): readonly Rule[] =>
    plans.map((plan, i) => ({
      ...plan,
      name: names[i] as string,
      replacement: replacements[i] as Replacement,
    }));
  let rules: readonly Rule[] | undefined;
  const planned = () => {
    rules ??= rulesOf(expressions.map(planSearch));
    return rules;
  };
  const maskShort = fewFirst(applyRules(rulesOf(expressions.map(plainSearch)), onMask), () =>
    applyRules(planned(), onMask),
  );
  let maskLong: MaskText | undefined;
  const costs = expressions.map(costOf);
  const harmless = Math.min(...costs.map(harmlessLength));
  return {
    mask: maskerOf((text) => {
      if (text.length <= harmless) return maskShort(text);
      maskLong ??=
        boundTime === undefined ? applyRules(planned(), onMask) : maskAtOnce(planned(), onMask, boundTime);
      return maskLong(text);
    }),
    many: () => {
      const limits = harmlessLines(costs);
      const plain = expressions.map(plainSearchOfLines);
      if (limits === undefined || !plain.every((search) => search !== undefined)) return undefined;
      if (!replacements.every(({ staysInLine }) => staysInLine)) return undefined;
      const map = fewFirst(maskAtOnce(rulesOf(plain), onMask), () => {
        const plans = expressions.flatMap((expression) => planSearchOfLines(expression) ?? []);
        const inText = maskAtOnce(rulesOf(plans), onMask);
        let inBytes: MaskInBytes | 'none' | undefined;
        return (text) => {
          if (text.length < SHORTEST_IN_BYTES) return inText(text);
          inBytes ??= maskInBytes(names, plans, replacements) ?? 'none';
          return (inBytes === 'none' ? undefined : inBytes(text, onMask)) ?? inText(text);
        };
      });
      return { ...limits, map };
    },
  };
}

/** Leaves the first texts to the engine's own searches: the first event need not wait until better ones are planned. */
function fewFirst(few: MaskText, planned: () => MaskText): MaskText {
  let left = FEW_TEXTS;
  let mask: MaskText | undefined;
  return (text) => {
    if (left > 0) {
      left--;
      return few(text);
    }
    mask ??= planned();
    return mask(text);
  };
}
const FEW_TEXTS = 10;

/** Characters: who masks no longer texts need not wait for WebAssembly, which takes some milliseconds to begin. */
const SHORTEST_IN_BYTES = 8192;

/** The same mask for texts of ASCII, if all rules can be had so. */
function maskInBytes(
  names: readonly string[],
  plans: readonly LinesPlan[],
  replacements: readonly Replacement[],
): MaskInBytes | undefined {
  const rules: ByteMask[] = [];
  for (const [i, { bytes }] of plans.entries()) {
    const { fixed } = replacements[i] as Replacement;
    if (bytes === undefined || fixed === undefined || !isAscii(fixed)) return undefined;
    rules.push({ name: names[i] as string, replacement: fixed, ...bytes });
  }
  return byteMasks(rules);
}

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

type Within = NonNullable<RegexMaskOptions['boundTime']>;

/**
 * A mask that tells what was masked only when nothing can fail any more: the text may be masked again. Apart, so that
 * others need not note which rule was begun.
 *
 * @param within runs it, once or several times.
 */
function maskAtOnce(
  rules: readonly Rule[],
  onMask: RegexMaskOptions['onMask'],
  within: Within = (mask) => mask(),
): MaskText {
  let begun = '';
  const counts: [rule: string, count: number][] = [];
  const apply = applyRules(
    rules,
    (...count) => counts.push(count),
    (rule) => {
      begun = rule;
    },
  );
  const rule = () => begun;
  return (text) => {
    begun = '';
    const mask = () => {
      counts.length = 0;
      return apply(text);
    };
    const masked = within(mask, text.length, rule);
    for (let i = 0; i < counts.length; i++) onMask?.(...(counts[i] as [string, number]));
    return masked;
  };
}

function applyRules(
  rules: readonly Rule[],
  onMask: RegexMaskOptions['onMask'],
  begin?: (rule: string) => void,
): (text: string) => string {
  const gates = new JoinedGates(rules);
  return (text) => {
    let masked = text;
    gates.reset();
    for (let i = 0; i < rules.length; i++) {
      if (gates.reject(i, masked)) continue;
      const rule = rules[i] as Rule;
      if (rule.literal !== '' && !masked.includes(rule.literal)) continue;
      begin?.(rule.name);
      const before = masked;
      masked = applyRule(rule, before, onMask);
      if (masked !== before) gates.reset();
    }
    return masked;
  };
}

/** What an engine does in less than a second. */
const HARMLESS_STEPS = 5e7;

/** Up to how many characters an expression takes less than a second at worst. */
function harmlessLength({ degree, factor }: Cost): number {
  return (HARMLESS_STEPS / factor) ** (1 / degree);
}

/** So many lines of the greatest length are in the longest text: a few at least. */
const FEWEST_LINES = 8;
/** What is shorter is not worth it. */
const SHORTEST_LINE = 100;

/** For which lines an expression takes less than a second at worst. */
function harmlessLines(costs: readonly Cost[]): Omit<LinesMasker, 'map'> | undefined {
  const maxLineLength = Math.floor(
    Math.min(
      LONGEST_TEXT / FEWEST_LINES,
      ...costs.map(({ degree, factor }) => (HARMLESS_STEPS / factor / FEWEST_LINES) ** (1 / degree)),
    ),
  );
  if (maxLineLength < SHORTEST_LINE) return undefined;
  const ofLines = costs.map(
    ({ degree, factor }) => HARMLESS_STEPS / factor / maxLineLength ** Math.max(0, degree - 1),
  );
  return { maxLineLength, maxLength: Math.min(LONGEST_TEXT, ...ofLines) };
}

/** Allocates nothing for a text without a match, and counts on the way. */
function applyRule(
  { name, finder, replacement }: Rule,
  text: string,
  onMask: RegexMaskOptions['onMask'],
): string {
  let start = finder.next(text, 0);
  if (start === -1) return text;
  let masked = '';
  let copied = 0;
  let count = 0;
  for (; start !== -1; start = finder.next(text, copied)) {
    masked += text.slice(copied, start) + replacement.of(text, start, finder.end);
    copied = finder.end;
    count++;
  }
  onMask?.(name, count);
  return masked + text.slice(copied);
}

/**
 * {@link regexMasker} as an operator: texts or events in, the same type out. What cannot be masked is an error
 * notification, never a value.
 *
 * @example
 * of('call 0123').pipe(regexMask({ rules: { PHONE: '[0-9]+' } })); // 'call <:PHONE:>'
 */
export function regexMask<T extends string | object>(options: RegexMaskOptions): MonoTypeOperatorFunction<T> {
  const mask = regexMasker(options);
  return map((value: T) => mask(value));
}
