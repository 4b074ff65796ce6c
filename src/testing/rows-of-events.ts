import { isDeepStrictEqual } from 'node:util';
import type { CollectedEvent } from '../sdk/events.ts';
import { type LineEnvelope, LineEvents } from '../sdk/line-events.ts';
import { ParsedEvents, type ParsedFields } from '../sdk/parsed-events.ts';
import type { Rows } from '../sdk/rows.ts';

/** Rows that are made of events, with the position of the first. */
export interface FormedRows {
  readonly start: number;
  readonly rows: Rows;
}

/** Events as a collector of lines would emit them: those that are lines, consecutive ones of one file together. */
export function asLines(events: readonly CollectedEvent[]): FormedRows[] {
  return consecutive(events, lineEnvelopeOf).map(({ start, end, common }) => {
    const lines = events.slice(start, end).map(({ data }) => data.line as string);
    return { start, rows: LineEvents.of(lines, common) };
  });
}

/** Events as `parse` would emit them: those that lines can be parsed to, consecutive ones of one file together. */
export function asParsed(events: readonly CollectedEvent[]): FormedRows[] {
  return consecutive(events, parsedEnvelopeOf).map(({ start, end, common }) => {
    const part = events.slice(start, end);
    const timestamps = part.map(({ timestamp }) => timestamp);
    const fields = part.map(({ data }) => copyOfJson(data) as ParsedFields);
    return { start, rows: new ParsedEvents(fields, common, timestamps) };
  });
}

/** Parts of a list that have an envelope, and the same one. */
function consecutive(
  events: readonly CollectedEvent[],
  envelopeOf: (event: CollectedEvent) => LineEnvelope | undefined,
) {
  const parts: { readonly start: number; end: number; readonly common: LineEnvelope }[] = [];
  events.forEach((event, position) => {
    const common = envelopeOf(event);
    if (common === undefined) return;
    const last = parts.at(-1);
    // A line that was cut has a batch of its own.
    const isNext = last?.end === position && !common.isTruncated;
    if (isNext && isDeepStrictEqual(last.common, common)) last.end++;
    else parts.push({ start: position, end: position + 1, common });
  });
  return parts;
}

/** What the lines of a file have in common, if this is an event of a line. */
export function lineEnvelopeOf(event: CollectedEvent): LineEnvelope | undefined {
  const { timestamp, data, backfill, truncated, ...others } = event as CollectedEvent &
    Record<string, unknown>;
  const { line, source, ...fields } = data as Record<string, unknown>;
  const isLine =
    typeof line === 'string' &&
    typeof source === 'string' &&
    typeof backfill === 'boolean' &&
    (truncated === undefined || truncated === true) &&
    Object.keys(others).length + Object.keys(fields).length === 0;
  return isLine ? { timestamp, source, backfill, isTruncated: truncated === true } : undefined;
}

function parsedEnvelopeOf(event: CollectedEvent): LineEnvelope | undefined {
  const { timestamp: _, data, backfill, ...others } = event as CollectedEvent & Record<string, unknown>;
  if (typeof backfill !== 'boolean' || Object.keys(others).length > 0 || !isJson(data)) return undefined;
  const source = typeof data.source === 'string' ? data.source : '';
  return { timestamp: TIMESTAMP, source, backfill, isTruncated: false };
}

/** Each parsed event has a time of its own. */
const TIMESTAMP = '1970-01-01T00:00:00.000Z';

/** A copy as `parse` would make it. */
export function copyOfJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Whether a value is what JSON holds, as it holds it. */
export function isJson(value: unknown, depth = 0): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || depth > DEEPEST) return false;
  if (Array.isArray(value)) return value.every((inner) => isJson(inner, depth + 1));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return false;
  return Object.values(value).every((inner) => isJson(inner, depth + 1));
}

const DEEPEST = 100;
