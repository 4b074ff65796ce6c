import { applyRule } from '../apply-rule.ts';
import type { MaskRule } from '../mask-rule.ts';
import { finderOf } from '../search/finder.ts';
import { hasKeyword } from '../search/keyword.ts';

/** Where a rule found a value, in UTF-16 units of the original string. */
export interface Finding {
  readonly rule: string;
  readonly start: number;
  readonly end: number;
  /** The field that holds the string, if it is one of an event: `user.email`. Keys that may be content are `*`. */
  readonly field?: string | undefined;
}

/** A part of the current string that replaces a part of the original one. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

interface Span {
  readonly rule: string;
  readonly start: number;
  readonly end: number;
  /** The length of what replaces it. */
  readonly length: number;
}

/**
 * Says what rules replace, each in the result of the one before it, and where it was in the original string. It is slower than masking, so it
 * is meant for strings that masking has changed.
 *
 * @param nameOf the name under which a value is reported; the rule's own by default.
 */
export function findValues(
  text: string,
  rules: readonly MaskRule[],
  nameOf: (rule: MaskRule) => string = ({ name }) => name,
): Finding[] {
  const lower = text.toLowerCase();
  const findings: Finding[] = [];
  let current = text;
  let edits: readonly Edit[] = [];
  for (const rule of rules) {
    if (rule.keywords?.some((keyword) => hasKeyword(text, lower, keyword)) === false) continue;
    const spans: Span[] = [];
    const next = applyRule(current, rule, finderOf(rule), {
      replaced: (start, end, { length }) => spans.push({ rule: nameOf(rule), start, end, length }),
    });
    if (spans.length === 0) continue;
    for (const span of spans) {
      findings.push({
        rule: span.rule,
        start: toOriginal(span.start, edits, 'from'),
        end: toOriginal(span.end, edits, 'to'),
      });
    }
    edits = afterReplacing(spans, edits);
    current = next;
  }
  return findings.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** A position in the current string as one in the original. Inside an edit, it is the end of the edit that is given. */
function toOriginal(position: number, edits: readonly Edit[], side: 'from' | 'to'): number {
  // The last edit that starts in front of the position.
  let low = 0;
  for (let high = edits.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((edits[middle] as Edit).start < position) low = middle + 1;
    else high = middle;
  }
  const edit = edits[low - 1];
  if (edit === undefined) return position;
  return position < edit.end ? edit[side] : position + edit.to - edit.end;
}

/** The edits of the string in which these spans have been replaced. A span and the edits that it touches become one. */
function afterReplacing(spans: readonly Span[], edits: readonly Edit[]): Edit[] {
  const parts = [
    ...edits.map((edit) => ({ ...edit, growth: 0 })),
    ...spans.map(({ start, end, length }) => ({
      start,
      end,
      growth: length - (end - start),
      from: toOriginal(start, edits, 'from'),
      to: toOriginal(end, edits, 'to'),
    })),
  ].sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: typeof parts = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (last === undefined || part.start >= last.end) {
      merged.push({ ...part });
      continue;
    }
    last.end = Math.max(last.end, part.end);
    last.growth += part.growth;
    last.from = Math.min(last.from, part.from);
    last.to = Math.max(last.to, part.to);
  }
  let shift = 0;
  return merged.map(({ start, end, growth, from, to }) => {
    const edit = { start: start + shift, end: end + shift + growth, from, to };
    shift += growth;
    return edit;
  });
}
