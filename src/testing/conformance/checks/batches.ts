import { randomUUID } from 'node:crypto';
import { bufferCount, concatMap, from, ignoreElements } from 'rxjs';
import { batchingOf } from '../../../sdk/batching.ts';
import { MillraceError } from '../../../sdk/errors.ts';
import type { CollectedEvent } from '../../../sdk/events.ts';
import { frozenCopy } from '../../../sdk/freeze.ts';
import type { ForwardPlugin, Plugin } from '../../../sdk/plugin.ts';
import { type Check, demand } from '../check.ts';
import { deliver, deliverSingly, demandSame } from '../deliver.ts';
import { resultsOf } from '../observe.ts';
import type { Subject } from '../subject.ts';

const MOST_EVENTS = 2;
const CALLS = 3;

/** What a forwarder with the fields of `batching` does. */
export const BATCH_CHECKS: readonly Check[] = [
  {
    name: 'batches: an entry limits the batches of forwardBatch, and all of them are delivered',
    kinds: ['forward'],
    applies: (plugin: Plugin) => (plugin as ForwardPlugin | undefined)?.forwardBatch !== undefined,
    async run(subject) {
      const fields = { batch: { events: MOST_EVENTS, seconds: 0 }, concurrency: 1 };
      if (!subject.accepts(fields)) {
        return 'its schema does not have the fields of batching(), so forwardBatch gets up to 1,024 events';
      }
      const events = Array.from({ length: CALLS * MOST_EVENTS - 1 }, (_, n) => eventAt(subject, n));
      const batched = await deliver(
        subject,
        'forwardBatch',
        (ctx) => {
          const batching = batchingOf({ ...ctx.config });
          demand(
            batching?.events === MOST_EVENTS,
            'its schema has a field `batch` that the engine does not know, and which has no effect; extend the schema with batching(), and leave its fields as they are',
          );
          const { forwardBatch } = subject.plugin as ForwardPlugin;
          const send = (batch: CollectedEvent[]) =>
            resultsOf(() =>
              forwardBatch?.({ ctx: ctx as never, events: frozenCopy(batch), id: randomUUID() }),
            ).pipe(ignoreElements());
          // As the engine does with these fields.
          return from(events).pipe(bufferCount(MOST_EVENTS), concatMap(send));
        },
        fields,
      );
      demandSame('forwardBatch, called several times,', batched, await deliverSingly(subject, events));
      return undefined;
    },
  },
];

function eventAt({ events }: Subject, n: number) {
  const event = events[n % events.length];
  if (event === undefined)
    throw new MillraceError('MILLRACE_ARGUMENT', '`events` is empty; give at least one');
  return event;
}
