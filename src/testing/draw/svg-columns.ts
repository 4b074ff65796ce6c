import type { Cell, Glyph } from './cells.ts';
import type { Grid, Panel, Ruler } from './grid.ts';
import { MARBLE, textWidth } from './svg-elements.ts';
import { pillWidth } from './svg-marks.ts';

const LABEL_SIZE = 11;
const MOST_EXTRA = 120;
/** Room for an arrow beside a marble. */
export const BESIDE = 14;
const NARROWEST_HALF = MARBLE.radius + 4;

/** Whether a glyph is drawn as a marble. */
export const isMarble = ({ kind, count }: Glyph) =>
  count === 1 && (kind === 'event' || kind === 'drop' || kind === 'dead_letter');

export const isEnd = ({ kind }: Glyph) => kind === 'end' || kind === 'error';

/** Whether a glyph is drawn as a box of text. */
export const isPill = ({ kind, count, text }: Glyph) => count > 1 || (kind === 'retry' && text.length > 2);

/** Where the end of a cell stands, from the column's middle: beside what came at the same time. */
export function endOffset({ glyphs }: Cell): number {
  const halves = glyphs.filter((glyph) => !isEnd(glyph)).map(halfWidth);
  return halves.length === 0 ? 0 : Math.max(...halves) + 8;
}

const halfWidth = (glyph: Glyph) => (isPill(glyph) ? pillWidth(glyph) / 2 : MARBLE.radius);

/** Half of the room that a cell needs: everything is centred. */
function halfOf(cell: Cell): number {
  const halves = [
    ...cell.glyphs.map((glyph) => halfWidth(glyph) + 3 + (hasArrowBeside(cell, glyph) ? BESIDE : 0)),
    textWidth(cell.note ?? '', LABEL_SIZE) / 2 + 3,
    cell.glyphs.some(isEnd) ? endOffset(cell) + 8 : 0,
  ];
  return Math.ceil(Math.max(...halves));
}

/** A dead letter with something else below it. */
function hasArrowBeside({ glyphs }: Cell, glyph: Glyph): boolean {
  return glyph.kind === 'dead_letter' && isMarble(glyph) && glyphs.some((other) => !isMarble(other));
}

/** Short gaps grow with their logarithm: enough to see which is longer. */
const shortLead = (gap: number) => Math.min(30, Math.round(4 * Math.log2(gap + 1)));

export const stateWidth = (state: string) => Math.ceil(textWidth(stateWords(state), LABEL_SIZE)) + 16;

export const stateWords = (state: string) => state.replace('_', ' ');

/** Measures in pixels. */
export const SVG_RULER: Ruler = {
  label: (text) => 2 * Math.ceil(Math.max(NARROWEST_HALF, textWidth(text, LABEL_SIZE) / 2 + 4)),
  cell: (cell) => 2 * halfOf(cell),
  lead: ({ gap, pause }) =>
    pause === undefined ? shortLead(gap) : Math.ceil(textWidth(pause, LABEL_SIZE)) + 16,
  state: (state, width) => width / 2 + stateWidth(state),
};

/** Spreads the columns of a panel over the width, as far as it does not tear them apart. */
export function spread(panel: Panel, width: number): Panel {
  const gaps = panel.x.length - 1;
  if (gaps === 0) return panel;
  const extra = Math.max(0, Math.min(MOST_EXTRA, Math.floor((width - panel.width) / gaps)));
  return { ...panel, x: panel.x.map((x, i) => x + i * extra), width: panel.width + gaps * extra };
}

/** The middle of a column. */
export function middleOf({ columns }: Grid, column: number): number {
  const { x, width } = columns[column] as Grid['columns'][number];
  return x + width / 2;
}

/** The middle of the gap before a column. */
export function gapBefore({ columns }: Grid, column: number): number {
  const before = columns[column - 1];
  const { x } = columns[column] as Grid['columns'][number];
  return ((before === undefined ? 0 : before.x + before.width) + x) / 2;
}
