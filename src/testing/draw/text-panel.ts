import { createColors } from 'picocolors';
import { characterColumns, columnsOf } from '../../graph/words.ts';
import type { Cell, Glyph } from './cells.ts';
import type { Grid, Ruler } from './grid.ts';

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

/** Short gaps grow with their logarithm: enough to see which is longer. */
const leadOf = (gap: number) => Math.min(4, Math.round(Math.log2(gap)));

const stateText = (state: string) => `▸ ${state}`;

/** Measures in characters. */
export const TEXT_RULER: Ruler = {
  label: (text) => text.length + 1,
  cell: (cell) => Math.max(columnsOf(cellText(cell)), columnsOf(cell.note ?? '')) + 1,
  lead: ({ gap, pause }) => (pause === undefined ? leadOf(gap) : pause.length + 3),
  state: (state) => stateText(state).length + 2,
};

export function axisLine({ columns }: Grid): TextLine {
  const line = new TextLine();
  for (const { x, time, pause } of columns) {
    if (pause !== undefined) line.put(INDENT + x - pause.length - 3, `┄${pause}┄`, 'faint');
    line.put(INDENT + x, time);
  }
  return line;
}

export function stateLine(grid: Grid): TextLine {
  const line = new TextLine();
  for (const { from, state } of grid.states) {
    line.put(INDENT + startOf(grid, from), stateText(state), statePaint(state));
  }
  return line;
}

function statePaint(state: string): Paint {
  if (state === 'failed' || state === 'crashed') return 'trouble';
  return state === 'backing_off' ? 'wait' : 'faint';
}

/** Where a column starts; what is of an earlier panel starts with this one. */
const startOf = ({ columns }: Grid, column: number | undefined) =>
  column === undefined ? 0 : (columns[column]?.x ?? 0);

/** The marbles of a stage, and below them what has to be said of them. */
export function rowLines(grid: Grid, { rails, cells }: Grid['rows'][number]): TextLine[] {
  const marbles = new TextLine();
  const notes = new TextLine();
  for (const rail of rails) drawRail(marbles, grid, rail);
  for (const [i, cell] of cells.entries()) {
    if (cell === undefined) continue;
    const x = INDENT + startOf(grid, i);
    drawCell(marbles, x, cell);
    if (cell.note !== undefined) notes.put(x, cell.note, 'faint');
  }
  return cells.some((cell) => cell?.note !== undefined) ? [marbles, notes] : [marbles];
}

function drawRail(line: TextLine, grid: Grid, rail: Grid['rows'][number]['rails'][number]): void {
  const { from, to, isOpen, pauses } = rail;
  const start = startOf(grid, from);
  const end = to === undefined ? grid.width : startOf(grid, to) + 1;
  line.put(INDENT + start, '─'.repeat(Math.max(0, end - start)), 'faint');
  for (const column of pauses) {
    const lead = (grid.columns[column]?.pause ?? '').length + 2;
    line.put(INDENT + startOf(grid, column) - lead - 1, '┄'.repeat(lead), 'faint');
  }
  if (isOpen && grid.isLast) line.add('▸', 'faint');
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

export function glyphPaint({
  kind,
  isChanged = false,
  isMeant = false,
}: Pick<Glyph, 'kind' | 'isMeant'> & { readonly isChanged?: boolean }): Paint {
  if (kind === 'event') return isChanged ? 'changed' : 'event';
  // Only what nobody asked for is in the colour of trouble.
  if (kind === 'drop' || kind === 'error') return isMeant ? 'faint' : 'trouble';
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
