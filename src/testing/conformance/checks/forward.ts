import { inspect, isDeepStrictEqual } from 'node:util';
import { concat, ignoreElements } from 'rxjs';
import { truncate } from '../../../checks/wording.ts';
import { frozenCopy } from '../../../config/frozen.ts';
import type { CollectedEvent, ForwardPlugin, PipelineRunContext } from '../../../models/index.ts';
import { type Check, demand, reasonOf } from '../check.ts';
import { handled, type Observed, observe, resultsOf } from '../observe.ts';
import type { Subject } from '../subject.ts';

const LONGEST = 400;

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
          () =>
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
      const { forwardBatch } = subject.plugin as ForwardPlugin;
      if (forwardBatch === undefined) return 'it has no forwardBatch';
      const one = await deliver(subject, 'forward', (ctx, events) =>
        concat(...events.map((event) => handled(subject, ctx, event).pipe(ignoreElements()))),
      );
      const batch = await deliver(subject, 'forwardBatch', (ctx, events) =>
        resultsOf(() => forwardBatch({ ctx: ctx as never, events })),
      );
      demand(
        isDeepStrictEqual(batch, one),
        () => `forwardBatch delivered ${shown(batch)} where forward delivered ${shown(one)}`,
      );
      return undefined;
    },
  },
];

/** Delivers all events in a context of its own. Returns what that did, as far as it can be seen. */
async function deliver(
  subject: Subject,
  name: string,
  run: (ctx: PipelineRunContext, events: readonly CollectedEvent[]) => ReturnType<typeof resultsOf>,
): Promise<unknown> {
  const over = new AbortController();
  const ctx = subject.context({ signal: over.signal });
  const observed = await observe(subject, () => run(ctx, frozenCopy(subject.events)));
  demandDelivered(observed, name, subject);
  over.abort();
  const delivered = await subject.delivered?.({ ...ctx.config });
  return { shared_cache: ctx.shared_cache, delivered };
}

function demandDelivered(observed: Observed<unknown>, name: string, { isVirtual, patience }: Subject): void {
  const { end, crash } = observed;
  demand(
    crash === undefined && end !== 'failed',
    () => `${name} failed: ${reasonOf(crash?.error ?? observed.error)}`,
  );
  demand(end === 'completed', () => {
    const time = isVirtual ? 'an hour of virtual time' : `${patience} ms`;
    return `${name} was not done after ${time}; complete, or resolve, when the event is delivered`;
  });
}

function shown(delivered: unknown): string {
  return truncate(
    inspect(delivered, { depth: 8, compact: true, breakLength: Number.POSITIVE_INFINITY }),
    LONGEST,
  );
}
