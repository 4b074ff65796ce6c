import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { finalize, type Observable } from 'rxjs';
import { counted } from '../../../../operators/internal.ts';
import { batchingOf } from '../../../sdk/batching.ts';
import type { PipelineRunContext } from '../../../sdk/context.ts';
import { failedEventsOf, isPermanent } from '../../../sdk/errors.ts';
import type { CollectedEvent } from '../../../sdk/events.ts';
import { frozenCopy } from '../../../sdk/freeze.ts';
import type { ForwardPlugin, Plugin } from '../../../sdk/plugin.ts';
import { toJsonLine } from '../../../sdk/serialise.ts';
import { type Check, demand } from '../check.ts';
import { deliver, deliverSingly, demandDelivered, demandSame } from '../deliver.ts';
import { handled, observe, resultsOf } from '../observe.ts';
import type { Subject } from '../subject.ts';

/** What forwarders promise. */
export const FORWARD_CHECKS: readonly Check[] = [
  {
    name: 'forward: takes events, and returns nothing',
    kinds: ['forward'],
    async run(subject) {
      const ctx = subject.context();
      for (const event of subject.events) {
        const observed = await observe(subject, () => handled(subject, ctx, frozenCopy(event)));
        demandDelivered(observed, 'forward', subject);
        demand(
          observed.values.every((value) => value === undefined),
          'forward returns or emits a value, which nobody takes; return nothing, or what ends without a value when the event is delivered',
        );
      }
      return undefined;
    },
  },
  {
    name: 'forward: forwardBatch does what forward does for each event',
    kinds: ['forward'],
    async run(subject) {
      const { forwardBatch, forwardJsonLines } = subject.plugin as ForwardPlugin;
      if (forwardBatch === undefined) {
        demand(
          forwardJsonLines !== undefined || batchingOf({ ...subject.context().config }) === undefined,
          'its schema has the fields of batching(), but it has no forwardBatch; add one',
        );
        return 'it has no forwardBatch';
      }
      const { events } = subject;
      const one = await deliverSingly(subject, events);
      const batch = await deliver(subject, 'forwardBatch', (ctx) =>
        resultsOf(() => forwardBatch({ ctx: ctx as never, events: frozenCopy(events), id: randomUUID() })),
      );
      demandSame('forwardBatch', batch, one);
      return undefined;
    },
  },
  {
    name: 'forward: forwardBatch says which events of a batch the sink refused',
    kinds: ['forward'],
    applies: (plugin: Plugin) => (plugin as ForwardPlugin | undefined)?.forwardBatch !== undefined,
    run: (subject) =>
      checkRefused(subject, 'forwardBatch', (ctx, events) => {
        const { forwardBatch } = subject.plugin as ForwardPlugin;
        return resultsOf(() => forwardBatch?.({ ctx, events: frozenCopy(events), id: randomUUID() }));
      }),
  },
  {
    name: 'forward: forwardJsonLines does what forward does for each event',
    kinds: ['forward'],
    applies: (plugin: Plugin) => (plugin as ForwardPlugin | undefined)?.forwardJsonLines !== undefined,
    async run(subject) {
      const { forwardJsonLines } = subject.plugin as ForwardPlugin;
      if (forwardJsonLines?.({ ctx: subject.context() as never }) === undefined) return LEFT_TO_EVENTS;
      const lines = await deliver(subject, 'forwardJsonLines', (ctx) =>
        writtenLines(subject, ctx as never, subject.events),
      );
      demandSame('forwardJsonLines', lines, await deliverSingly(subject, subject.events.map(asRead)));
      return undefined;
    },
  },
  {
    name: 'forward: forwardJsonLines says which events the sink refused',
    kinds: ['forward'],
    applies: (plugin: Plugin) => (plugin as ForwardPlugin | undefined)?.forwardJsonLines !== undefined,
    async run(subject) {
      const { forwardJsonLines } = subject.plugin as ForwardPlugin;
      if (forwardJsonLines?.({ ctx: subject.context() as never }) === undefined) return LEFT_TO_EVENTS;
      return checkRefused(subject, 'forwardJsonLines', (ctx, events) => writtenLines(subject, ctx, events));
    },
  },
];

const LEFT_TO_EVENTS = 'forwardJsonLines returns undefined for this configuration: forward does it all';

/** What JSON does not hold, a document cannot tell. */
const asRead = (event: CollectedEvent) => JSON.parse(toJsonLine(event)) as CollectedEvent;

/** Delivers events by `forwardJsonLines`. */
function writtenLines(
  { plugin }: Subject,
  ctx: PipelineRunContext<never>,
  events: readonly CollectedEvent[],
): Observable<unknown> {
  const write = (plugin as ForwardPlugin).forwardJsonLines?.({ ctx });
  demand(
    typeof write === 'function',
    'forwardJsonLines did not return a function; return one that takes the bytes and the id, or undefined',
  );
  const bytes = Buffer.from(events.map((event) => toJsonLine(event)).join(''));
  // The engine reuses the memory, so this check does too.
  return resultsOf(() => write(bytes, randomUUID())).pipe(finalize(() => bytes.fill('?')));
}

/** Checks what a faster form does with a batch of which the sink refuses some events. */
async function checkRefused(
  subject: Subject,
  name: string,
  send: (ctx: PipelineRunContext<never>, events: readonly CollectedEvent[]) => Observable<unknown>,
): Promise<string | undefined> {
  const { events, refused } = subject;
  if (refused.length === 0) return 'the option `refused` names no event that its sink refuses';
  const batch = [...events.slice(0, 1), ...refused, ...events.slice(1)];
  const positions = refused.map((event) => batch.indexOf(event));
  const ctx = subject.context();
  const observed = await observe(subject, () => send(ctx as never, batch));
  demand(observed.end === 'failed', `${name} does not fail on a batch of which events are refused`);
  demandPartial(name, observed.error, batch.length, positions);
  if (failedEventsOf(observed.error, batch.length) === undefined) return undefined;
  // The engine acknowledges all others: they have to be where `forward` would have put them.
  const delivered = await subject.delivered?.({ ...ctx.config });
  const seen = { shared_cache: ctx.shared_cache, delivered };
  const expected = await deliverSingly(subject, name === 'forwardJsonLines' ? events.map(asRead) : events);
  demandSame(`of a batch with refused events, ${name}`, seen, expected);
  return undefined;
}

/** An error names the refused events, or none: then the engine looks for them by halves. */
function demandPartial(name: string, error: unknown, size: number, refused: readonly number[]): void {
  const given = (error as { failedEvents?: unknown } | null | undefined)?.failedEvents;
  const named = Array.isArray(given) && given.length === 0 ? undefined : given;
  const failed = failedEventsOf(error, size);
  demand(
    (named === undefined && !isPermanent(error)) || failed !== undefined,
    named === undefined
      ? `${name} fails with \`permanent: true\` for the whole batch, though its sink refuses only some of its events; name these in \`failedEvents\`, or leave \`permanent\` out`
      : `the \`failedEvents\` of its error name no positions of a batch of ${counted(size, 'event')}; give each as 0 to ${size - 1}, or as { index, reason, permanent }`,
  );
  if (failed === undefined) return;
  const positions = [...failed.keys()].sort((a, b) => a - b);
  demand(
    isDeepStrictEqual(positions, refused),
    `the \`failedEvents\` of its error name ${positions.join(', ')}; its sink refuses ${refused.join(', ')}`,
  );
  const transient = positions.filter((position) => failed.get(position)?.permanent === false);
  demand(
    transient.length === 0,
    `its error names ${transient.join(', ')} without \`permanent: true\`: they would be sent again without end`,
  );
}
