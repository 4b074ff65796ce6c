import { MillraceError } from '../sdk/errors.ts';
import { letterValue, parseMarbleRow } from './marbles.ts';
import type { CollectorRow } from './stand-in-collector.ts';
import type {
  CollectorEvents,
  CollectorMarbles,
  CollectorRuns,
  TestPipelineOptions,
} from './test-pipeline.ts';

type Given = CollectorMarbles | CollectorEvents | CollectorRuns;

/** Whether each run of a collector sees a row of its own. Otherwise all see the same one. */
export function isOnePerRun(given: Given): boolean {
  return 'runs' in given || ('marbles' in given && typeof given.marbles !== 'string');
}

/** What a collector fails with in a run, if it does. */
export function failureOf(given: Given, run: number): unknown {
  if (!('marbles' in given)) return failure('the test lets this collector fail');
  const texts = [given.marbles].flat();
  return given.error ?? failure(`the marbles '${texts[run] ?? texts[0]}' end with #`);
}

/** The letters that a test gives itself. */
export function usedLetters({ collect = {} }: TestPipelineOptions): Set<string> {
  const rows = Object.values(collect).flatMap((given) => (given === 'keep' ? [] : rowsOf(given)));
  return new Set(rows.flatMap(({ entries }) => entries.flatMap(({ letter }) => letter ?? [])));
}

/** When the longest of the collectors ends, one run after the other: milliseconds. */
export function lastMarble({ collect = {} }: TestPipelineOptions): number {
  const lengths = Object.values(collect).map((given) => {
    const rows = given === 'keep' ? [] : rowsOf(given);
    return rows.reduce((length, { entries, end }) => length + (end?.at ?? entries.at(-1)?.at ?? 0), 0);
  });
  return Math.max(0, ...lengths);
}

/** What a collector emits. */
export function rowsOf(given: Given): CollectorRow[] {
  if ('runs' in given) return given.runs.map(rowOfEvents);
  if ('events' in given) return [rowOfEvents(given)];
  return [given.marbles].flat().map((text) => {
    const { entries, end } = parseMarbleRow(text);
    const value = (letter: string) => letterValue(letter, given.values);
    return { entries: entries.map(({ at, letter }) => ({ at, letter, value: value(letter) })), end };
  });
}

function rowOfEvents({ events, failsAt, endsAt = events.at(-1)?.at ?? 0 }: CollectorEvents): CollectorRow {
  if (failsAt !== undefined) return { entries: events, end: { at: failsAt, kind: 'failed' } };
  return { entries: events, end: Number.isFinite(endsAt) ? { at: endsAt, kind: 'completed' } : undefined };
}

function failure(message: string): MillraceError {
  return new MillraceError('MILLRACE_TEST_FAILURE', message);
}
