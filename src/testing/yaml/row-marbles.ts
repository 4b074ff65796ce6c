import type { RowExpectation } from '../../config/tests/expectations.ts';
import type { CollectorInput, TestDefinition } from '../../config/tests/test-definition.ts';
import { isMapping } from '../../sdk/checks/problem.ts';
import { alignedRows, type RowEntry } from '../aligned-rows.ts';
import { timeText } from '../draw/value-text.ts';
import { durationText, toMilliseconds } from '../duration.ts';
import { type MarbleValues, marbleText, parseMarbleRow } from '../marbles.ts';
import type { TimedValue } from '../stand-in-collector.ts';
import type { CollectorEvents, CollectorMarbles, CollectorRuns } from '../test-pipeline.ts';
import { type EventMatcher, mismatch, toWantedData, written } from './matcher.ts';
import { countedEvents, type Finding, type ReceivedEvent, whatCame } from './received.ts';

/** An event that marbles expect. */
interface Expected {
  readonly at: number;
  readonly letter: string;
  readonly matcher: EventMatcher;
}

type Collected = ReadonlyMap<string, readonly unknown[]>;

/** These events at these times, in this order, and no others. */
export function checkMarbles(
  { marbles = '', values = {}, within }: RowExpectation,
  received: readonly ReceivedEvent[],
  collected: Collected,
): Finding[] {
  const tolerance = within === undefined ? 0 : toMilliseconds(within);
  const expected = parseMarbleRow(marbles).entries.map(({ at, letter }): Expected => {
    const matcher = Object.hasOwn(values, letter)
      ? written(values[letter])
      : { wanted: collected.get(letter)?.[0], isLiteral: true };
    return { at, letter, matcher };
  });
  const isLike = (index: number) => {
    const [wanted, got] = [expected[index], received[index]];
    return wanted !== undefined && got !== undefined && mismatch(wanted.matcher, got.event) === undefined;
  };
  const isInTime = (index: number) =>
    Math.abs((expected[index] as Expected).at - (received[index]?.at ?? Number.NaN)) <= tolerance;
  const sameEvents = expected.length === received.length && [...expected.keys()].every(isLike);
  if (sameEvents && [...expected.keys()].every(isInTime)) return [];

  const rows = alignedRows(
    expectedRow(expected, received, tolerance),
    received.map(({ at, event }) => ({ at, data: event.data })),
  );
  const came = sameEvents ? pasteable(expected, received) : undefined;
  return [
    {
      path: ['marbles'],
      message: sameEvents ? 'the events are right, their times are not' : 'other events came than expected',
      details: came === undefined ? rows : `${rows}\nIf that is right, write: marbles: '${came}'`,
    },
  ];
}

/**
 * The expected events as data, to be drawn and compared: one that is as wanted is the received one itself, and
 * one that is not differs from it only where something is wanted of it.
 */
function expectedRow(
  expected: readonly Expected[],
  received: readonly ReceivedEvent[],
  tolerance: number,
): RowEntry[] {
  const free = new Set(received.keys());
  return expected.map(({ at, letter, matcher }, index) => {
    const isLike = (candidate: number) =>
      mismatch(matcher, (received[candidate] as ReceivedEvent).event) === undefined;
    const found = [index, ...free].find((candidate) => free.has(candidate) && isLike(candidate));
    if (found !== undefined) free.delete(found);
    const like = found === undefined ? undefined : received[found];
    const isInTime = found === index && like !== undefined && Math.abs(like.at - at) <= tolerance;
    const data =
      like?.event.data ?? overlay(toWantedData(matcher.wanted), received[index]?.event.data, matcher);
    return { at: isInTime ? like.at : at, letter, data: data as RowEntry['data'] };
  });
}

/** What was found, with what is wanted where that is something else. */
function overlay(wanted: unknown, found: unknown, matcher: EventMatcher): unknown {
  if (isMapping(wanted) && isMapping(found)) {
    const keys = Object.entries(wanted).map(([key, item]) => [key, overlay(item, found[key], matcher)]);
    return { ...found, ...Object.fromEntries(keys) };
  }
  const isLike = mismatch(
    { ...matcher, wanted: { value: wanted } },
    { timestamp: '', data: { value: found } },
  );
  return isLike === undefined ? found : wanted;
}

/** What came as marbles with the test's letters; undefined if events came too close for that. */
function pasteable(expected: readonly Expected[], received: readonly ReceivedEvent[]): string | undefined {
  const groups = new Map<number, string>();
  for (const [index, { at }] of received.entries()) {
    groups.set(at, `${groups.get(at) ?? ''}${expected[index]?.letter ?? ''}`);
  }
  return marbleText(groups);
}

