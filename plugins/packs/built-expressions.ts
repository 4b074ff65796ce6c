import { compileExpression, type Notation } from '../../operators/index.ts';
import {
  betweenOf,
  costOf,
  firstBeyondSpace,
  firstUnits,
  lengthOf,
  neededCharacter,
  neededPart,
  type Pattern,
  parseExpression,
  type UnitSet,
} from '../../operators/internal-masks.ts';
import type { BuiltExpression, WrittenPack } from './pack-schema.ts';

/** What is to be known of the expressions of rules, by the names of the rules. */
export function expressionsOf(rules: WrittenPack['rules']): Record<string, BuiltExpression> {
  return Object.fromEntries(
    Object.entries(rules).flatMap(([rule, written]) => {
      if (!('match' in written)) return [];
      const { match, keywords } = written;
      const { source, flags } = compileExpression(match);
      const expression = new RegExp(source, flags.replace('g', ''));
      const { ambiguity, degree, factor } = costOf(expression);
      if (ambiguity !== undefined || !Number.isFinite(degree)) return [];
      const part = neededPart(expression, keywords);
      const built: BuiltExpression = {
        degree,
        factor,
        character: neededCharacter(expression, keywords),
        part: part && { source: part.source, flags: part.flags },
      };
      return [[rule, built]];
    }),
  );
}

/** The characters of ASCII with which a notation can go on after a key, at once and after white space: see `Notation`. */
export function startsOf(notation: { readonly form: string }): Pick<Notation, 'starts' | 'startsAfterSpace'> {
  const parsed = parseExpression(betweenOf(notation));
  if (parsed === undefined) return {};
  const pattern = withLookAheads(parsed.pattern);
  if (lengthOf(pattern).min === 0) return {};
  const beyond = firstBeyondSpace(pattern);
  return {
    starts: asciiOf(firstUnits(pattern)),
    startsAfterSpace: beyond.isPassed ? undefined : asciiOf(beyond.units),
  };
}

/** What has to follow stands for itself, up to the end of the first one: nothing is known of what follows that. */
function withLookAheads(pattern: Pattern): Pattern {
  const items = pattern.kind === 'sequence' ? pattern.items : [pattern];
  const at = items.findIndex((item) => item.kind === 'look' && !item.behind && !item.negative);
  const look = items[at];
  if (look?.kind !== 'look' || lengthOf({ kind: 'sequence', items: items.slice(0, at) }).max > 0)
    return pattern;
  return look.inside;
}

const asciiOf = ({ ascii }: UnitSet): string =>
  [...ascii].map((bit, unit) => (bit === 1 ? String.fromCharCode(unit) : '')).join('');
