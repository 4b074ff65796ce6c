import { type Attributes, element, escapeXml, round } from '../../graph/xml.ts';

/** The colours and measures of a picture, in pixels: a light card that stands on light and dark pages alike. */

export const SANS = 'Helvetica, Arial, sans-serif';
export const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace';

export const INK = '#1f2328';
export const FAINT = '#59636e';
export const LINE = '#6e7781';
export const GRID = '#e4e8ec';
export const TROUBLE = '#cf222e';
export const WAIT = '#9a5b00';
export const DEAD = '#5b4bb7';

export const CARD = { fill: '#ffffff', stroke: '#d0d7de', margin: 24, widest: 832, narrowest: 760 } as const;

/** Keeps the grid's lines off words. */
export const HALO = { stroke: CARD.fill, 'stroke-width': 4, 'paint-order': 'stroke' } as const;

export const MARBLE = { radius: 15, stacking: 34 } as const;

/** Fill and line of an event, by its letter, so that one can follow it with the eye. */
const LETTERS = [
  ['#d6eaff', '#2f74b5'],
  ['#ffe6c2', '#b0731a'],
  ['#d7f3d3', '#3c8a37'],
  ['#f4daf2', '#9b4f97'],
  ['#ffdcd8', '#bf5549'],
  ['#e0dffa', '#6560b5'],
  ['#d2f0ef', '#2b8886'],
  ['#f2eebd', '#857c17'],
] as const;

export function letterColours(letter: string): readonly [fill: string, line: string] {
  return LETTERS[(letter.codePointAt(0) ?? 0) % LETTERS.length] as (typeof LETTERS)[number];
}

const CALM = ['#eaeef2', '#57606a'] as const;

/** Fill and text of a state's band. */
export const STATE_COLOURS: Readonly<Record<string, readonly [fill: string, text: string]>> = {
  running: ['#dafbe1', '#116329'],
  backing_off: ['#fff1c9', '#7d4e00'],
  completed: ['#ddf4ff', '#0550ae'],
  failed: ['#ffebe9', '#a40e26'],
  crashed: ['#ffebe9', '#a40e26'],
  stopped: CALM,
  idle: CALM,
  disabled: CALM,
};

/** Words at a place. Spaces in a row are kept. */
export function text(x: number, y: number, words: string, attributes: Attributes = {}): string {
  return element('text', { x, y, 'xml:space': 'preserve', ...attributes }, escapeXml(words));
}

/** Moves what is drawn. */
export function moved(x: number, y: number, content: string): string {
  return content === '' || (x === 0 && y === 0)
    ? content
    : element('g', { transform: `translate(${round(x)} ${round(y)})` }, content);
}

/**
 * About how wide text is. Fonts differ between machines and the bytes of a picture must not, so it is reckoned
 * from the kinds of its characters, rather too wide than too narrow.
 */
export function textWidth(words: string, size: number, isMono = false): number {
  let width = 0;
  for (const character of words) width += isMono ? 0.61 : emsOf(character);
  return width * size;
}

function emsOf(character: string): number {
  if (/[\sil.,:;|'·]/.test(character)) return 0.34;
  if (/[mwMW@%…]/.test(character)) return 1;
  return /[A-Z×→+]/.test(character) ? 0.8 : 0.62;
}
