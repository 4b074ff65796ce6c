import { inspect, isDeepStrictEqual } from 'node:util';
import { concat, ignoreElements, type Observable } from 'rxjs';
import type { PipelineRunContext } from '../../sdk/context.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { frozenCopy } from '../../sdk/freeze.ts';
import { truncate } from '../../sdk/printable.ts';
import { CheckFailure, demand, reasonOf } from './check.ts';
import { handled, type Observed, observe } from './observe.ts';
import type { Subject } from './subject.ts';

const LONGEST = 400;

/** Compares what two ways of delivery did. */
export function demandSame(name: string, delivered: unknown, expected: unknown): void {
  if (isDeepStrictEqual(delivered, expected)) return;
  // Only now: clients of a plugin in its shared cache can take long to be shown.
  throw new CheckFailure(`${name} delivered ${shown(delivered)} where forward delivered ${shown(expected)}`);
}

/** Delivers each event by `forward`, one after the other. */
export function deliverSingly(subject: Subject, events: readonly CollectedEvent[]): Promise<unknown> {
  return deliver(subject, 'forward', (ctx) =>
    concat(...events.map((event) => handled(subject, ctx, frozenCopy(event)).pipe(ignoreElements()))),
  );
}

/** Delivers in a context of its own, with these fields in addition. Returns what that did, as far as it can be seen. */
export async function deliver(
  subject: Subject,
  name: string,
  run: (ctx: PipelineRunContext) => Observable<unknown>,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  const over = new AbortController();
  const ctx = subject.context({ signal: over.signal }, fields);
  const observed = await observe(subject, () => run(ctx));
  demandDelivered(observed, name, subject);
  over.abort();
  const delivered = await subject.delivered?.({ ...ctx.config });
  return { shared_cache: ctx.shared_cache, delivered };
}

export function demandDelivered(
  observed: Observed<unknown>,
  name: string,
  { isVirtual, patience }: Subject,
): void {
  const { end, crash } = observed;
  demand(
    crash === undefined && end !== 'failed',
    `${name} failed: ${reasonOf(crash?.error ?? observed.error)}`,
  );
  const time = isVirtual ? 'an hour of virtual time' : `${patience} ms`;
  demand(
    end === 'completed',
    `${name} was not done after ${time}; complete, or resolve, when the event is delivered`,
  );
}

function shown(delivered: unknown): string {
  return truncate(
    inspect(delivered, { depth: 8, compact: true, breakLength: Number.POSITIVE_INFINITY }),
    LONGEST,
  );
}
