import { type LinesMasker, LONGEST_TEXT } from '../lines-masker.ts';
import type { Cost } from './cost.ts';

/** What an engine does in less than a second. */
const HARMLESS_STEPS = 5e7;

/** Up to how many characters an expression takes less than a second at worst. */
export function harmlessLength({ degree, factor }: Cost): number {
  return (HARMLESS_STEPS / factor) ** (1 / degree);
}

/** So many lines of the greatest length are in the longest text: a few at least. */
const FEWEST_LINES = 8;
/** What is shorter is not worth it. */
const SHORTEST_LINE = 100;

/** For which lines expressions take less than a second at worst; undefined if that is not worth it, or for none. */
export function harmlessLines(costs: readonly Cost[]): Omit<LinesMasker, 'map'> | undefined {
  // An engine without backtracking may be there for one that doubles. It cannot run what that becomes for lines.
  if (costs.some(({ ambiguity }) => ambiguity !== undefined)) return undefined;
  const maxLineLength = Math.floor(
    Math.min(
      LONGEST_TEXT / FEWEST_LINES,
      ...costs.map(({ degree, factor }) => (HARMLESS_STEPS / factor / FEWEST_LINES) ** (1 / degree)),
    ),
  );
  if (maxLineLength < SHORTEST_LINE) return undefined;
  const ofLines = costs.map(
    ({ degree, factor }) => HARMLESS_STEPS / factor / maxLineLength ** Math.max(0, degree - 1),
  );
  return { maxLineLength, maxLength: Math.min(LONGEST_TEXT, ...ofLines) };
}

/** How many steps expressions take at worst, one after the other, for a text. */
export function stepsOfText(costs: readonly Cost[], { length }: string): number {
  return stepsAtWorst(costs, length, length);
}

/** The same for each line of a text. */
export function stepsOfLines(costs: readonly Cost[], text: string): number {
  return stepsAtWorst(costs, text.length, longestLine(text));
}

/** For lines that are so many characters together. */
function stepsAtWorst(costs: readonly Cost[], length: number, lineLength: number): number {
  return costs.reduce(
    (sum, { degree, factor }) => sum + factor * length * lineLength ** Math.max(0, degree - 1),
    0,
  );
}

function longestLine(text: string): number {
  let longest = 0;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    longest = Math.max(longest, end - start);
    start = end + 1;
  }
  return Math.max(longest, text.length - start);
}
