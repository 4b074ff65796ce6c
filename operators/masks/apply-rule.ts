import type { MaskRule } from './mask-rule.ts';
import { afterEmpty, type Finder, finderOf, type SearchObserver } from './search/finder.ts';
import { hasKeyword } from './search/keyword.ts';

/** What applying a rule asks of it. */
type AppliedRule = Pick<MaskRule, 'accepts' | 'finder' | 'fixed' | 'locate' | 'replace'> & {
  readonly expression?: RegExp | undefined;
};

/** Observes how a rule is applied. */
export interface RuleObserver extends SearchObserver {
  /** Called before a check or a replacement of the rule, which may use the same mask. */
  beforeCall?(): void;
  /** Called for each value that is replaced, from the left to the right. */
  replaced(start: number, end: number, replacement: string): void;
}

/**
 * Applies one rule to a string: candidates, match, check, replace. The finder goes from candidate to candidate, which are
 * the places where a literal or a run of the expression stands, and returns those where the expression matches. Each value
 * in a match is checked, and replaced if it passes.
 *
 * Every mask replaces values by this function, except for lines in bytes: a rule that replaces whole matches without a
 * check is applied to those by WebAssembly, which makes the main job faster by a third.
 *
 * @param finder chosen for each rule when it is compiled, because it depends only on the expression
 */
export function applyRule(text: string, rule: AppliedRule, finder: Finder, observer?: RuleObserver): string {
  let start = finder.next(text, 0, observer);
  if (start === -1) return text;
  const { accepts, finder: isRead, fixed, locate, replace } = rule;
  const calls = accepts !== undefined || fixed === undefined;
  const isUnicode = rule.expression?.unicode === true;
  let masked = '';
  let copied = 0;
  const searchFrom = searchAfterRejected(text, isUnicode);
  let next = 0;
  for (; start !== -1; start = finder.next(text, next, observer)) {
    // What is called may use the same mask, and the finder with it.
    const { end } = finder;
    next = end === start ? afterEmpty(text, end, isUnicode) : end;
    let hasReplaced = false;
    let searchesInside = false;
    for (const place of finder.values?.(text) ?? [{ start, end }]) {
      // A value inside another one is replaced with it.
      if (place.start < copied) continue;
      const value = text.slice(place.start, place.end);
      if (calls) observer?.beforeCall?.();
      const accepted = accepts?.(value, text, place.start, place) ?? true;
      // Another name may stand in what is no value of this one, and between a name and a value that is apart from it.
      if (isRead ? accepted === true && !place.key?.isApart : locate) {
        next = Math.max(next, accepted === true ? place.end : (place.first?.end ?? place.end));
      } else if (isRead && place.end > next) next = searchFrom(next - 1, place.end);
      if (accepted === 'search-inside') searchesInside = true;
      if (accepted !== true) continue;
      const replacement = fixed ?? replace(value, text, place.start);
      masked += text.slice(copied, place.start) + replacement;
      copied = place.end;
      hasReplaced = true;
      observer?.replaced(place.start, place.end, replacement);
    }
    if (searchesInside && !hasReplaced) next = searchFrom(start, end);
  }
  return copied === 0 ? text : masked + text.slice(copied);
}

/**
 * Applies the rules one after the other, each to the result of the one before it. This is what every faster search is
 * compared with.
 */
export function applyRulesInOrder(text: string, rules: readonly MaskRule[]): string {
  const lower = text.toLowerCase();
  let masked = text;
  for (const rule of rules) {
    if (rule.keywords === undefined || rule.keywords.some((keyword) => hasKeyword(text, lower, keyword))) {
      masked = applyRule(masked, rule, finderOf(rule));
    }
  }
  return masked;
}

/** How many characters of rejected matches are searched again, for each character of a text. */
const MOST_SEARCHED_AGAIN = 16;

/**
 * Determines where in a text the search continues after a match whose values failed a check. A secret can start inside such a
 * match, as a card number does after other digits. The matches that are searched again have at most 16 times as many characters as the
 * text, so that the cost stays in proportion to its length. After that, rejected matches are passed over.
 *
 * @param unicode whether the expression has the flag `u`
 */
function searchAfterRejected(text: string, unicode: boolean): (start: number, end: number) => number {
  let left = MOST_SEARCHED_AGAIN * text.length;
  /** The position to go on at, which is after the start of the match. */
  return (start, end) => {
    if (end - start > left) return end;
    left -= end - start;
    return afterEmpty(text, start, unicode);
  };
}
