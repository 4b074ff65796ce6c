import { isDeepStrictEqual } from 'node:util';
import { durationText } from './duration.ts';
import type { MarbleEntry } from './marbles.ts';

/** An event of a row; its letter is kept where the test gave it one. */
export type RowEntry = MarbleEntry & { readonly letter?: string };

const SPARE = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
/** Gaps up to this are drawn as dashes, a millisecond each. */
const LONGEST_DASHES = 8;

/** Whether two rows have the same events at the same times. */
export function sameRows(expected: readonly RowEntry[], received: readonly RowEntry[]): boolean {
  return firstDifference(expected, received) === undefined;
}

/**
 * Says how two rows differ: both as marbles on one axis of time, equal events having equal letters, then the first
 * event that differs, with its values as a diff.
 */
export function alignedRows(expected: readonly RowEntry[], received: readonly RowEntry[]): string {
  const letters = new LetterTable(expected);
  const times = [...new Set([...expected, ...received].map(({ at }) => at))].sort((a, b) => a - b);
  const cells = times.map((time) => [cell(expected, time, letters), cell(received, time, letters)] as const);
  let rows: [string, string] = ['', ''];
  // Each character takes a millisecond, groups included, as in marbles. If events are closer, there is no gap.
  let drawnUpTo = 0;
  times.forEach((time, i) => {
    const gap = gapText(time - drawnUpTo);
    const [left, right] = cells[i] as readonly [string, string];
    const width = Math.max(left.length, right.length);
    rows = [rows[0] + gap + left.padEnd(width, '-'), rows[1] + gap + right.padEnd(width, '-')];
    drawnUpTo = Math.max(drawnUpTo, time) + width;
  });
  return [
    `Expected: ${rows[0] || '(no events)'}`,
    `Received: ${rows[1] || '(no events)'}`,
    '',
    difference(expected, received, letters),
  ].join('\n');
}

function difference(
  expected: readonly RowEntry[],
  received: readonly RowEntry[],
  letters: LetterTable,
): string {
  const index = firstDifference(expected, received);
  if (index === undefined) return 'The rows are the same.';
  const wanted = expected[index];
  const got = received[index];
  if (got === undefined && wanted !== undefined) {
    return `${letters.of(wanted)} was expected at ${durationText(wanted.at)}, but nothing more came:\n${lineDiff(wanted.data, undefined)}`;
  }
  if (wanted === undefined && got !== undefined) {
    return `${letters.of(got)} came at ${durationText(got.at)}, but nothing more was expected:\n${lineDiff(undefined, got.data)}`;
  }
  const [w, g] = [wanted, got] as [RowEntry, RowEntry];
  if (isLike(w.data, g.data)) {
    return `${letters.of(w)} was expected at ${durationText(w.at)}, but came at ${durationText(g.at)}.`;
  }
  const when =
    w.at === g.at ? `At ${durationText(w.at)}` : `At ${durationText(w.at)} and ${durationText(g.at)}`;
  return `${when}, the first event that differs (- expected ${letters.of(w)}, + received ${letters.of(g)}):\n${lineDiff(w.data, g.data)}`;
}

/** A line that is wanted may be of any source. */
function isLike(wanted: unknown, data: unknown): boolean {
  if (isDeepStrictEqual(wanted, data)) return true;
  const { source, ...line } = data as Readonly<Record<string, unknown>>;
  return typeof source === 'string' && typeof line.line === 'string' && isDeepStrictEqual(wanted, line);
}

function firstDifference(expected: readonly RowEntry[], received: readonly RowEntry[]): number | undefined {
  const longest = Math.max(expected.length, received.length);
  for (let i = 0; i < longest; i++) {
    const wanted = expected[i];
    const got = received[i];
    if (wanted === undefined || got === undefined) return i;
    if (wanted.at !== got.at || !isLike(wanted.data, got.data)) return i;
  }
  return undefined;
}

function cell(row: readonly RowEntry[], time: number, letters: LetterTable): string {
  const group = row
    .filter(({ at }) => at === time)
    .map((entry) => letters.of(entry))
    .join('');
  return group.length > 1 ? `(${group})` : group || '-';
}

function gapText(ms: number): string {
  return ms <= LONGEST_DASHES ? '-'.repeat(Math.max(0, ms)) : ` ${durationText(ms)} `;
}

/** Equal data have equal letters: those of the test first, then free ones. */
class LetterTable {
  readonly #known: { readonly data: unknown; readonly letter: string }[] = [];

  constructor(expected: readonly RowEntry[]) {
    for (const { data, letter } of expected) {
      if (letter !== undefined && this.#find(data) === undefined) this.#known.push({ data, letter });
    }
  }

  of({ data }: RowEntry): string {
    const found = this.#find(data);
    if (found !== undefined) return found;
    const letter = [...SPARE].find((spare) => this.#known.every((known) => known.letter !== spare)) ?? '·';
    this.#known.push({ data, letter });
    return letter;
  }

  #find(data: unknown): string | undefined {
    return this.#known.find((known) => isLike(known.data, data))?.letter;
  }
}

/**
 * Two values as indented JSON, line by line: `-` only in the first, `+` only in the second. What is the same at the
 * start and the end stands once; between, one block follows the other.
 */
function lineDiff(expected: unknown, received: unknown): string {
  return diffOf(lines(expected), lines(received), Number.POSITIVE_INFINITY);
}

/** Two lists of lines; `context`: how many lines that are the same are shown around what differs. */
export function diffOf(before: readonly string[], after: readonly string[], context: number): string {
  const { head, tail } = inCommon(before, after);
  const end = before.length - tail;
  return [
    ...before.slice(Math.max(0, head - context), head).map((line) => `  ${line}`),
    ...before.slice(head, end).map((line) => `- ${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+ ${line}`),
    ...before.slice(end, end + context).map((line) => `  ${line}`),
  ].join('\n');
}

/** How many items of two lists are the same at the start and at the end. */
export function inCommon(
  before: readonly string[],
  after: readonly string[],
): { readonly head: number; readonly tail: number } {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return { head, tail };
}

function lines(value: unknown): string[] {
  return (JSON.stringify(value, undefined, 2) ?? String(value)).split('\n');
}
