import { type Exact, exactTexts } from './exact-texts.ts';
import type { LeadingRun } from './literal-finders.ts';
import { itemsOf, type Literal, type LiteralSet } from './literals.ts';
import { firstUnits, lengthOf } from './measure.ts';
import type { ParsedExpression, Pattern } from './pattern.ts';
import { UnitSet } from './unit-set.ts';
import { WORD } from './word.ts';

const MOST_TEXTS = 6;

/** The ways in which an expression begins with a repeated character, and then with one of some literals. */
export function leadingRuns({
  pattern,
  hasReferences,
}: ParsedExpression): { set: LiteralSet; run: LeadingRun }[] {
  // What a reference takes depends on where the match starts.
  if (hasReferences) return [];
  const items = itemsOf(pattern);
  const at = items.findIndex((item) => lengthOf(item).max > 0);
  const leading = items[at];
  if (leading === undefined) return [];
  const run = repeated(leading);
  if (run === undefined) return [];
  const conditions = items.slice(0, at);
  return [1, MOST_TEXTS].flatMap((most) => {
    const starts = textsAtStart(unrolled(items.slice(at + 1)), most);
    if (starts === undefined) return [];
    const { set, rest } = starts;
    if (set.literals.some(({ text }) => begins(text, run.units, set.lowered))) return [];
    const hasConditions = !conditions.every((item) => holdsOnlyAtEdge(item, run));
    return [{ set, run: { ...run, hasConditions, ...whatFollows(set, rest) } }];
  });
}

/** What a literal must have behind it; at the end of a text there is no character, so it must be one. */
function whatFollows({ literals }: LiteralSet, rest: Pattern): Pick<LeadingRun, 'after' | 'literalLength'> {
  const [first] = literals as [Literal];
  const isKnown = literals.length === 1 && lengthOf(rest).min > 0;
  return isKnown
    ? { after: firstUnits(rest), literalLength: first.text.length }
    : { after: UnitSet.all, literalLength: 0 };
}

type Run = Pick<LeadingRun, 'units' | 'min' | 'max'>;

function repeated(pattern: Pattern): Run | undefined {
  if (pattern.kind !== 'repetition' || pattern.item.kind !== 'character') return undefined;
  const { item, min, max } = pattern;
  return item.mayBeTwo ? undefined : { units: item.units, min, max };
}

/** With the first round of a repetition written out: `(\.\d+){3}` begins with a dot. */
function unrolled(items: readonly Pattern[]): readonly Pattern[] {
  const [first, ...others] = items;
  if (first?.kind !== 'repetition' || first.min === 0 || lengthOf(first).max === 0) return items;
  const { item, min, max } = first;
  return unrolled([...itemsOf(item), { ...first, min: min - 1, max: max - 1 }, ...others]);
}

/** The texts that a sequence begins with. */
function textsAtStart(
  items: readonly Pattern[],
  most: number,
): { set: LiteralSet; rest: Pattern } | undefined {
  let found: Exact | undefined;
  let taken = 0;
  for (let end = 1; end <= items.length; end++) {
    const longer = exactTexts({ kind: 'sequence', items: items.slice(0, end) }, most);
    if (longer === undefined) break;
    found = longer;
    taken = end;
  }
  if (found === undefined || found.texts.includes('')) return undefined;
  const offset = { min: 0, max: Number.POSITIVE_INFINITY };
  const literals = found.texts.map((text) => ({ text, offset }));
  return { set: { literals, lowered: found.lowered }, rest: { kind: 'sequence', items: items.slice(taken) } };
}

function begins(text: string, units: UnitSet, lowered: boolean): boolean {
  const first = text[0] as string;
  return units.has(first.charCodeAt(0)) || (lowered && units.has(first.toUpperCase().charCodeAt(0)));
}

/** Whether a condition cannot hold between two characters of a run, so that only its first position is left. */
function holdsOnlyAtEdge(item: Pattern, { units, min }: Run): boolean {
  if (item.kind === 'edge') {
    if (item.edge === 'start') return true;
    return item.edge === 'boundary' && min > 0 && (units.isWithin(WORD) || !units.intersects(WORD));
  }
  if (item.kind !== 'look' || !item.behind || !item.negative) return false;
  const { inside } = item;
  return inside.kind === 'character' && !inside.mayBeTwo && units.isWithin(inside.units);
}
