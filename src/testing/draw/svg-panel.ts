import { element, round } from '../../graph/xml.ts';
import type { Grid } from './grid.ts';
import { gapBefore, middleOf, stateWidth, stateWords } from './svg-columns.ts';
import { FAINT, GRID, HALO, INK, LINE, letterColours, moved, STATE_COLOURS, text } from './svg-elements.ts';
import { pauseMark } from './svg-marks.ts';
import { caption, type Piece, svgRow } from './svg-row.ts';

const AXIS_Y = 22;
const STATE_Y = 32;
const STATE_HEIGHT = 18;
const ROWS_Y = STATE_Y + STATE_HEIGHT + 16;
const STAGE_GAP = 12;
const CAPTION_GAP = 9;

/** The columns that fit side by side: time, states and all stages. */
export function svgPanel(grid: Grid, width: number): Piece {
  const stages: string[] = [];
  let y = ROWS_Y;
  const put = ({ svg, height }: Piece, gap: number) => {
    stages.push(moved(0, y, svg));
    y += height + gap;
  };
  for (const row of grid.rows) {
    put(caption(row.stage, width), CAPTION_GAP);
    put(svgRow(grid, row), STAGE_GAP);
  }
  for (const part of grid.areas) put(area(part, grid), STAGE_GAP);
  const height = y - STAGE_GAP;
  return { svg: timeLines(grid, height) + axis(grid) + states(grid) + stages.join(''), height };
}

const LANE_HEIGHT = 34;
const LANE_CAPTION = 16;

/** A number over time as an area with steps, all panels in one scale. */
function area({ name, levels, top, before }: Grid['areas'][number], grid: Grid): Piece {
  const [fill, stroke] = letterColours(name === 'in flight' ? 'h' : 'i');
  const y = (level: number) => round(LANE_CAPTION + LANE_HEIGHT - (level / top) * LANE_HEIGHT);
  const steps = levels.map(({ most, after }, column) => {
    const x = middleOf(grid, column);
    // What lasts no time is shown all the same.
    const rest = after === most ? '' : ` H ${round(x + 3)} V ${y(after)}`;
    return `H ${round(x)} V ${y(most)}${rest}`;
  });
  const start = grid.isFirst ? round(middleOf(grid, 0)) : 0;
  const end = grid.isLast ? '' : ` H ${round(grid.width)}`;
  const outline = `M ${start} ${y(0)} V ${y(before)} ${steps.join(' ')}${end} V ${y(0)} Z`;
  const caption = `${name}, at most ${top}`;
  const words = text(0, 11, caption, { 'font-size': 11, fill: FAINT, ...HALO });
  const svg = words + element('path', { d: outline, fill, stroke, 'stroke-width': 1 });
  return { svg, height: LANE_CAPTION + LANE_HEIGHT };
}

/** One faint line for each time, so that what happens at once is seen to. */
function timeLines(grid: Grid, height: number): string {
  const lines = grid.columns.map((_, column) => `M ${middleOf(grid, column)} ${AXIS_Y} V ${height}`);
  return element('path', { d: lines.join(' '), stroke: GRID, 'stroke-width': 1, fill: 'none' });
}

function axis(grid: Grid): string {
  const line = element('line', {
    x1: 0,
    y1: AXIS_Y,
    x2: grid.width,
    y2: AXIS_Y,
    stroke: LINE,
    'stroke-width': 1,
  });
  const marks = grid.columns.map(({ time, pause }, column) => {
    const x = middleOf(grid, column);
    const gap = gapBefore(grid, column);
    const words = { 'text-anchor': 'middle', 'font-size': 11 };
    return [
      element('circle', { cx: x, cy: AXIS_Y, r: 2.5, fill: LINE }),
      text(x, AXIS_Y - 9, time, { ...words, fill: INK }),
      ...(pause === undefined
        ? []
        : [
            moved(gap, AXIS_Y, pauseMark()),
            text(gap, AXIS_Y - 9, pause, { ...words, fill: FAINT, 'font-style': 'italic' }),
          ]),
    ].join('');
  });
  return line + marks.join('');
}

function states(grid: Grid): string {
  const bands = grid.states.map(({ from, to, state, isFinal }) => {
    const x = from === undefined ? 0 : middleOf(grid, from);
    const end = to === undefined ? grid.width : isFinal ? x + stateWidth(state) : middleOf(grid, to) - 1;
    return moved(x, STATE_Y, band(state, Math.max(end - x, 2)));
  });
  return bands.join('');
}

function band(state: string, width: number): string {
  const [fill, colour] = STATE_COLOURS[state] as readonly [string, string];
  return (
    element('rect', { width, height: STATE_HEIGHT, rx: 3, fill }) +
    text(8, 13, stateWords(state), { 'font-size': 11, fill: colour })
  );
}
