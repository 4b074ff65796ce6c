import { type FixedPosition, fixedPositions } from './fixed-positions.ts';
import { shareOf } from './frequency.ts';
import { type LiteralSet, literalSets, occurrences } from './literals.ts';
import type { ParsedExpression } from './pattern.ts';
import { codeOf } from './unit-set.ts';

/** What every text with a match has somewhere in it, as an expression that can be joined with others by `|`. */
export interface Needle {
  readonly source: string;
  /** How many texts it is. */
  readonly size: number;
  /** Only needles of one kind are joined: the engine searches for what is alike far faster. */
  readonly kind: 'literals' | 'literals in two cases' | 'classes';
}

/** How many there may be in a line of a log: others would have to be looked for again, one by one, too often. */
const MOST_EXPECTED = 0.1;
const LINE = 160;
/** A part that begins with something common would stop the search too often. */
const MOST_AT_START = 0.03;
const LONGEST_WINDOW = 8;

/** The rarest needle of an expression, or `undefined` if all are common. */
export function needleOf({ pattern }: ParsedExpression): Needle | undefined {
  const [rarest] = literalSets(pattern)
    .filter(({ literals }) => literals.every(({ text }) => text.length > 1))
    .sort((a, b) => occurrences(a) - occurrences(b));
  if (rarest !== undefined && occurrences(rarest) * LINE <= MOST_EXPECTED) return ofLiterals(rarest);
  return ofWindow(fixedPositions(pattern));
}

function ofLiterals({ literals, lowered }: LiteralSet): Needle {
  const texts = [...new Set(literals.map(({ text }) => text))];
  return {
    source: texts.map((text) => escaped(text, lowered)).join('|'),
    size: texts.length,
    kind: lowered ? 'literals in two cases' : 'literals',
  };
}

function escaped(text: string, inBothCases: boolean): string {
  return text
    .split('')
    .map((unit) => {
      const upper = unit.toUpperCase();
      return inBothCases && upper !== unit ? `[${unit}${upper}]` : codeOf(unit.charCodeAt(0));
    })
    .join('');
}

/** From the rarest of the positions on, as far as they stand side by side. */
function ofWindow(positions: readonly FixedPosition[]): Needle | undefined {
  const shares = positions.map(({ units }) => shareOf(units));
  const rarest = Math.min(...shares);
  const from = shares.indexOf(rarest);
  const window = positions
    .slice(from, from + LONGEST_WINDOW)
    .filter(({ offset }, i) => offset === (positions[from] as FixedPosition).offset + i);
  const expected = window.reduce((share, { units }) => share * shareOf(units), LINE);
  if (window.length < 2 || rarest > MOST_AT_START || expected > MOST_EXPECTED) return undefined;
  return { source: window.map(({ units }) => units.source).join(''), size: 1, kind: 'classes' };
}
