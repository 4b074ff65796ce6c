import { createColors } from 'picocolors';
import { characterColumns, columnsOf } from '../../graph/words.ts';
import type { Cell, Glyph } from './cells.ts';
import type { Layout, LayoutRow } from './layout.ts';
import type { ColumnWidths, Panel } from './panels.ts';

/** Rows are indented below the captions of their stages. */
export const INDENT = 2;

/** How each mark is written; the events' names follow. */
export const SIGNS: Readonly<Record<Glyph['kind'], string>> = {
  event: '',
  drop: '✗',
  dead_letter: '↓',
  retry: '↻',
  error: '#',
  end: '│',
};

function glyphText({ kind, text, count }: Glyph): string {
  return `${SIGNS[kind]}${text}${count > 1 ? `×${count}` : ''}`;
}

/** What is at one time stands in parentheses, as in a marble string. */
function cellText({ glyphs }: Cell): string {
  const texts = glyphs.map(glyphText);
  return glyphs.length > 1 ? `(${texts.join(separatorOf(texts))})` : texts.join('');
}

/** Single letters need none. */
const separatorOf = (texts: readonly string[]) => (texts.some((text) => text.length > 1) ? ' ' : '');

/** What the columns need, in characters. */
export function textWidths({ columns, rows, states }: Layout): ColumnWidths[] {
  return columns.map(({ label, exact, gap, pause }, i) => {
    const cells = rows.flatMap(({ cells }) => cells.get(i) ?? []);
    const texts = [...cells.map(cellText), ...cells.map(({ note = '' }) => note)];
    const widest = Math.max(0, ...texts.map(columnsOf));
    const state = states.find(({ from }) => from === i);
    return {
      lead: i === 0 ? 0 : pause === undefined ? leadOf(gap) : pause.length + 3,
      width: Math.max(widest, label.length) + 1,
      first: Math.max(widest, exact.length) + 1,
      state: state === undefined ? undefined : stateText(state.state).length + 2,
    };
  });
}

/** Short gaps grow with their logarithm: enough to see which is longer. */
const leadOf = (gap: number) => Math.min(4, Math.round(Math.log2(gap)));

export function axisLine({ columns }: Layout, panel: Panel): TextLine {
  const line = new TextLine();
  for (const [i, x] of panel.x.entries()) {
    const { label, exact, pause } = columns[panel.from + i] as Layout['columns'][number];
    if (pause !== undefined) line.put(INDENT + x - pause.length - 3, `┄${pause}┄`, 'faint');
    line.put(INDENT + x, i === 0 ? exact : label);
  }
  return line;
}

export function stateLine({ states }: Layout, panel: Panel): TextLine {
  const line = new TextLine();
  for (const { from, to, state } of states) {
    const isShown = from <= panel.to && (to > panel.from || from >= panel.from || to === from);
    const isPast = to <= panel.from && from < panel.from && states.at(-1)?.from !== from;
    if (isShown && !isPast) line.put(INDENT + xOf(panel, from), stateText(state), statePaint(state));
  }
  return line;
}

const stateText = (state: string) => `▸ ${state}`;

function statePaint(state: string): Paint {
  if (state === 'failed' || state === 'crashed') return 'trouble';
  return state === 'backing_off' ? 'wait' : 'faint';
}

/** Where a column is; one of an earlier panel is at the start. */
const xOf = (panel: Panel, column: number) => (column < panel.from ? 0 : (panel.x[column - panel.from] ?? 0));

/** The marbles of a stage, and below them what has to be said of them. */
export function rowLines(layout: Layout, row: LayoutRow, panel: Panel): TextLine[] {
  const marbles = new TextLine();
  const notes = new TextLine();
  for (const { from, to, isOpen } of row.segments) drawRail(layout, panel, marbles, from, to, isOpen);
  let hasNotes = false;
  for (const [i, x] of panel.x.entries()) {
    const cell = row.cells.get(panel.from + i);
    if (cell === undefined) continue;
    drawCell(marbles, INDENT + x, cell);
    if (cell.note !== undefined) notes.put(INDENT + x, cell.note, 'faint');
    hasNotes ||= cell.note !== undefined;
  }
  return hasNotes ? [marbles, notes] : [marbles];
}

