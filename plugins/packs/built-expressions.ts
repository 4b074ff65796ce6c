import { compileExpression } from '../../operators/index.ts';
import {
  betweenOf,
  costOf,
  firstUnits,
  lengthOf,
  neededCharacter,
  neededPart,
  parseExpression,
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

/** The characters of ASCII with which a notation can go on after a key. Undefined if it may be nothing. */
export function startsOf(notation: { readonly form: string }): string | undefined {
  const parsed = parseExpression(betweenOf(notation));
  if (parsed === undefined || lengthOf(parsed.pattern).min === 0) return undefined;
  const units = firstUnits(parsed.pattern);
  return Array.from({ length: 128 }, (_, unit) => (units.has(unit) ? String.fromCharCode(unit) : '')).join(
    '',
  );
}
