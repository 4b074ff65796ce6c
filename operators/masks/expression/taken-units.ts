import { type Pattern, parseExpression } from './pattern.ts';
import { UnitSet } from './unit-set.ts';

/** What separates values of JSON, or is written with a backslash in one. */
const BETWEEN_STRINGS = '"\\:,[]{}';

/** Whether a match of an expression can have something of several values of JSON, or of what is between them. */
export const mayCrossStrings = (expression: RegExp): boolean => mayTake(expression, BETWEEN_STRINGS);

/** Whether a match of an expression can have one of some characters of ASCII. */
export function mayTake(expression: RegExp, characters: string): boolean {
  const parsed = parseExpression(expression);
  return parsed === undefined || parsed.hasReferences || takesOneOf(parsed.pattern, UnitSet.of(characters));
}

function takesOneOf(pattern: Pattern, units: UnitSet): boolean {
  switch (pattern.kind) {
    case 'character':
      return pattern.units.intersects(units);
    case 'sequence':
      return pattern.items.some((item) => takesOneOf(item, units));
    case 'choice':
      return pattern.branches.some((branch) => takesOneOf(branch, units));
    case 'repetition':
      return takesOneOf(pattern.item, units);
    case 'reference':
      return true;
    default:
      return false;
  }
}
