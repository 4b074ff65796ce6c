import { UNBROKEN, wrapText } from '../../graph/words.ts';
import { element, escapeXml } from '../../graph/xml.ts';
import type { Cell, Glyph } from './cells.ts';
import type { Layout, LayoutRow, Segment } from './layout.ts';
import type { Panel } from './panels.ts';
import { BESIDE, endOffset, isEnd, isMarble, isPill, type Places } from './svg-columns.ts';
import {
  DEAD,
  FAINT,
  HALO,
  INK,
  letterColours,
  MARBLE,
  MONO,
  moved,
  TROUBLE,
  text,
  textWidth,
  WAIT,
} from './svg-elements.ts';
import { downward, dropColour, note, pauseMark, pill, retry, strike } from './svg-marks.ts';
import type { Swirly, SwirlyMessage } from './swirly.ts';

/** A piece of a picture and how much of its height it takes. */
export interface Piece {
  readonly svg: string;
  readonly height: number;
}

const NOTE_HEIGHT = 14;

/** The marbles of a stage: swirly draws lines, events, ends and errors; what it has no mark for is laid over them. */
export class SvgRow {
  readonly #panel: Panel;
  readonly #places: Places;
  readonly #columns: Layout['columns'];
  readonly #row: LayoutRow;

  constructor(layout: Layout, panel: Panel, places: Places, row: LayoutRow) {
    this.#columns = layout.columns;
    this.#panel = panel;
    this.#places = places;
    this.#row = row;
  }

