import { element, round } from '../../graph/xml.ts';
import { type Lane, type Layout, rowsIn } from './layout.ts';
import type { Panel } from './panels.ts';
import { type Halves, type Places, placesIn, stateWidth, stateWords } from './svg-columns.ts';
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
export function svgPanel(layout: Layout, panel: Panel, halves: Halves, width: number): Piece {
  const places = placesIn(panel, halves);
  const stages: string[] = [];
  let y = ROWS_Y;
  const put = ({ svg, height }: Piece, gap: number) => {
    stages.push(moved(0, y, svg));
    y += height + gap;
  };
  for (const row of rowsIn(layout, panel)) {
    put(caption(row, width), CAPTION_GAP);
    put(svgRow(layout, panel, places, row), STAGE_GAP);
  }
  for (const lane of layout.lanes) put(area(lane, layout, panel, places), STAGE_GAP);
  const height = y - STAGE_GAP;
  const svg = grid(panel, places, height) + axis(layout, panel, places) + states(layout, panel, places);
  return { svg: svg + stages.join(''), height };
}

const LANE_HEIGHT = 34;
const LANE_CAPTION = 16;

/** A number over time as an area with steps, all panels in one scale. */
function area({ name, levels }: Lane, { columns }: Layout, panel: Panel, places: Places): Piece {
  const top = Math.max(1, ...levels.map(({ most }) => most));
  const [fill, stroke] = letterColours(name === 'in flight' ? 'h' : 'i');
  const y = (level: number) => round(LANE_CAPTION + LANE_HEIGHT - (level / top) * LANE_HEIGHT);
  const before = levels[panel.from - 1]?.after ?? 0;
  const isLast = panel.to === columns.length - 1;
  const steps = columnsOf(panel).map((column) => {
    const { most, after } = levels[column] as Lane['levels'][number];
    const x = places.middle(column);
    // What lasts no time is shown all the same.
    const rest = after === most ? '' : ` H ${round(x + 3)} V ${y(after)}`;
    return `H ${round(x)} V ${y(most)}${rest}`;
  });
  const start = panel.from === 0 ? round(places.middle(0)) : 0;
  const end = isLast ? '' : ` H ${round(panel.width)}`;
  const outline = `M ${start} ${y(0)} V ${y(before)} ${steps.join(' ')}${end} V ${y(0)} Z`;
  const caption = `${name}, at most ${top}`;
  const words = text(0, 11, caption, { 'font-size': 11, fill: FAINT, ...HALO });
  const svg = words + element('path', { d: outline, fill, stroke, 'stroke-width': 1 });
  return { svg, height: LANE_CAPTION + LANE_HEIGHT };
}

const columnsOf = (panel: Panel) => panel.x.map((_, i) => panel.from + i);

/** One faint line for each time, so that what happens at once is seen to. */
function grid(panel: Panel, places: Places, height: number): string {
  const lines = columnsOf(panel).map((column) => `M ${places.middle(column)} ${AXIS_Y} V ${height}`);
  return element('path', { d: lines.join(' '), stroke: GRID, 'stroke-width': 1, fill: 'none' });
}

function axis({ columns }: Layout, panel: Panel, places: Places): string {
  const line = element('line', {
    x1: 0,
    y1: AXIS_Y,
    x2: panel.width,
    y2: AXIS_Y,
    stroke: LINE,
    'stroke-width': 1,
  });
  const marks = columnsOf(panel).map((column) => {
    const { label, exact, pause } = columns[column] as Layout['columns'][number];
    const x = places.middle(column);
    const gap = places.gap(column);
    const words = { 'text-anchor': 'middle', 'font-size': 11 };
    return [
      element('circle', { cx: x, cy: AXIS_Y, r: 2.5, fill: LINE }),
      text(x, AXIS_Y - 9, column === panel.from ? exact : label, { ...words, fill: INK }),
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

function states({ states }: Layout, panel: Panel, places: Places): string {
  const bands = states.map(({ from, to, state, isOpen }, i) => {
    const isLast = i === states.length - 1;
    const isPast = isLast ? false : to <= panel.from && from < panel.from;
    if (from > panel.to || isPast) return '';
    const x = from < panel.from ? 0 : places.middle(from);
    const end =
      to > panel.to || isOpen ? panel.width : isLast ? x + stateWidth(state) : places.middle(to) - 1;
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
