import { FAINT, type GraphNode, listed, NOT_TESTED, RED } from '../graph.ts';
import { columnsOf, joinWords, wrapAnywhere } from '../words.ts';
import { element, escapeXml } from '../xml.ts';

/** The width of a letter, as a part of the font's size, in practically every monospaced font. */
const LETTER = 0.602;
const NAME = { size: 13, line: 17 };
const PLUGIN = { size: 11, line: 15 };
const SETTING = { size: 11, line: 16 };
const PADDING = 11;
/** Between a name and that of the plugin, in pixels. */
const TAG_GAP = 14;
/** Between a key and its value, in letters. */
const KEY_GAP = 2;
/** Of a value below its key, in letters. */
const INDENT = 2;

/** A node as a card: its name and plugin, and below them its settings. */
interface Card {
  readonly node: GraphNode;
  readonly width: number;
  readonly height: number;
  /** The name in one or more lines, and whether the plugin stands beside the last one or below it. */
  readonly name: readonly string[];
  readonly tag: string;
  readonly isTagBeside: boolean;
  readonly head: number;
  readonly lines: readonly CardLine[];
}

interface CardLine {
  readonly key: string;
  readonly text: string;
  /** Where the text stands: letters from the left. */
  readonly column: number;
  readonly isGap: boolean;
}

/** The width of the card on which nothing is wrapped. */
export function widthOf(node: GraphNode): number {
  const head = textWidth(node.name, NAME.size) + TAG_GAP + textWidth(tagOf(node), PLUGIN.size);
  const column = keyColumns(node) + KEY_GAP;
  const body = node.settings.map(({ values }) => columnsOf(values.join(', ')) + column);
  return Math.ceil(Math.max(head, Math.max(0, ...body) * SETTING.size * LETTER)) + 2 * PADDING;
}

export function cardOf(node: GraphNode, width: number): Card {
  const room = width - 2 * PADDING;
  const tag = tagOf(node);
  const name = wrapAnywhere(node.name, Math.floor(room / (NAME.size * LETTER)));
  const isTagBeside =
    textWidth(name.at(-1) ?? '', NAME.size) + TAG_GAP + textWidth(tag, PLUGIN.size) <= room || tag === '';
  const head = 13 + name.length * NAME.line + (isTagBeside ? 0 : PLUGIN.line);
  const lines = settingsOf(node, Math.floor(room / (SETTING.size * LETTER)));
  const height = head + (lines.length === 0 ? 0 : lines.length * SETTING.line + 11);
  return { node, name, tag, isTagBeside, head, lines, width, height };
}

function tagOf({ plugin, state }: GraphNode): string {
  return [plugin ?? '', state === 'active' ? '' : state].filter(Boolean).join(' · ');
}

function keyColumns({ settings }: GraphNode): number {
  return Math.max(0, ...settings.map(({ key }) => columnsOf(key)));
}

/** A value that is too long for the room beside its key stands below it, in as many lines as it takes. */
function settingsOf(node: GraphNode, columns: number): CardLine[] {
  const beside = keyColumns(node) + KEY_GAP;
  return node.settings.flatMap(({ key, values }) => {
    const isGap = key === NOT_TESTED;
    const words = listed(values);
    if (words.every((word) => beside + columnsOf(word) <= columns)) {
      return joinWords(words, columns - beside).map((text, index) => ({
        ...{ key: index === 0 ? key : '', text, column: beside, isGap },
      }));
    }
    const texts = words.flatMap((word) => wrapAnywhere(word, columns - INDENT));
    return [
      ...wrapAnywhere(key, columns).map((part) => ({ key: part, text: '', column: 0, isGap })),
      ...joinWords(texts, columns - INDENT).map((text) => ({ key: '', text, column: INDENT, isGap })),
    ];
  });
}

/** Draws a card with its middle at `y`. `colour` is that of a pipeline; other nodes have none. */
export function drawCard(card: Card, x: number, y: number, colour: string | undefined): string {
  const { node, width, height, name, tag, isTagBeside } = card;
  const isOff = node.state !== 'active';
  const top = y - height / 2;
  const stroke = colour ?? (isOff ? '#c4cad1' : '#57606a');
  const headline = colour === undefined ? (isOff ? FAINT : '#1f2328') : '#ffffff';
  const tagFill = colour === undefined ? FAINT : '#ffffff';
  const base = top + 19.5;
  const lastBase = base + (name.length - 1) * NAME.line;
  const parts = [
    element('title', {}, escapeXml([node.name, node.plugin, node.state].filter(Boolean).join(' · '))),
    element('rect', {
      x,
      y: top,
      width,
      height,
      rx: 7,
      fill: isOff ? '#f6f8fa' : '#ffffff',
      stroke,
      'stroke-width': colour === undefined ? 1 : 1.6,
      ...(isOff ? { 'stroke-dasharray': '4 3' } : {}),
    }),
    ...(colour === undefined ? [] : [header(x, top, card, colour)]),
    ...name.map((line, index) =>
      text(x + PADDING, base + index * NAME.line, NAME.size, headline, line, { 'font-weight': 'bold' }),
    ),
    ...(tag === ''
      ? []
      : isTagBeside
        ? [text(x + width - PADDING, lastBase, PLUGIN.size, tagFill, tag, { 'text-anchor': 'end' })]
        : [text(x + PADDING, lastBase + PLUGIN.line, PLUGIN.size, tagFill, tag)]),
    ...settingLines(card, x, top, isOff, colour === undefined),
  ];
  return element('g', {}, parts.join(''));
}

function settingLines(
  { lines, width, head }: Card,
  x: number,
  top: number,
  isOff: boolean,
  isRuled: boolean,
): string[] {
  if (lines.length === 0) return [];
  const rule = element('path', {
    d: `M${x + 0.5} ${top + head}h${width - 1}`,
    stroke: '#d8dee4',
  });
  const rows = lines.flatMap(({ key, text: value, column, isGap }, index) => {
    const base = top + head + 17 + index * SETTING.line;
    const valueX = x + PADDING + column * SETTING.size * LETTER;
    return [
      ...(key === '' ? [] : [text(x + PADDING, base, SETTING.size, isGap ? RED : FAINT, key)]),
      ...(value === ''
        ? []
        : [text(valueX, base, SETTING.size, isGap ? RED : isOff ? FAINT : '#1f2328', value)]),
    ];
  });
  return isRuled ? [rule, ...rows] : rows;
}

/** The upper part of a pipeline's card, with rounded corners where the card has them. */
function header(x: number, top: number, { width, height, head }: Card, fill: string): string {
  const bottom = height > head ? `h${-width}z` : `a7 7 0 0 1 -7 7h${14 - width}a7 7 0 0 1 -7 -7z`;
  const side = head - (height > head ? 7 : 14);
  const d = `M${x} ${top + 7}a7 7 0 0 1 7 -7h${width - 14}a7 7 0 0 1 7 7v${side}${bottom}`;
  return element('path', { d, fill });
}

function text(
  x: number,
  y: number,
  size: number,
  fill: string,
  content: string,
  more: Readonly<Record<string, string>> = {},
): string {
  return element('text', { x, y, 'font-size': size, fill, ...more }, escapeXml(content));
}

function textWidth(content: string, size: number): number {
  return columnsOf(content) * size * LETTER;
}
