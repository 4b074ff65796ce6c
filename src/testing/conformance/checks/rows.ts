import { isDeepStrictEqual } from 'node:util';
import type { PipelineRunContext } from '../../../sdk/context.ts';
import type { CollectedEvent } from '../../../sdk/events.ts';
import { freezeDeep } from '../../../sdk/freeze.ts';
import { isMask, type Plugin, type ProcessPlugin } from '../../../sdk/plugin.ts';
import type { Rows } from '../../../sdk/rows.ts';
import { serialise } from '../../../sdk/serialise.ts';
import { differenceOf, FormProblem, mapByFasterForm, type RowOutcome } from '../../faster-forms.ts';
import { type Check, CheckFailure, demand } from '../check.ts';
import { type Counts, counting, demandCounts } from '../counting.ts';
import { processedBy } from '../observe.ts';
import { heldRows, sampleRows } from '../sample-rows.ts';
import type { Subject } from '../subject.ts';

/** The way of a processor past its events, for rows such as parsed fields. */
export const ROW_CHECKS: readonly Check[] = [
  {
    name: 'rows: mapRows does what process does, and accounts for each row',
    kinds: ['process'],
    applies: (plugin: Plugin) => (plugin as ProcessPlugin | undefined)?.mapRows !== undefined,
    async run(subject) {
      let mapped = 0;
      for (const make of sampleRows(subject)) if (await isMappedAlike(subject, make)) mapped++;
      return mapped === 0 ? 'mapRows returns undefined for every sample: process does it all' : undefined;
    },
  },
];

/** Compares `mapRows` with `process` for some rows; false if it leaves them to another form. */
async function isMappedAlike(subject: Subject, make: () => Rows): Promise<boolean> {
  const { events, size } = make();
  events.forEach(freezeDeep);
  const plain = counting(subject);
  const expected: RowOutcome[] = [];
  for (const event of events) expected.push(await processedBy(subject, plain.ctx, event));
  // In one call, and in several, as the engine asks for many rows.
  const ways = [[size], [1, 2, size], [size - 1, size]];
  for (const ends of ways) {
    if (!isMappedBy(subject, make(), ends, events, expected, plain.counts)) return false;
  }
  demandUnchanged(subject, heldRows(make(), events), events, expected);
  return true;
}

function isMappedBy(
  subject: Subject,
  rows: Rows,
  ends: readonly number[],
  events: readonly CollectedEvent[],
  expected: readonly RowOutcome[],
  counts: Counts,
): boolean {
  const fast = counting(subject);
  const outcomes = mappedBy(subject, fast.ctx, rows, ends);
  if (outcomes === undefined) {
    demandCounts(fast.counts, {}, 'mapRows returned undefined, and yet');
    return false;
  }
  outcomes.forEach((outcome, position) => {
    const event = events[position] as CollectedEvent;
    const difference = differenceOf(event, 'mapRows', outcome, expected[position] as RowOutcome);
    if (difference !== undefined) throw new CheckFailure(difference);
    demandMasked(subject, outcome);
    const isGone = 'failure' in outcome || outcome.events.length === 0;
    demand(
      !isGone || isDeepStrictEqual(rows.events[position], event),
      `mapRows changed a row that it then ${'failure' in outcome ? 'failed on' : 'dropped'}, and the dead letter and tests show that row; change a copy`,
    );
  });
  demandCounts(fast.counts, counts, 'for the same rows');
  return true;
}

/** What others hold must stay as it is. */
function demandUnchanged(
  subject: Subject,
  rows: Rows,
  events: readonly CollectedEvent[],
  expected: readonly RowOutcome[],
): void {
  const hint =
    'it writes to rows of which somebody else holds the events; make new fields, or take them by `rows.takeFields()`';
  let outcomes: readonly RowOutcome[] | undefined;
  try {
    outcomes = mappedBy(subject, counting(subject).ctx, rows, [rows.size]);
  } catch (error) {
    throw error instanceof CheckFailure ? new CheckFailure(`${error.message}: ${hint}`) : error;
  }
  outcomes?.forEach((outcome, position) => {
    const event = events[position] as CollectedEvent;
    const difference = differenceOf(event, 'mapRows', outcome, expected[position] as RowOutcome);
    demand(difference === undefined, `${difference}; if it is so only here, ${hint}`);
  });
}

/** Undefined if `mapRows` leaves the rows to `process`. */
function mappedBy(
  { plugin }: Subject,
  ctx: PipelineRunContext,
  rows: Rows,
  ends: readonly number[],
): readonly RowOutcome[] | undefined {
  try {
    const { mapLines: _, ...withoutLines } = plugin as ProcessPlugin;
    return mapByFasterForm(withoutLines, ctx as never, rows, ends)?.outcomes;
  } catch (error) {
    throw error instanceof FormProblem ? new CheckFailure(error.message) : error;
  }
}

function demandMasked({ plugin, secret }: Subject, outcome: RowOutcome): void {
  if (secret === undefined || 'failure' in outcome || !isMask(plugin as ProcessPlugin)) return;
  demand(
    // Only `masks: true` says that keys are masked too.
    !outcome.events.some((event) => valuesOf(event).includes(JSON.stringify(secret).slice(1, -1))),
    'mapRows let the secret pass; mask every text at any depth of the fields',
  );
}

function valuesOf(event: CollectedEvent): string {
  const values: unknown[] = [];
  JSON.parse(serialise(event), (_, value) => {
    if (typeof value === 'string') values.push(value);
    return value;
  });
  return JSON.stringify(values);
}