  draw(swirly: Swirly): Piece {
    const cells = [...this.#row.cells].filter(([column]) => this.#isShown(column));
    const segments = this.#row.segments.filter(
      ({ from, to, isOpen }) => from <= this.#panel.to && (to >= this.#panel.from || isOpen),
    );
    const placed = new Set<number>();
    const streams = segments.map((segment) => {
      const own = cells.filter(
        ([column]) => !placed.has(column) && column >= segment.from && column <= segment.to,
      );
      for (const [column] of own) placed.add(column);
      return this.#stream(swirly, segment, own);
    });
    // What no line leads to stands on a line of its own, which it hides.
    const stray = cells
      .filter(([column]) => !placed.has(column))
      .map(([column, cell]) => {
        const place = this.#places.middle(column);
        return moved(place, 0, swirly.stream(this.#messages([[column, cell]], place), 1, false));
      });
    const svg = [
      ...streams,
      ...stray,
      ...cells.map(([column, cell]) => moved(this.#places.middle(column), MARBLE.radius, overlay(cell))),
    ];
    return {
      svg: svg.join(''),
      height: Math.max(2 * MARBLE.radius, ...cells.map(([, cell]) => heightOf(cell))),
    };
  }

  #stream(swirly: Swirly, segment: Segment, cells: readonly (readonly [number, Cell])[]): string {
    const { from, to, isOpen } = segment;
    const panel = this.#panel;
    const start = from < panel.from ? 0 : this.#places.middle(from);
    const isLast = panel.to === this.#columns.length - 1;
    const goesOn = to > panel.to || isOpen;
    const end = goesOn ? panel.width + (isLast ? 16 : 6) : this.#endOf(to, cells);
    const messages = this.#messages(cells, start);
    const stream = swirly.stream(messages, end - start, isOpen && isLast);
    const pauses = this.#columns
      .map((column, i) => ({ column, i }))
      .filter(({ column, i }) => this.#isShown(i) && column.pause !== undefined && i > from && i <= to)
      .map(({ i }) => moved(this.#places.gap(i), MARBLE.radius, pauseMark()));
    return moved(start, 0, stream) + pauses.join('');
  }

  #endOf(column: number, cells: readonly (readonly [number, Cell])[]): number {
    const [, cell] = cells.find(([at]) => at === column) ?? [];
    // A line ends inside the bar that ends it.
    const offset = cell?.glyphs.some(isEnd) ? endOffset(cell) - 2 : 0;
    return this.#places.middle(column) + offset;
  }

  #messages(cells: readonly (readonly [number, Cell])[], start: number): SwirlyMessage[] {
    return cells.flatMap(([column, cell]) => {
      const frame = this.#places.middle(column) - start;
      return [
        ...inOrder(cell)
          .filter(isMarble)
          .map((glyph) => marble(frame, glyph)),
        ...cell.glyphs.filter(isEnd).map(({ kind }): SwirlyMessage => {
          const notification = { kind: kind === 'end' ? ('C' as const) : ('E' as const) };
          return { frame: frame + endOffset(cell), notification };
        }),
      ];
    });
  }

  #isShown(column: number): boolean {
    return column >= this.#panel.from && column <= this.#panel.to;
  }
}

/** swirly's marbles first, as it stacks them; drops above their words, and dead letters above their arrow. */
function inOrder({ glyphs }: Cell): Glyph[] {
  const rank = (glyph: Glyph) =>
    isMarble(glyph) ? (glyph.kind === 'dead_letter' ? 2 : glyph.kind === 'drop' ? 1 : 0) : 3;
  return glyphs.filter((glyph) => !isEnd(glyph)).sort((a, b) => rank(a) - rank(b));
}

function marble(frame: number, { kind, text, letter, isChanged, isMeant }: Glyph): SwirlyMessage {
  const [fill, line] = letterColours(letter);
  const isDropped = kind === 'drop';
  return {
    frame,
    notification: { kind: 'N', value: text },
    styles: {
      fill_color: isDropped ? '#ffffff' : fill,
      stroke_color: isDropped ? dropColour(isMeant) : kind === 'dead_letter' ? DEAD : line,
      stroke_width: isChanged ? 3 : 1.5,
      value_font_weight: isChanged ? 'bold' : 'normal',
      value_font_size: [...text].length > 2 ? 12 : 15,
    },
  };
}

/** What is laid over the marbles of a cell, about the middle of the first one. */
function overlay(cell: Cell): string {
  const glyphs = inOrder(cell);
  const parts = glyphs.map((glyph, i) => moved(0, i * MARBLE.stacking, overMarble(glyph)));
  const below = (glyphs.length - 1) * MARBLE.stacking + MARBLE.radius;
  const last = glyphs.findLastIndex((glyph) => glyph.kind === 'dead_letter' && isMarble(glyph));
  // Below the marble if nothing is there, else beside it: an arrow must not lead into a mark of something else.
  const isBeside = last < glyphs.length - 1;
  const [x, y] = isBeside ? [MARBLE.radius + BESIDE / 2, 0] : [0, MARBLE.radius + 8];
  const arrow = last < 0 ? '' : moved(x, last * MARBLE.stacking + y, downward());
  const drops = glyphs.filter(({ kind }) => kind === 'drop');
  const colour = drops.some(({ isMeant }) => isMeant !== true) ? TROUBLE : drops.length > 0 ? FAINT : WAIT;
  const words = cell.note === undefined ? '' : note(cell.note, below + NOTE_HEIGHT - 1, colour);
  return [...parts, arrow, words].join('');
}

function overMarble(glyph: Glyph): string {
  if (isPill(glyph)) return pill(glyph);
  if (glyph.kind === 'retry') return retry(glyph);
  return glyph.kind === 'drop' ? strike(glyph.isMeant) : '';
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

const KINDS: Readonly<Record<LayoutRow['kind'], string>> = {
  files: '',
  collect: 'collect ',
  process: '',
  forward: 'forward ',
  dead_letter: 'dead letter ',
};

/** An operator's box with its settings; above the row of a collector or forwarder words will do. */
export function caption(row: LayoutRow, width: number, swirly: Swirly): Piece {
  const head = `${KINDS[row.kind]}${row.name}: ${row.plugin}`;
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
    ? { svg: swirly.operator(width, boxHeight) + words.join(''), height: boxHeight }
    : { svg: words.join(''), height: LINE_HEIGHT * lines.length };
}

function firstLine({ kind, name, plugin }: LayoutRow, settings: string): string {
  return [
    KINDS[kind] === '' ? '' : element('tspan', { fill: FAINT }, escapeXml(KINDS[kind])),
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
