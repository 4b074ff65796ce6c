import { type MonoTypeOperatorFunction, map } from 'rxjs';
import { type Masker, maskerOf } from './mask-event.ts';
import { compileExpression } from './python-regex.ts';
import { Replacement, type ReplacementOptions } from './replacement.ts';

export interface RegexMaskOptions extends ReplacementOptions {
  /**
   * Rule names and their regular expressions, applied in this order; later rules see what earlier ones left.
   * (JavaScript puts keys that are whole numbers first, in ascending order.)
   */
  readonly rules: Readonly<Record<string, string>>;
  /** Called after a text in which `rule` masked `count` matches, at least one. */
  readonly onMask?: ((rule: string, count: number) => void) | undefined;
}

interface Rule {
  readonly name: string;
  readonly expression: RegExp;
  readonly replacement: Replacement;
}

/**
 * A mask that replaces every match of its rules: by prefix + rule name + suffix, or by `mask_char` once per
 * character. An empty match masks nothing. Works on a text, or on all text of an event: see `maskEvent`.
 *
 * @throws ExpressionError for a rule that is no regular expression, naming the rule.
 * @throws RangeError if `mask_char` is not exactly one character.
 *
 * @example
 * const mask = regexMasker({ rules: { PIN: '[0-9]{4}' } });
 * mask('my pin is 1234'); // 'my pin is <:PIN:>'
 * mask({ data: { pins: ['1234'] } }); // { data: { pins: ['<:PIN:>'] } }
 */
export function regexMasker(options: RegexMaskOptions): Masker {
  const { onMask } = options;
  const rules: Rule[] = Object.entries(options.rules).map(([name, source]) => ({
    name,
    expression: compileExpression(source, name),
    replacement: new Replacement(name, options),
  }));
  return maskerOf((text) => {
    let masked = text;
    for (let i = 0; i < rules.length; i++) masked = applyRule(rules[i] as Rule, masked, onMask);
    return masked;
  });
}

/** A loop of `exec`: as quick as `replace` with a fixed text, and it counts, skips empty matches, allocates no closure. */
function applyRule(rule: Rule, text: string, onMask: RegexMaskOptions['onMask']): string {
  const { expression, replacement } = rule;
  expression.lastIndex = 0;
  let match = expression.exec(text);
  if (match === null) return text;
  let masked = '';
  let end = 0;
  let count = 0;
  do {
    const start = match.index;
    const after = expression.lastIndex;
    if (after === start) {
      expression.lastIndex = next(text, expression);
    } else {
      masked += text.slice(end, start) + replacement.of(text, start, after);
      end = after;
      count++;
    }
    match = expression.exec(text);
  } while (match !== null);
  if (count === 0) return text;
  onMask?.(rule.name, count);
  return masked + text.slice(end);
}

/** The position after an empty match; with the `u` flag it must not fall into a surrogate pair. */
function next(text: string, { lastIndex, unicode }: RegExp): number {
  return lastIndex + (unicode && (text.codePointAt(lastIndex) ?? 0) > 0xffff ? 2 : 1);
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
