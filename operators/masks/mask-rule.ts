import type { Cost } from './expression/cost.ts';

/** One rule of a mask: what it finds in a string, and what replaces it. */
export interface MaskRule {
  readonly name: string;
  /** Compiled, without the flags `g`, `y` and `d`. It is read when the rule is first tried. */
  readonly expression: RegExp;
  /** What the expression costs, where that is known. To work it out takes some milliseconds. */
  readonly cost?: Cost | undefined;
  /** The groups that are replaced, 0 for the whole match. A group that is empty or did not take part is passed over. */
  readonly groups: readonly number[];
  /**
   * ASCII substrings in lower case. The rule applies only to strings that contain one of them, in any case, before the
   * first rule has changed anything. Absent: the rule applies to every string.
   */
  readonly keywords?: readonly string[];
  /** Whether a value that was found is replaced. Absent: always. An error is a failure of the mask. */
  readonly accepts?: (value: string, text: string, start: number) => boolean;
  /** What replaces a value. */
  readonly replace: (value: string) => string;
  /** What `replace` returns, if that is the same for all values: then the rule can be applied faster. */
  readonly fixed?: string;
}

/**
 * Applies the rules one after the other, each to the result of the one before it. This is what every faster search is
 * compared with.
 */
export function applyRulesInOrder(text: string, rules: readonly MaskRule[]): string {
  const original = text.toLowerCase();
  let masked = text;
  for (const rule of rules) {
    if (rule.keywords === undefined || rule.keywords.some((keyword) => original.includes(keyword))) {
      masked = applyRule(masked, rule);
    }
  }
  return masked;
}

function applyRule(text: string, rule: MaskRule): string {
  const expression = new RegExp(rule.expression, `${rule.expression.flags}dg`);
  let masked = '';
  let end = 0;
  for (const match of text.matchAll(expression)) {
    const spans = rule.groups
      .map((group) => match.indices?.[group])
      .filter((span) => span !== undefined)
      .sort(([a], [b]) => a - b);
    for (const [from, to] of spans) {
      // A group inside another one is replaced with it.
      if (from < end || from === to) continue;
      const value = text.slice(from, to);
      if (rule.accepts?.(value, text, from) === false) continue;
      masked += text.slice(end, from) + rule.replace(value);
      end = to;
    }
  }
  return masked + text.slice(end);
}
