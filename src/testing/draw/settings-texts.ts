import { inspect } from 'node:util';
import { UNBROKEN } from '../../graph/words.ts';
import { printable } from '../../sdk/printable.ts';

/** Characters of a setting that stay on one line. */
const LONGEST_UNBROKEN = 40;
/** Longer settings end after the last whole part before this. */
const LONGEST = 240;

/**
 * The settings of an entry, as the configuration writes them; those that say nothing (`null`, `false`, empty) are
 * left out.
 *
 * @example
 * settingsTexts({ delay: 2, backfill: false }); // ['delay:\u00a02']
 */
export function settingsTexts(settings: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(settings)
    .filter(([, value]) => !isEmpty(value))
    .map(([name, value]) => pair(name, value));
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === null || value === undefined || value === false || value === '';
}

/** Lines are broken between settings, and between the entries of one, rather than after a name. */
const pair = (name: string, value: unknown) => `${printable(name)}:${UNBROKEN}${flow(value)}`;

function flow(value: unknown): string {
  if (Array.isArray(value)) return value.length === 1 ? flow(value[0]) : `[${value.map(flow).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, inner]) => !isEmpty(inner));
    return `{${entries.map(([key, inner]) => pair(key, inner)).join(', ')}}`;
  }
  const text = typeof value === 'string' ? value : inspect(value);
  const shown = printable(/^\s|\s$/.test(text) ? `'${text}'` : text);
  return breakable(cutAtPart(shown));
}

/** Lines are broken before the operators of a long condition, rather than between its other words. */
function breakable(text: string): string {
  const unbroken = text.replaceAll(' ', UNBROKEN);
  return [...text].length <= LONGEST_UNBROKEN ? unbroken : unbroken.replace(BEFORE_OPERATOR, ' ');
}

const BEFORE_OPERATOR = new RegExp(`${UNBROKEN}(?=(?:&&|\\|\\||\\?|:)${UNBROKEN})`, 'g');

/** The text up to its last space before the limit; of one without spaces, its start. */
function cutAtPart(text: string): string {
  const characters = [...text];
  if (characters.length <= LONGEST) return text;
  const start = characters.slice(0, LONGEST).join('');
  const end = Math.max(start.lastIndexOf(' && '), start.lastIndexOf(' || '));
  const space = end > 0 ? end : start.lastIndexOf(' ');
  return `${space > 0 ? start.slice(0, space) : start} …`;
}
