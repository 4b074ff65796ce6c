import { TestScheduler } from 'rxjs/testing';
import { isoNow } from '../../operators/internal.ts';
import { describeValue } from '../sdk/checks/describe.ts';
import { MillraceError } from '../sdk/errors.ts';
import { isEvent } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { DURATION } from '../sdk/quantities.ts';
import { durationText, toMilliseconds } from './duration.ts';

/** One event of a row: its virtual time in milliseconds, and its data. */
export interface MarbleEntry {
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A marble string, read. */
export interface MarbleRow {
  readonly entries: readonly (MarbleEntry & { readonly letter: string })[];
  readonly end: { readonly at: number; readonly kind: 'completed' | 'failed' } | undefined;
}

/**
 * Reads a marble string in RxJS's syntax: a character is 1 ms, `-` nothing, letters are values, `(ab)` several at
 * once, `|` the end, `#` an error, and ` 5s ` a time (`ms`, `s`, `m`, `h`, `d`) set off by spaces.
 *
 * @throws MillraceError `MILLRACE_TEST_MARBLES` if the string is not valid
 */
export function parseMarbleRow(text: string, values?: MarbleValues): MarbleRow {
  const entries: (MarbleEntry & { letter: string })[] = [];
  let end: MarbleRow['end'];
  for (const { frame, notification } of readNotifications(text)) {
    if (notification.kind === 'N') {
      const letter = notification.value;
      entries.push({ at: frame, data: toData(letterValue(letter, values)), letter });
    } else {
      end = { at: frame, kind: notification.kind === 'C' ? 'completed' : 'failed' };
    }
  }
  return { entries, end };
}

/** RxJS knows no hours, days, times of several units and line breaks. Checks what its parser would let pass. */
function rxjsMarbles(text: string): string {
  if (typeof text !== 'string') {
    throw new MillraceError('MILLRACE_TEST_MARBLES', `marbles are a string; found ${describeValue(text)}`);
  }
  const wrong = problemIn(text);
  if (wrong !== undefined) {
    const message = `the marbles '${text}' cannot be read: ${wrong}; see docs/testing.md for the syntax`;
    throw new MillraceError('MILLRACE_TEST_MARBLES', message);
  }
  return text
    .replace(/\s+/g, ' ')
    .replace(/(?<= |^)\d\S+(?= |$)/g, (token) =>
      DURATION.test(token) ? `${toMilliseconds(token)}ms` : token,
    );
}

const GLUED_TIME = /^\d+(?:ms|[smhd])|\d(?:ms|[smhd])$/;
/** What people write for a unit. Set off by spaces it would be taken for events called 1 and w. */
const WRONG_UNIT =
  /^(\d+(?:\.\d+)?)(?:ns|[uµ]s|msecs?|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|w|weeks?|mo|months?|y|years?|MS|[SMHD])$/;
const BARE_NUMBER = /^\d{2,}$|^\d+\.\d+$/;
const UNIT = /^(?:ms|[smhd])$/;

function problemIn(text: string): string | undefined {
  if (/\([^)]*(?:\(|$)/.test(text)) return 'a ( is not closed';
  if (/^[^(]*\)|\)[^(]*\)/.test(text)) return 'a ) has no (';
  if (/[|#].*[^\s)-]/s.test(text)) return 'something follows the end';
  if (/[\^!]/.test(text)) return '^ and ! mean nothing here';
  const tokens = text.trim().split(/\s+/);
  if (DURATION.test(tokens.at(-1) ?? '')) return 'a time at the end, where nothing follows it';
  const notATime = tokens.length === 1 ? undefined : timeProblemIn(tokens);
  if (notATime !== undefined) return notATime;
  if (tokens.some((token) => !DURATION.test(token) && GLUED_TIME.test(token))) {
    return 'a time must be set off by spaces';
  }
  return undefined;
}

const UNITS = 'units are ms, s, m, h and d';

function timeProblemIn(tokens: readonly string[]): string | undefined {
  for (const [i, token] of tokens.entries()) {
    const next = tokens[i + 1] ?? '';
    if (/^\d+(?:\.\d+)?$/.test(token) && UNIT.test(next))
      return `${token} ${next} is written without a space: ${token}${next}`;
    if (WRONG_UNIT.test(token)) return `${token} is not a time; ${UNITS}`;
    if (BARE_NUMBER.test(token)) return `${token} is a time without a unit; ${UNITS}`;
  }
  return undefined;
}

function readNotifications(text: string) {
  const marbles = rxjsMarbles(text);
  const { frameTimeFactor } = TestScheduler;
  // A character is 1 ms, as `TestScheduler.run` sets it.
  TestScheduler.frameTimeFactor = 1;
  try {
    return TestScheduler.parseMarbles(marbles, undefined, undefined, false, true);
  } finally {
    TestScheduler.frameTimeFactor = frameTimeFactor;
  }
}

/**
 * The events of a marble string, to be compared with what a forwarder got. A row of a forwarder has no end of its
 * own: `|` and `#` are refused; the matcher `toForward` understands them as the end of the run.
 *
 * @example
 * marbles('a 4ms b', { a: 'one', b: 'two' });
 * // [{ at: 0, data: { line: 'one' } }, { at: 5, data: { line: 'two' } }]
 */
export function marbles(text: string, values?: MarbleValues): MarbleEntry[] {
  const { entries, end } = parseMarbleRow(text, values);
  if (end !== undefined) {
    const message = `the marbles '${text}' have an end, but what a forwarder got has none; leave out | and #, and look at run.state and run.endedAt`;
    throw new MillraceError('MILLRACE_TEST_MARBLES', message);
  }
  return entries.map(({ at, data }) => ({ at, data }));
}

/**
 * Groups of letters as a marble string; undefined if they come too close for that.
 *
 * @param groups by their times: milliseconds, in their order
 */
export function marbleText(groups: Iterable<readonly [at: number, letters: string]>): string | undefined {
  const parts: string[] = [];
  let cursor = 0;
  for (const [at, letters] of groups) {
    if (at < cursor) return undefined;
    const text = letters.length > 1 ? `(${letters})` : letters;
    parts.push(...(at > cursor ? [durationText(at - cursor)] : []), text);
    // Each character takes a millisecond, including the brackets of a group, as in RxJS.
    cursor = at + text.length;
  }
  return parts.join(' ');
}

/** What a letter of a marble string stands for; see {@link toData}. */
export type MarbleValues = Readonly<Record<string, unknown>>;

/**
 * The data of the event that a value stands for: a string is a line, an event stands for itself, another object is
 * the data, and anything else is `{ value }`. A letter without a value is the data `{ value: letter }`.
 *
 * @example
 * toData('GET /'); // { line: 'GET /' }
 * toData({ user: 'ada' }); // { user: 'ada' }
 */
export function toData(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'string') return { line: value };
  if (isEvent(value)) return value.data;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  return { value };
}

/** The event that a value stands for, stamped with the virtual time. */
export function toEvent(value: unknown): CollectedEvent {
  return isEvent(value)
    ? { ...value, timestamp: value.timestamp ?? isoNow() }
    : { timestamp: isoNow(), data: toData(value) };
}

/** From this code point on, which is for private use, letters name events that have none in a drawing. */
export const FIRST_UNSHOWN_LETTER = 0xf0000;

/** The value of a letter. */
export function letterValue(letter: string, values: MarbleValues | undefined): unknown {
  return values !== undefined && Object.hasOwn(values, letter) ? values[letter] : { value: letter };
}
