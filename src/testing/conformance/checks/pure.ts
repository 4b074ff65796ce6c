import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { PipelineRunContext } from '../../../sdk/context.ts';
import { isEvent } from '../../../sdk/event-batch.ts';
import type { CollectedEvent } from '../../../sdk/events.ts';
import { frozenCopy } from '../../../sdk/freeze.ts';
import { silentStats } from '../../../sdk/metrics.ts';
import { needsOrder, type Plugin, type ProcessPlugin } from '../../../sdk/plugin.ts';
import { MAIN_THREAD_ONLY } from '../../../worker-pool/protocol.ts';
import { failureText, type RowOutcome } from '../../faster-forms.ts';
import { type Check, CheckFailure, demand } from '../check.ts';
import { virtually } from '../observe.ts';
import { sampleEnvelopes, sampleLines } from '../sample-lines.ts';
import type { Subject } from '../subject.ts';

/** What the trait `pure` promises, so that workers can run a processor. */
export const PURE_CHECKS: readonly Check[] = [
  {
    name: 'pure: it returns its events at once, and uses only what ctx has in workers',
    kinds: ['process'],
    applies: isPure,
    run(subject) {
      if (runsInOrder(subject)) return IN_ORDER;
      const ctx = workerContext(subject);
      for (const event of subject.events) {
        const { returned } = called(subject, ctx, event);
        const results = Array.isArray(returned) ? returned : [returned ?? []].flat();
        demand(
          results.every(isEvent),
          'it does not return its events at once: workers take an event, a list of events, or nothing, but neither a promise nor an iterable; return them, or leave out the trait `pure`',
        );
      }
      const { mapLines } = subject.plugin as ProcessPlugin;
      for (const envelope of mapLines === undefined ? [] : sampleEnvelopes(subject.secret)) {
        const mapping = guarded(() => mapLines?.({ ctx: ctx as never, envelope }));
        for (const line of sampleLines(subject)) guarded(() => mapping?.map(line));
      }
      return undefined;
    },
  },
  {
    name: 'pure: its results depend on the event and the configuration alone',
    kinds: ['process'],
    applies: isPure,
    run(subject) {
      if (runsInOrder(subject)) return IN_ORDER;
      const ctx = workerContext(subject);
      // Those that other checks have used, and some that the plugin sees for the first time.
      const isNew = { conformance_check: randomUUID() };
      const events = subject.events.flatMap((event) => [
        event,
        { ...event, data: { ...event.data, ...isNew } },
      ]);
      const first = virtually(() => events.map((event) => called(subject, ctx, event).outcome));
      // In another order, in the same context, and in one of its own; and at another time, which is not virtual.
      const again = [...events.keys()].reverse();
      for (const context of [ctx, workerContext(subject)]) {
        for (const index of [...again, ...again.toReversed()]) {
          const { outcome } = called(subject, context, events[index] as CollectedEvent);
          demand(
            isDeepStrictEqual(outcome, first[index]),
            'for the same event it returned something else the second time, so its results depend on earlier events, on the time or on chance; leave out the trait `pure`, and set `needsOrder` if they depend on earlier events',
          );
        }
      }
      return undefined;
    },
  },
];

const IN_ORDER = 'with this configuration it needs the order of events, so no worker runs it';

function runsInOrder(subject: Subject): boolean {
  return needsOrder(subject.plugin as ProcessPlugin, subject.context().config);
}

function isPure(plugin: Plugin): boolean {
  return (plugin as ProcessPlugin | undefined)?.traits?.pure === true;
}

/** A context as workers have it. */
function workerContext(subject: Subject): PipelineRunContext {
  const { config } = subject.context();
  const ctx = { config, stats: silentStats };
  for (const member of MAIN_THREAD_ONLY) {
    const get = () => {
      throw new CheckFailure(
        `it uses ctx.${member}, which workers do not have: there, ctx has \`config\` and \`stats\`; do without, or leave out the trait \`pure\``,
      );
    };
    Object.defineProperty(ctx, member, { get, enumerable: true });
  }
  return ctx as never;
}

function called({ plugin }: Subject, ctx: PipelineRunContext, event: CollectedEvent) {
  let returned: unknown;
  let outcome: RowOutcome;
  try {
    returned = (plugin as ProcessPlugin).process({ ctx: ctx as never, event: frozenCopy(event) });
    outcome = { events: returned as CollectedEvent[] };
  } catch (error) {
    if (error instanceof CheckFailure) throw error;
    outcome = { failure: failureText(error) };
  }
  return { returned, outcome };
}

/** Other errors are those of other checks. */
function guarded<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (error instanceof CheckFailure) throw error;
    return undefined;
  }
}
