import { isDeepStrictEqual } from 'node:util';
import { processLines } from '../../../rows/process-lines.ts';
import { describeValue } from '../../../sdk/checks/describe.ts';
import { type LineEnvelope, LineEvents, textsOf } from '../../../sdk/line-events.ts';
import type { LineMapping, Plugin, ProcessPlugin } from '../../../sdk/plugin.ts';
import { serialise } from '../../../sdk/serialise.ts';
import { failureText, OR_LEAVE_IT } from '../../faster-forms.ts';
import { type Check, demand } from '../check.ts';
import { counting, demandCounts } from '../counting.ts';
import { processedBy } from '../observe.ts';
import { sampleEnvelopes, sampleLines } from '../sample-lines.ts';
import type { Subject } from '../subject.ts';

/** What came of a line: the events as JSON, or a failure as the log would have it. */
type Outcome = { readonly events: readonly string[] } | { readonly failure: string };

/** The faster form of a processor for lines. */
export const LINE_CHECKS: readonly Check[] = [
  {
    name: 'lines: mapLines does what process does',
    kinds: ['process'],
    applies: (plugin: Plugin) => (plugin as ProcessPlugin | undefined)?.mapLines !== undefined,
    async run(subject) {
      let mapped = 0;
      for (const envelope of sampleEnvelopes(subject.secret)) {
        if (await isMappedAlike(subject, envelope)) mapped++;
      }
      return mapped === 0 ? 'mapLines returns undefined for every sample: process does it all' : undefined;
    },
  },
  {
    name: 'lines: joinLines returns whole events, and leaves those that it is given as they are',
    kinds: ['process'],
    applies: (plugin: Plugin) => (plugin as ProcessPlugin | undefined)?.joinLines !== undefined,
    async run(subject) {
      const joining = (subject.plugin as ProcessPlugin).joinLines?.({ ctx: counting(subject).ctx as never });
      demand(joining !== undefined, 'joinLines returned nothing; return what joins lines');
      for (const limit of ['maxLines', 'maxBytes', 'seconds'] as const) {
        demand(
          (joining?.[limit] ?? 0) > 0,
          `its \`${limit}\` is ${joining?.[limit]}; it has to be above 0, so that lines are not held for ever`,
        );
      }
      const [envelope] = sampleEnvelopes(subject.secret);
      const events = LineEvents.of(sampleLines(subject), envelope as LineEnvelope).events;
      for (const event of events) {
        const before = serialise(event);
        if (joining?.lineOf(event) === undefined) continue;
        const joined = joining.withLine(event, 'one\ntwo');
        demand(joining.lineOf(joined) === 'one\ntwo', 'lineOf does not return what withLine has put in');
        demand(serialise(event) === before, 'withLine changed the event; return a new one');
      }
      return undefined;
    },
  },
];

/** Compares the two ways for the lines of an envelope; false if `mapLines` leaves them to `process`. */
async function isMappedAlike(subject: Subject, envelope: LineEnvelope): Promise<boolean> {
  const fast = counting(subject);
  const plain = counting(subject);
  const { mapLines } = subject.plugin as ProcessPlugin;
  const mapping = mapLines?.({ ctx: fast.ctx as never, envelope });
  if (mapping === undefined) {
    demandCounts(fast.counts, {}, 'mapLines returned undefined, and yet');
    return false;
  }
  for (const line of sampleLines(subject)) {
    const events = LineEvents.of([line], envelope);
    demandSame(line, mappedBy(mapping, line, events), await eventsOrFailure(subject, plain.ctx, events));
  }
  demandCounts(fast.counts, plain.counts, 'for the same lines');
  demandTogetherAlike(subject, envelope);
  return true;
}

function mappedBy({ map }: LineMapping, line: string, events: LineEvents): Outcome {
  let mapped: string | undefined;
  try {
    mapped = map(line);
  } catch (error) {
    return { failure: failureText(error) };
  }
  return {
    events: events
      .with(textsOf(mapped === undefined ? [] : [mapped]))
      .events.map((event) => serialise(event)),
  };
}

/**
 * Compares what the engine makes of all lines together, by `many` where there is one, with what `map` makes of each. Lines
 * that `map` fails on are left out.
 */
function demandTogetherAlike(subject: Subject, envelope: LineEnvelope): void {
  const { mapLines } = subject.plugin as ProcessPlugin;
  const together = counting(subject);
  const each = counting(subject);
  const mapping = mapLines?.({ ctx: together.ctx as never, envelope });
  const map = mapLines?.({ ctx: each.ctx as never, envelope })?.map;
  if (mapping === undefined || map === undefined) return;
  const lines: string[] = [];
  const expected: string[] = [];
  for (const line of sampleLines(subject)) {
    try {
      const mapped = map(line);
      lines.push(line);
      if (mapped !== undefined) expected.push(mapped);
    } catch {
      // It was compared with `process` before.
    }
  }
  const outcomes = { failed() {}, dropped() {} };
  const found = processLines(LineEvents.of(lines, envelope), mapping, outcomes).texts.lines;
  demand(
    isDeepStrictEqual(found, expected),
    `for the lines ${describeValue(lines.join('\n'))} together it gave ${describeValue(found.join('\n'))}, where map gave ${describeValue(expected.join('\n'))}; let \`many\` do the same as \`map\`, throw on lines that \`map\` drops, or leave it out`,
  );
  demandCounts(together.counts, each.counts, 'for the same lines together', 'map');
}

async function eventsOrFailure(
  subject: Subject,
  ctx: ReturnType<typeof counting>['ctx'],
  { events: [event] }: LineEvents,
): Promise<Outcome> {
  const outcome = await processedBy(subject, ctx, event as never);
  return 'failure' in outcome ? outcome : { events: outcome.events.map((one) => serialise(one)) };
}

function demandSame(line: string, mapped: Outcome, wanted: Outcome): void {
  demand(
    JSON.stringify(mapped) === JSON.stringify(wanted),
    `for the line ${describeValue(line)} mapLines ${shown(mapped)}, where process ${shown(wanted)}; ${OR_LEAVE_IT}`,
  );
}

function shown(outcome: Outcome): string {
  if ('failure' in outcome) return `failed with "${outcome.failure}"`;
  return outcome.events.length === 0 ? 'gave no event' : `gave ${outcome.events.join(' and ')}`;
}
