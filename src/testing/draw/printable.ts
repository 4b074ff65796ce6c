import { inspect } from 'node:util';
import { printable } from '../../sdk/printable.ts';

/**
 * The text, its middle left out if it is longer than `longest` characters.
 *
 * @example
 * shorten('abcdefghij', 7); // 'abcd…ij'
 */
export function shorten(text: string, longest: number): string {
  const characters = [...text];
  if (characters.length <= longest) return text;
  const tail = Math.floor((longest - 1) / 3);
  return `${characters.slice(0, longest - 1 - tail).join('')}…${characters.slice(-tail || characters.length).join('')}`;
}

/**
 * A value on one line: a string in quotes, anything else as Node shows it.
 *
 * @example
 * valueText({ n: 1 }, 20); // '{ n: 1 }'
 */
export function valueText(value: unknown, longest: number): string {
  if (typeof value === 'string') return `"${shorten(quotable(value), longest)}"`;
  return shorten(printable(inspect(value, { depth: 8, breakLength: Number.POSITIVE_INFINITY })), longest);
}

/** The inside of a quoted string. */
export function quotable(text: string): string {
  return printable(text.replace(/["\\]/g, '\\$&'));
}

/**
 * The number of terminal cells that the text takes: two for wide characters, none for combining ones.
 *
 * @example
 * cellWidth('日本'); // 4
 */
export function cellWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

const COMBINING = /^[\p{Mn}\p{Me}]$/u;
const WIDE =
  /^[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303e\uff01-\uff60]$/u;

export function characterWidth(character: string): 0 | 1 | 2 {
  if (character < '\u0300') return 1;
  if (COMBINING.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
