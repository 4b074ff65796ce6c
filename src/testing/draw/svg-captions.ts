import type { LayoutRow } from './layout.ts';
import { element, escaped, text, textWidth } from './svg-elements.ts';
import type { Piece } from './svg-row.ts';
import { FAINT, HALO, INK, MONO } from './svg-theme.ts';
import type { Swirly } from './swirly.ts';
import { UNBROKEN, wrapWords } from './text-words.ts';

const SIZE = 13;
const SETTINGS_SIZE = 11;
const LINE_HEIGHT = 16;
const GAP = 14;

const KINDS: Readonly<Record<LayoutRow['kind'], string>> = {
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
  const below = isOneLine ? [] : wrapWords(settings, Math.floor(room / (SETTINGS_SIZE * 0.61)));
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
    KINDS[kind] === '' ? '' : element('tspan', { fill: FAINT }, escaped(KINDS[kind])),
    element('tspan', { 'font-weight': 'bold' }, escaped(name)),
    escaped(`: ${plugin}`),
    settings === '' ? '' : settingsSpan(`   ${settings}`),
  ].join('');
}

function settingsSpan(words: string): string {
  return element('tspan', { 'font-family': MONO, 'font-size': SETTINGS_SIZE, fill: FAINT }, escaped(words));
}

/** The title above a picture. */
export function heading(title: string, summary: string, width: number): Piece {
  const titles = wrapWords(title, Math.floor(width / 10));
  const summaries = wrapWords(summary, Math.floor(width / 6.1));
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
