import { columnsOf, joinWords } from '../../drawing/words.ts';
import { element, escapeXml } from '../../drawing/xml.ts';
import { GREY, type GraphNode, listed, visibleText } from '../graph.ts';

/** The width of a letter, as a part of the font's size, in practically every monospaced font. */
const LETTER = 0.602;
const NAME = { size: 13, columns: 32 };
const PLUGIN = { size: 11 };
const SETTING = { size: 11, line: 16, columns: 34 };
const HEAD = 30;
const PADDING = 11;

/** A node as a card: its name and plugin, and below them its settings. */
interface Card {
  readonly node: GraphNode;
  readonly width: number;
  readonly height: number;
  readonly name: string;
  readonly tag: string;
  readonly keyColumns: number;
  readonly lines: readonly { readonly key: string; readonly text: string }[];
}

export function cardOf(node: GraphNode): Card {
  const name = visibleText(node.name, NAME.columns);
  const tag = [node.plugin ?? '', node.state === 'active' ? '' : node.state].filter(Boolean).join(' · ');
  const keyColumns = Math.max(0, ...node.settings.map(({ key }) => columnsOf(key))) + 2;
  const lines = node.settings.flatMap(({ key, values }) => {
    const words = listed(values.map((value) => visibleText(value, SETTING.columns)));
    return joinWords(words, SETTING.columns).map((text, index) => ({ key: index === 0 ? key : '', text }));
  });
  const head = textWidth(name, NAME.size) + (tag === '' ? 0 : 14 + textWidth(tag, PLUGIN.size));
  const body = lines.map(({ text }) => (keyColumns + columnsOf(text)) * SETTING.size * LETTER);
  return {
    node,
    name,
    tag,
    keyColumns,
    lines,
    width: Math.ceil(Math.max(head, ...body)) + 2 * PADDING,
    height: HEAD + (lines.length === 0 ? 0 : lines.length * SETTING.line + 11),
  };
}

/** Draws a card with its middle at `y`. `colour` is that of a pipeline; other nodes have none. */
export function drawCard(
  card: Card,
  x: number,
  y: number,
  width: number,
  colour: string | undefined,
): string {
  const { node, height, name, tag } = card;
  const isOff = node.state !== 'active';
  const top = y - height / 2;
  const stroke = colour ?? (isOff ? '#c4cad1' : '#57606a');
  const headline = colour === undefined ? (isOff ? GREY : '#1f2328') : '#ffffff';
  const base = top + HEAD / 2 + 4.5;
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
    ...(colour === undefined ? [] : [header(x, top, width, height, colour)]),
    text(x + PADDING, base, NAME.size, headline, name, { 'font-weight': 'bold' }),
    text(x + width - PADDING, base, PLUGIN.size, colour === undefined ? GREY : '#ffffff', tag, {
      'text-anchor': 'end',
    }),
    ...settingLines(card, x, top, width, isOff, colour === undefined),
  ];
  return element('g', {}, parts.join(''));
}

function settingLines(
  { lines, keyColumns }: Card,
  x: number,
  top: number,
  width: number,
  isOff: boolean,
  isRuled: boolean,
): string[] {
  if (lines.length === 0) return [];
  const rule = element('path', {
    d: `M${x + 0.5} ${top + HEAD}h${width - 1}`,
    stroke: '#d8dee4',
  });
  const rows = lines.flatMap(({ key, text: value }, index) => {
    const base = top + HEAD + 17 + index * SETTING.line;
    const valueX = x + PADDING + keyColumns * SETTING.size * LETTER;
    return [
      ...(key === '' ? [] : [text(x + PADDING, base, SETTING.size, GREY, key)]),
      text(valueX, base, SETTING.size, isOff ? GREY : '#1f2328', value),
    ];
  });
  return isRuled ? [rule, ...rows] : rows;
}

/** The upper part of a pipeline's card, with rounded corners where the card has them. */
function header(x: number, top: number, width: number, height: number, fill: string): string {
  const bottom = height > HEAD ? `h${-width}z` : `a7 7 0 0 1 -7 7h${14 - width}a7 7 0 0 1 -7 -7z`;
  const side = HEAD - (height > HEAD ? 7 : 14);
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
