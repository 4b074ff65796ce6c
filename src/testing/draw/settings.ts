import { inspect } from 'node:util';
import { printable } from '../../sdk/printable.ts';
import { shorten } from './printable.ts';
import { UNBROKEN } from './text-words.ts';

const LONGEST = 40;

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
  return shorten(shown, LONGEST).replaceAll(' ', UNBROKEN);
}
