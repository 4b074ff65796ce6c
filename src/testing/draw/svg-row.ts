import { UNBROKEN, wrapText } from '../../graph/words.ts';
import { element, escapeXml, round } from '../../graph/xml.ts';
import type { Cell, Glyph } from './cells.ts';
import type { Grid } from './grid.ts';
import { type LayoutRow, STAGE_WORDS } from './layout.ts';
import { BESIDE, endOffset, gapBefore, isEnd, isMarble, isPill, middleOf } from './svg-columns.ts';
import {
  FAINT,
  HALO,
  INK,
  LINE,
  MARBLE,
  MONO,
  moved,
  TROUBLE,
  text,
  textWidth,
  WAIT,
} from './svg-elements.ts';
import { downward, endMark, marble, note, pauseMark, pill, retry } from './svg-marks.ts';

/** A piece of a picture and how much of its height it takes. */
export interface Piece {
  readonly svg: string;
  readonly height: number;
}

const NOTE_HEIGHT = 14;

/** The line of a stage with its marbles, and what is to be said of them. */
export function svgRow(grid: Grid, { rails, cells }: Grid['rows'][number]): Piece {
  const lines = rails.map((rail) => drawRail(grid, rail, rail.to === undefined ? undefined : cells[rail.to]));
  const drawn = cells.map((cell, column) =>
    cell === undefined ? '' : moved(middleOf(grid, column), MARBLE.radius, drawCell(cell)),
  );
  const heights = cells.map((cell) => (cell === undefined ? 0 : heightOf(cell)));
  return { svg: [...lines, ...drawn].join(''), height: Math.max(2 * MARBLE.radius, ...heights) };
}

/** The line on which the marbles are, with an arrow if it continues beyond the picture. */
function drawRail(
  grid: Grid,
  { from, to, isOpen, pauses }: Grid['rows'][number]['rails'][number],
  last: Cell | undefined,
): string {
  const start = from === undefined ? 0 : middleOf(grid, from);
  // A line ends inside the bar that ends it.
  const inBar = last?.glyphs.some(isEnd) ? endOffset(last) - 2 : 0;
  const end = to === undefined ? grid.width + (grid.isLast ? 16 : 6) : middleOf(grid, to) + inBar;
  const line = `M ${round(start)} 0 H ${round(end)}${isOpen && grid.isLast ? ' m -6 -4 l 6 4 l -6 4' : ''}`;
  const path = element('path', { d: line, fill: 'none', stroke: LINE, 'stroke-width': 1.5 });
  const cuts = pauses.map((column) => moved(gapBefore(grid, column), 0, pauseMark()));
  return moved(0, MARBLE.radius, path + cuts.join(''));
}

/** Marbles first; drops above their words, and dead letters above their arrow. */
function inOrder({ glyphs }: Cell): Glyph[] {
  const rank = (glyph: Glyph) =>
    isMarble(glyph) ? (glyph.kind === 'dead_letter' ? 2 : glyph.kind === 'drop' ? 1 : 0) : 3;
  return glyphs.filter((glyph) => !isEnd(glyph)).sort((a, b) => rank(a) - rank(b));
}

/** About the middle of the first marble. */
function drawCell(cell: Cell): string {
  const glyphs = inOrder(cell);
  const parts = glyphs.map((glyph, i) => moved(0, i * MARBLE.stacking, drawGlyph(glyph)));
  const ends = cell.glyphs.filter(isEnd).map(({ kind }) => moved(endOffset(cell), 0, endMark(kind)));
  const below = (glyphs.length - 1) * MARBLE.stacking + MARBLE.radius;
  const last = glyphs.findLastIndex((glyph) => glyph.kind === 'dead_letter' && isMarble(glyph));
  // Below the marble if nothing is there, else beside it: an arrow must not lead into a mark of something else.
  const isBeside = last < glyphs.length - 1;
  const [x, y] = isBeside ? [MARBLE.radius + BESIDE / 2, 0] : [0, MARBLE.radius + 8];
  const arrow = last < 0 ? '' : moved(x, last * MARBLE.stacking + y, downward());
  const drops = glyphs.filter(({ kind }) => kind === 'drop');
  const colour = drops.some(({ isMeant }) => isMeant !== true) ? TROUBLE : drops.length > 0 ? FAINT : WAIT;
  const words = cell.note === undefined ? '' : note(cell.note, below + NOTE_HEIGHT - 1, colour);
  return [...parts, ...ends, arrow, words].join('');
}

