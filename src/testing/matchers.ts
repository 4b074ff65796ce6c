import { alignedRows, type RowEntry, sameRows } from './aligned-rows.ts';
import { durationText } from './duration.ts';
import { type MarbleEntry, type MarbleValues, parseMarbleRow } from './marbles.ts';
import type { PipelineRun } from './pipeline-run.ts';

interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/**
 * Compares a row of events, such as `run.forwarded('archive')`, with marbles. A failure shows both rows aligned,
 * and the first event that differs as a diff.
 */
function toEqualMarbles(
  received: readonly MarbleEntry[],
  text: string,
  values?: MarbleValues,
): MatcherResult {
  return compare(parseMarbleRow(text, values).entries, received, 'toEqualMarbles');
}

/**
 * Compares what a forwarder has delivered with marbles. Their end, if they have one, is that of the run: `|` for
 * completed (or stopped), `#` for failed.
 */
function toForward(run: PipelineRun, forwarder: string, text: string, values?: MarbleValues): MatcherResult {
  const { entries, end } = parseMarbleRow(text, values);
  const rows = compare(entries, run.forwarded(forwarder), `toForward ${forwarder}`);
  if (!rows.pass || end === undefined) return rows;
  const state = run.state === 'stopped' ? 'completed' : run.state;
  const pass = run.endedAt === end.at && state === end.kind;
  const actual =
    run.endedAt === undefined ? `was still ${run.state}` : `was ${run.state} at ${durationText(run.endedAt)}`;
  return {
    pass,
    message: () =>
      pass
        ? `toForward ${forwarder}: the run was not expected to be ${end.kind} at ${durationText(end.at)}, but was`
        : `toForward ${forwarder}: all events are as expected, but the run was to be ${end.kind} at ${durationText(end.at)}, and ${actual}`,
  };
}

function compare(expected: readonly RowEntry[], received: readonly RowEntry[], name: string): MatcherResult {
  const pass = sameRows(expected, received);
  return {
    pass,
    message: () =>
      `${name}\n\n${pass ? 'The rows are the same, and were expected to differ.' : alignedRows(expected, received)}`,
  };
}

/**
 * Matchers for Jest and Vitest:
 *
 *     import { expect } from '@jest/globals';
 *     import { millraceMatchers } from 'millrace/testing';
 *     expect.extend(millraceMatchers);
 */
export const millraceMatchers = { toEqualMarbles, toForward };

/**
 * The types of the matchers. Tell TypeScript that `expect` has them:
 *
 *     declare module 'expect' {
 *       interface Matchers<R> extends MillraceMatchers<R> {}
 *     }
 */
export interface MillraceMatchers<R> {
  toEqualMarbles(marbles: string, values?: MarbleValues): R;
  toForward(forwarder: string, marbles: string, values?: MarbleValues): R;
}
