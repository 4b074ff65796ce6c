import { type MonoTypeOperatorFunction, map } from 'rxjs';
import { assertKnownOptions, assertTexts } from './check-options.ts';
import { type Masker, maskerOf } from './mask-event.ts';
import { compileExpression } from './python-regex.ts';
import { costOf } from './regex/cost.ts';
import { JoinedGates } from './regex/joined-gates.ts';
import { type Plan, planSearch } from './regex/plan.ts';
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
   * time in proportion to a power of its length. It may throw. Without it, nothing bounds that time.
   */
  readonly boundTime?: ((mask: () => string, length: number) => string) | undefined;
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
  assertKnownOptions('regexMasker', options, OPTIONS);
  assertTexts('rules', options.rules, "{ PIN: '[0-9]{4}' }");
  const { onMask, boundTime } = options;
  const expressions = Object.entries(options.rules).map(([name, source]) => compileExpression(source, name));
  const plans = expressions.map(planSearch);
  const gates = new JoinedGates(plans);
  const rules: Rule[] = Object.keys(options.rules).map((name, i) => ({
    name,
    ...(plans[i] as Plan),
    replacement: new Replacement(name, options),
  }));
  const maskText = (text: string): string => {
    let masked = text;
    gates.reset();
    for (let i = 0; i < rules.length; i++) {
      if (gates.reject(i, masked)) continue;
      const rule = rules[i] as Rule;
      if (rule.literal !== '' && !masked.includes(rule.literal)) continue;
      const before = masked;
      masked = applyRule(rule, before, onMask);
      if (masked !== before) gates.reset();
    }
    return masked;
  };
  if (boundTime === undefined) return maskerOf(maskText);
  const harmless = Math.min(...expressions.map(harmlessLength));
  return maskerOf((text) =>
    text.length > harmless ? boundTime(() => maskText(text), text.length) : maskText(text),
  );
}

/** What an engine does in less than a second. */
const HARMLESS_STEPS = 5e7;

/** Up to how many characters an expression takes less than a second at worst. */
function harmlessLength(expression: RegExp): number {
  const { degree, factor } = costOf(expression);
  return (HARMLESS_STEPS / factor) ** (1 / degree);
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