function drawGlyph(glyph: Glyph): string {
  if (isPill(glyph)) return pill(glyph);
  return glyph.kind === 'retry' ? retry(glyph) : marble(glyph);
}

function heightOf(cell: Cell): number {
  const count = Math.max(1, inOrder(cell).length);
  const hasBelow =
    cell.note !== undefined || cell.glyphs.some((glyph) => glyph.kind === 'dead_letter' && isMarble(glyph));
  return 2 * MARBLE.radius + (count - 1) * MARBLE.stacking + (hasBelow ? NOTE_HEIGHT + 2 : 0);
}

const SIZE = 13;
const SETTINGS_SIZE = 11;
const LINE_HEIGHT = 16;
const GAP = 14;

/** An operator's box with its settings; above the row of a collector or forwarder words will do. */
export function caption(row: LayoutRow, width: number): Piece {
  const head = `${STAGE_WORDS[row.kind]}${row.name}: ${row.plugin}`;
  const headWidth = Math.ceil(textWidth(head, SIZE));
  const isBox = row.kind === 'process';
  const room = isBox ? width - 24 : width;
  const settings = row.settings.join('   ');
  const isOneLine = headWidth + GAP + textWidth(settings, SETTINGS_SIZE, true) <= room;
  const below = isOneLine ? [] : wrapText(settings, Math.floor(room / (SETTINGS_SIZE * 0.61)));
  const lines = [
    firstLine(row, isOneLine ? settings.replaceAll(UNBROKEN, ' ') : ''),
    ...below.map(settingsSpan),
  ];
  const boxHeight = LINE_HEIGHT * lines.length + 16;
  const words = lines.map((line, i) =>
    element(
      'text',
      {
        x: isBox ? width / 2 : 0,
        y: (isBox ? 21 : 12) + i * LINE_HEIGHT,
        'text-anchor': isBox ? 'middle' : undefined,
        'font-size': SIZE,
        fill: INK,
        'xml:space': 'preserve',
        ...(isBox ? {} : HALO),
      },
      line,
    ),
  );
  return isBox
    ? { svg: box(width, boxHeight) + words.join(''), height: boxHeight }
    : { svg: words.join(''), height: LINE_HEIGHT * lines.length };
}

function box(width: number, height: number): string {
  const size = { x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 6 };
  return element('rect', { ...size, fill: '#f6f8fa', stroke: '#8c959f', 'stroke-width': 1.25 });
}

function firstLine({ kind, name, plugin }: LayoutRow, settings: string): string {
  return [
    STAGE_WORDS[kind] === '' ? '' : element('tspan', { fill: FAINT }, escapeXml(STAGE_WORDS[kind])),
    element('tspan', { 'font-weight': 'bold' }, escapeXml(name)),
    escapeXml(`: ${plugin}`),
    settings === '' ? '' : settingsSpan(`   ${settings}`),
  ].join('');
}

function settingsSpan(words: string): string {
  return element('tspan', { 'font-family': MONO, 'font-size': SETTINGS_SIZE, fill: FAINT }, escapeXml(words));
}

/** The title above a picture. */
export function heading(title: string, summary: string, width: number): Piece {
  const titles = wrapText(title, Math.floor(width / 10));
  const summaries = wrapText(summary, Math.floor(width / 6.1));
  const lines = [
    ...titles.map((line, i) =>
      text(0, 16 + i * 22, line, { 'font-size': 18, 'font-weight': 'bold', fill: INK }),
    ),
    ...summaries.map((line, i) =>
      text(0, 16 + titles.length * 22 + i * LINE_HEIGHT - 2, line, { 'font-size': 12, fill: FAINT }),
    ),
  ];
  return { svg: lines.join(''), height: 22 * titles.length + LINE_HEIGHT * summaries.length };
}
