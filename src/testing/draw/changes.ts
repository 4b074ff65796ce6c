import { isDeepStrictEqual } from 'node:util';
import { shorten } from '../../graph/words.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { printable } from '../../sdk/printable.ts';
import { inCommon } from '../aligned-rows.ts';
import { quotable, valueText } from './value-text.ts';

/** Longest value in a legend, in characters. */
const LONGEST = 36;
const CONTEXT = 8;
const MOST_FIELDS = 4;

/** A field that differs; one that is missing is undefined. */
interface FieldChange {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The fields in which two events differ, timestamps aside. Fields of the data go by their own names. */
export function changesBetween(before: CollectedEvent, after: CollectedEvent): FieldChange[] {
  const changes: FieldChange[] = [];
  collect(fieldsOf(before), fieldsOf(after), '', changes);
  return changes;
}

/** How much two events differ: the fields that do, those with a text in common for less. */
export function distance(before: CollectedEvent, after: CollectedEvent): number {
  return changesBetween(before, after).reduce((sum, change) => sum + 1 - likeness(change), 0);
}

/** The share of two strings that is the same, from 0 to nearly 1. */
function likeness({ before, after }: FieldChange): number {
  if (typeof before !== 'string' || typeof after !== 'string') return 0;
  const { head, tail } = inCommon([...before], [...after]);
  return (head + tail) / (1 + Math.max(before.length, after.length));
}

/**
 * What a stage made of an event, for a legend.
 *
 * @example
 * changesText([{ path: 'line', before: 'user k-1', after: 'user <:KEY:>' }]);
 * // 'line: "user k-1" → "user <:KEY:>"'
 */
export function changesText(changes: readonly FieldChange[]): string {
  return listed(
    changes.map(({ path, before, after }) => {
      const name = printable(path);
      if (before === undefined) return `+ ${name}: ${valueText(after, LONGEST)}`;
      if (after === undefined) return `− ${name}`;
      if (typeof before !== 'string' || typeof after !== 'string') {
        return `${name}: ${valueText(before, LONGEST)} → ${valueText(after, LONGEST)}`;
      }
      const [from, to] = aroundChange([...before], [...after]);
      return `${name}: ${from} → ${to}`;
    }),
  );
}

/** The fields of an event, for a legend. Of a line, its file only if there are several. */
export function eventText(event: CollectedEvent, hasSeveralSources: boolean): string {
  const isLine = typeof event.data.line === 'string';
  const isUsual = (name: string, value: unknown) =>
    isLine && ((name === 'source' && !hasSeveralSources) || (name === 'event.backfill' && value === false));
  const fields = Object.entries(fieldsOf(event)).filter((field) => !isUsual(...field));
  return listed(fields.map(([name, value]) => `${printable(name)}: ${valueText(value, LONGEST)}`));
}

function listed(parts: readonly string[]): string {
  const more = parts.length - MOST_FIELDS;
  return more > 1 ? `${parts.slice(0, MOST_FIELDS).join(', ')}, … ${more} more` : parts.join(', ');
}

function fieldsOf({ timestamp, data, ...others }: CollectedEvent): Record<string, unknown> {
  return {
    ...data,
    ...Object.fromEntries(Object.entries(others).map(([key, value]) => [`event.${key}`, value])),
  };
}

function collect(before: object, after: object, path: string, changes: FieldChange[]): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const from = (before as Record<string, unknown>)[key];
    const to = (after as Record<string, unknown>)[key];
    const name = Array.isArray(before) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    if (isContainer(from) && isContainer(to)) collect(from, to, name, changes);
    else if (!isDeepStrictEqual(from, to)) changes.push({ path: name, before: from, after: to });
  }
}

function isContainer(value: unknown): value is object {
  return Array.isArray(value) || Object.prototype.toString.call(value) === '[object Object]';
}

/** Both strings in quotes; of long ones only the part that differs, with a little of what is around it. */
function aroundChange(before: readonly string[], after: readonly string[]): [string, string] {
  const { head, tail } = inCommon(before, after);
  const skipped = Math.max(before.length, after.length) > LONGEST;
  const from = skipped && head > CONTEXT + 1 ? head - CONTEXT : 0;
  const kept = skipped && tail > CONTEXT + 1 ? tail - CONTEXT : 0;
  return [before, after].map((text) => {
    const part = quotable(text.slice(from, text.length - kept).join(''));
    return `"${from > 0 ? '…' : ''}${shorten(part, LONGEST)}${kept > 0 ? '…' : ''}"`;
  }) as [string, string];
}