/** One event at each of these times, and no others. */
export function checkTimes(
  { times = [], within }: RowExpectation,
  received: readonly ReceivedEvent[],
): Finding[] {
  const tolerance = within === undefined ? 0 : toMilliseconds(within);
  const isInTime = (time: string, index: number) =>
    Math.abs(toMilliseconds(time) - (received[index]?.at ?? Number.NaN)) <= tolerance;
  if (times.length === received.length && times.every(isInTime)) return [];
  const came = received.map(({ at }) => timeText(at)).join(', ');
  const found = received.length === 0 ? 'none came' : `${countedEvents(received.length)} came, at ${came}`;
  const message = `expected ${countedEvents(times.length)} at ${times.join(', ')}; ${found}`;
  const isCountRight = times.length === received.length;
  const path = isCountRight ? ['times', times.findIndex((time, index) => !isInTime(time, index))] : ['times'];
  const pasteable = `If that is right, write: times: [${received.map(({ at }) => durationText(at)).join(', ')}]`;
  return [{ path, message, details: isCountRight ? pasteable : whatCame(received) }];
}

/** The letters of listed values, in the order in which they are given away. */
const ALPHABET = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
export const MOST_LISTED_VALUES = 10_000;
/** Of a collector, in one run: a recording takes the whole of its last batch. */
export const MOST_TIMED_EVENTS = 20_000;

/** The letters of a marble string. */
export function lettersIn(marbles: string): string[] {
  return [...new Set(parseMarbleRow(marbles).entries.map(({ letter }) => letter))];
}

/** The marble strings of a collector; none if it is kept or lists values. */
function marbleTexts(input: CollectorInput): string[] {
  return typeof input === 'object' && 'marbles' in input ? [input.marbles].flat() : [];
}

/**
 * What collectors emit; nothing for one that gets what another pipeline delivers. Listed values come all at once, and then
 * the end. Their letters are a, b, c, … as far as no marbles of the test use them; further values have none. The same holds
 * for events with times.
 */
export function collectorInputs(
  collect: NonNullable<TestDefinition['collect']>,
): Record<string, CollectorTestInput> {
  const used = new Set(Object.values(collect).flatMap(marbleTexts).flatMap(lettersIn));
  const free = ALPHABET.filter((letter) => !used.has(letter));
  const withLetters = (events: readonly TimedValue[]): TimedValue[] => {
    const letters = free.splice(0, events.length);
    return events.map((event, index) => {
      const letter = letters[index];
      return letter === undefined ? event : { ...event, letter };
    });
  };
  const runOf = ({ events, completes_at, fails_at }: TimedEvents): CollectorEvents => {
    const timed = withLetters(events.map(({ at, value }) => ({ at: toMilliseconds(at), value })));
    if (fails_at !== undefined) return { events: timed, failsAt: toMilliseconds(fails_at) };
    return {
      events: timed,
      endsAt: completes_at === undefined ? Number.POSITIVE_INFINITY : toMilliseconds(completes_at),
    };
  };
  return Object.fromEntries(
    Object.entries(collect).flatMap(([name, input]): [string, CollectorTestInput][] => {
      if (input === 'keep') return [[name, input]];
      // Actions at the same time as the events happen before the end, as in the marbles `(ab|)`.
      if (isList(input)) {
        return [[name, { events: withLetters(input.map((value: unknown) => ({ at: 0, value }))) }]];
      }
      if ('events' in input) return [[name, runOf(input)]];
      if ('runs' in input) return [[name, { runs: input.runs.map(runOf) }]];
      if (!('marbles' in input)) return [];
      const { marbles, values } = input;
      return [[name, values === undefined ? { marbles } : { marbles, values: values as MarbleValues }]];
    }),
  );
}

type CollectorTestInput = CollectorMarbles | CollectorEvents | CollectorRuns | 'keep';
type TimedEvents = Extract<CollectorInput, { readonly events: unknown }>;

function isList(input: CollectorInput): input is readonly unknown[] & CollectorInput {
  return Array.isArray(input);
}

/** What each letter stands for in what collectors emit: several values if collectors differ. */
export function collectedValues(
  collect: NonNullable<TestDefinition['collect']>,
): ReadonlyMap<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  const add = (letter: string, value: unknown) => found.set(letter, [...(found.get(letter) ?? []), value]);
  for (const input of Object.values(collectorInputs(collect))) {
    if (input === 'keep') continue;
    if (!('marbles' in input)) {
      const events = 'runs' in input ? input.runs.flatMap((run) => run.events) : input.events;
      for (const { letter, value } of events) if (letter !== undefined) add(letter, value);
    } else {
      for (const letter of [input.marbles].flat().flatMap(lettersIn)) {
        add(letter, input.values === undefined ? { value: letter } : input.values[letter]);
      }
    }
  }
  return found;
}
