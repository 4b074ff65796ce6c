import type { Cell, Glyph } from './cells.ts';
import type { Layout } from './layout.ts';
import type { ColumnWidths, Panel } from './panels.ts';
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

/** Half of what the columns need, in pixels: everything is centred. */
export interface Halves {
  readonly usual: readonly number[];
  /** The half widths as the first column of a panel. */
  readonly first: readonly number[];
}

export function halfWidths(layout: Layout): Halves {
  const { columns } = layout;
  return {
    usual: columns.map(({ label }, i) => halfOf(layout, i, label)),
    first: columns.map(({ exact }, i) => halfOf(layout, i, exact)),
  };
}

function halfOf({ rows }: Layout, column: number, label: string): number {
  const cells = rows.flatMap((row) => row.cells.get(column) ?? []);
  const halves = cells.flatMap((cell) => [
    ...cell.glyphs.map((glyph) => halfWidth(glyph) + 3 + (hasArrowBeside(cell, glyph) ? BESIDE : 0)),
    textWidth(cell.note ?? '', LABEL_SIZE) / 2 + 3,
    cell.glyphs.some(isEnd) ? endOffset(cell) + 8 : 0,
  ]);
  return Math.ceil(Math.max(NARROWEST_HALF, textWidth(label, LABEL_SIZE) / 2 + 4, ...halves));
}

/** A dead letter with something else below it. */
function hasArrowBeside({ glyphs }: Cell, glyph: Glyph): boolean {
  return glyph.kind === 'dead_letter' && isMarble(glyph) && glyphs.some((other) => !isMarble(other));
}

export function svgWidths({ columns, states }: Layout, halves: Halves): ColumnWidths[] {
  return columns.map(({ gap, pause }, i) => {
    const half = halves.usual[i] as number;
    const first = halves.first[i] as number;
    const state = states.find(({ from }) => from === i);
    return {
      lead: i === 0 ? 0 : pause === undefined ? shortLead(gap) : Math.ceil(textWidth(pause, LABEL_SIZE)) + 16,
      width: 2 * half,
      first: 2 * first,
      state: state === undefined ? undefined : first + stateWidth(state.state),
    };
  });
}

/** Short gaps grow with their logarithm: enough to see which is longer. */
const shortLead = (gap: number) => Math.min(30, Math.round(4 * Math.log2(gap + 1)));

export const stateWidth = (state: string) => Math.ceil(textWidth(stateWords(state), LABEL_SIZE)) + 16;

export const stateWords = (state: string) => state.replace('_', ' ');

/** Spreads the columns of a panel over the width, as far as it does not tear them apart. */
export function spread(panel: Panel, width: number): Panel {
  const gaps = panel.x.length - 1;
  if (gaps === 0) return panel;
  const extra = Math.max(0, Math.min(MOST_EXTRA, Math.floor((width - panel.width) / gaps)));
  return { ...panel, x: panel.x.map((x, i) => x + i * extra), width: panel.width + gaps * extra };
}

/** Places of columns in a panel. */
export interface Places {
  /** The middle of a column. */
  middle(column: number): number;
  /** The middle of the gap before a column. */
  gap(column: number): number;
}

export function placesIn(panel: Panel, { usual, first }: Halves): Places {
  const start = (column: number) => panel.x[column - panel.from] as number;
  const half = (column: number) => (column === panel.from ? first : usual)[column] as number;
  return {
    middle: (column) => start(column) + half(column),
    gap: (column) => {
      const before = column === panel.from ? 0 : start(column - 1) + 2 * half(column - 1);
      return (before + start(column)) / 2;
    },
  };
}
