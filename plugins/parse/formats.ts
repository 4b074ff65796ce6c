import { MAX_LINE_BYTES } from '../../operators/internal.ts';
import { parseJson } from '../../src/sdk/index.ts';

export type Fields = Readonly<Record<string, unknown>>;

/**
 * Parses a string of at most {@link MAX_LENGTH} characters; undefined if it is not in the format.
 *
 * @param fields to which a parser may add what it finds, and return them: that spares a copy
 */
export type Parser = (text: string, fields?: Record<string, unknown>) => unknown;

/** Characters. A longer string is in no format: V8 fails on expressions that take more. */
export const MAX_LENGTH = MAX_LINE_BYTES;
const DEEPEST_JSON = 64;

/** A number that JavaScript does not have exactly becomes a string. */
export function parseJsonValue(text: string): unknown {
  try {
    const value = parseJson(text);
    return isNestedDeeper(value, DEEPEST_JSON) ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * The fields of an object of JSON after those of another one, as in `{"source":"app.log",`: to parse both together costs
 * less than to copy one. Undefined for what is not an object with fields.
 */
export function parseJsonAfter(opening: string, text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{"')) return undefined;
  return parseJsonValue(opening + text.slice(1)) as Record<string, unknown> | undefined;
}

function isNestedDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  // All of its properties are own ones. An array of their values would cost as much as the rest.
  for (const key in value) if (isNestedDeeper((value as Fields)[key], depth - 1)) return true;
  return false;
}

/** One line of CSV as in RFC 4180, with a name for each column. */
export function csvParser(columns: readonly string[], delimiter: string): Parser {
  return (text) => {
    const values = csvValues(text, delimiter);
    if (values?.length !== columns.length) return undefined;
    return Object.fromEntries(columns.map((column, index) => [column, values[index]]));
  };
}

function csvValues(text: string, delimiter: string): string[] | undefined {
  const values: string[] = [];
  for (let at = 0; ; ) {
    let end: number;
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1);
      if (close === -1) return undefined;
      values.push(text.slice(at + 1, close).replaceAll('""', '"'));
      end = close + 1;
    } else {
      const next = text.indexOf(delimiter, at);
      end = next === -1 ? text.length : next;
      values.push(text.slice(at, end));
    }
    if (end === text.length) return values;
    if (!text.startsWith(delimiter, end)) return undefined;
    at = end + delimiter.length;
  }
}

function closingQuote(text: string, start: number): number {
  let at = text.indexOf('"', start);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

const CRI = /^(\d{4}-\d\d-\d\dT\S+) (stdout|stderr) ([FP])(?::\S*)? (.*)$/s;

/** A line of a container's log as Kubernetes stores it. The line that the container wrote becomes `line`. */
export function parseCri(text: string): Fields | undefined {
  const [, time, stream, flag, line] = CRI.exec(text) ?? [];
  return time === undefined ? undefined : { time, stream, partial: flag === 'P', line };
}