function drawRail(
  { columns }: Layout,
  panel: Panel,
  line: TextLine,
  from: number,
  to: number,
  isOpen: boolean,
): void {
  if (from > panel.to || (to < panel.from && !isOpen)) return;
  const start = from < panel.from ? 0 : xOf(panel, from);
  const goesOn = to > panel.to || isOpen;
  const end = goesOn ? panel.width : xOf(panel, to) + 1;
  line.put(INDENT + start, '─'.repeat(Math.max(0, end - start)), 'faint');
  for (const [i, x] of panel.x.entries()) {
    const column = panel.from + i;
    const { pause } = columns[column] as Layout['columns'][number];
    const lead = pause === undefined ? 0 : pause.length + 2;
    if (lead > 0 && column > from && column <= to) line.put(INDENT + x - lead - 1, '┄'.repeat(lead), 'faint');
  }
  if (isOpen && panel.to === columns.length - 1) line.add('▸', 'faint');
}

function drawCell(line: TextLine, x: number, { glyphs }: Cell): void {
  const separator = separatorOf(glyphs.map(glyphText));
  let at = x;
  const put = (text: string, paint: Paint) => {
    line.put(at, text, paint);
    at += columnsOf(text);
  };
  if (glyphs.length > 1) put('(', 'faint');
  for (const [i, glyph] of glyphs.entries()) {
    if (i > 0) put(separator, 'faint');
    put(glyphText(glyph), glyphPaint(glyph));
  }
  if (glyphs.length > 1) put(')', 'faint');
}

export function glyphPaint({ kind, isChanged }: Pick<Glyph, 'kind' | 'isChanged'>): Paint {
  if (kind === 'event') return isChanged ? 'changed' : 'event';
  if (kind === 'drop' || kind === 'error') return 'trouble';
  if (kind === 'retry') return 'wait';
  return kind === 'dead_letter' ? 'dead' : 'plain';
}

/** What a piece of text is; decides its colour. */
type Paint = 'plain' | 'title' | 'faint' | 'event' | 'changed' | 'trouble' | 'wait' | 'dead';

type Painter = (text: string) => string;

/** How a terminal shows each paint; without colours it is the text alone. */
export function painters(hasColours: boolean): Readonly<Record<Paint, Painter>> {
  const { bold, dim, cyan, yellow, red, magenta, blue } = createColors(hasColours);
  return {
    plain: (text) => text,
    title: bold,
    faint: dim,
    event: cyan,
    changed: (text) => bold(yellow(text)),
    trouble: (text) => bold(red(text)),
    wait: magenta,
    dead: blue,
  };
}

/** A line of a terminal, on which text is put at any column, the later over the earlier. */
export class TextLine {
  readonly #cells: { text: string; paint: Paint }[] = [];

  put(x: number, text: string, paint: Paint = 'plain'): this {
    let at = x;
    while (this.#cells.length < x) this.#cells.push({ text: ' ', paint: 'plain' });
    for (const character of text) {
      const width = characterColumns(character);
      const before = this.#cells[at - 1];
      if (width === 0 && before !== undefined) before.text += character;
      else this.#cells[at++] = { text: character, paint };
      // The second half of a wide character.
      if (width === 2) this.#cells[at++] = { text: '', paint };
    }
    return this;
  }

  /** Puts the text after what is there. */
  add(text: string, paint: Paint = 'plain'): this {
    return this.put(this.#cells.length, text, paint);
  }

  /** The line without spaces at its end. */
  render(paints: Readonly<Record<Paint, Painter>>): string {
    const end = this.#cells.findLastIndex(({ text }) => text !== ' ' && text !== '') + 1;
    let line = '';
    for (let start = 0; start < end; ) {
      const paint = this.#cells[start]?.paint as Paint;
      let text = '';
      for (; start < end && this.#cells[start]?.paint === paint; start++) text += this.#cells[start]?.text;
      line += paints[paint](text);
    }
    return line;
  }
}
