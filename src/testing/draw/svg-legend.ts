import { counted } from '../../../operators/internal.ts';
import { columnsOf, wrapText } from '../../graph/words.ts';
import { element, escapeXml } from '../../graph/xml.ts';
import type { Layout } from './layout.ts';
import { FAINT, GRID, INK, letterColours, MONO, moved, text, textWidth } from './svg-elements.ts';
import { icon, pauseMark } from './svg-marks.ts';
import type { Piece } from './svg-row.ts';

const SIZE = 12;
const LINE_HEIGHT = 18;
const WIDEST_NAMES = 180;
const SCALE = 'time is not to scale, and long pauses are cut out';

/** What the letters and signs stand for. */
export function svgLegend({ columns, legend, signs }: Layout, width: number): Piece {
  const nameWidths = legend.lines.map(({ names }) => textWidth(names.join('  '), SIZE + 1));
  const indent = Math.ceil(Math.min(WIDEST_NAMES, Math.max(18, ...nameWidths))) + 14;
  const lines: string[] = [];
  let y = 18;
  const put = (name: string, isWide: boolean, texts: readonly string[]) => {
    lines.push(moved(0, y, name));
    if (isWide) y += LINE_HEIGHT;
    for (const words of texts) {
      lines.push(moved(indent, y, words));
      y += LINE_HEIGHT;
    }
  };
  legend.lines.forEach(({ names, text: words, stage }, i) => {
    const columns = Math.floor((width - indent) / (SIZE * 0.61));
    const texts = wrapText(words, columns);
    // The stage has a line of its own where it would leave the card.
    if (stage !== undefined && columnsOf(texts.at(-1) + stageText(stage)) > columns) texts.push('');
    const shown = texts.map((line, n) => meaning(line, n === texts.length - 1 ? stage : undefined));
    put(namesText(names), (nameWidths[i] as number) > WIDEST_NAMES, shown);
  });
  if (legend.more > 0)
    put('', false, [
      text(0, 0, `… and ${counted(legend.more, 'more event')}`, { 'font-size': SIZE, fill: FAINT }),
    ]);
  for (const { kind, isMeant, meaning } of signs) {
    const texts = wrapText(meaning, Math.floor((width - indent) / (SIZE * 0.56)));
    put(
      moved(9, -4, icon(kind, isMeant)),
      false,
      texts.map((line) => text(0, 0, line, { 'font-size': SIZE, fill: FAINT })),
    );
  }
  if (columns.length > 1) {
    const words = { 'font-size': SIZE, fill: FAINT };
    put(moved(9, -4, pauseMark()), false, [text(0, 0, SCALE, words)]);
  }
  if (lines.length === 0) return { svg: '', height: 0 };
  const rule = element('line', { x1: 0, y1: 0, x2: width, y2: 0, stroke: GRID, 'stroke-width': 1 });
  return { svg: rule + lines.join(''), height: y - LINE_HEIGHT + 4 };
}

function namesText(names: readonly string[]): string {
  const spans = names.map((name) => {
    const colour = name === '…' ? FAINT : letterColours(name)[1];
    return element('tspan', { fill: colour }, escapeXml(name));
  });
  const attributes = { 'font-size': SIZE + 1, 'font-weight': 'bold', 'xml:space': 'preserve' };
  return element('text', attributes, spans.join('  '));
}

const stageText = (stage: string) => `   (${stage})`;

function meaning(words: string, stage: string | undefined): string {
  const by = stage === undefined ? '' : element('tspan', { fill: FAINT }, escapeXml(stageText(stage)));
  const attributes = { 'font-family': MONO, 'font-size': SIZE, fill: INK, 'xml:space': 'preserve' };
  return element('text', attributes, escapeXml(words) + by);
}
