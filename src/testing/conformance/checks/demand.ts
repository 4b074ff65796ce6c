import { asyncScheduler } from 'rxjs';
import { InFlightWindow } from '../../../../operators/index.ts';
import { counted } from '../../../../operators/internal.ts';
import { isEventBatch } from '../../../sdk/event-batch.ts';
import type { CollectPlugin } from '../../../sdk/plugin.ts';
import { waitsForRoom } from '../../stand-in-collector.ts';
import { type Check, demand } from '../check.ts';
import { collected, observe } from '../observe.ts';
import type { Subject } from '../subject.ts';

const ROOM = 2;
const ENOUGH = 4 * ROOM;

/** Back-pressure. */
export const DEMAND_CHECKS: readonly Check[] = [
  {
    name: 'demand: it emits no more events than ctx.demand has room for, alone or in one batch',
    kinds: ['collect'],
    async run(subject) {
      const { count, largest, isRead } = await collectWith(subject, { size: ROOM, releases: false });
      if (!isRead) {
        return 'it does not look at ctx.demand, which is right for a source that cannot wait: the pipeline buffers for it';
      }
      demand(
        largest <= ROOM,
        `with room for ${ROOM} events it emitted a batch of ${largest}, which the pipeline has to take as a whole; let no EventBatch have more events than ctx.demand.room, also in a generator`,
      );
      demand(
        count <= ROOM,
        `with room for ${ROOM} events it emitted ${count}; emit at most ctx.demand.room, then wait for ctx.demand.room$`,
      );
      const free = await collectWith(subject, { size: 100 * ROOM, releases: true });
      const tight = await collectWith(subject, { size: ROOM, releases: true });
      demand(
        Math.min(free.count, ENOUGH) <= tight.count,
        `it emitted ${counted(tight.count, 'event')} where ${free.count} were to come, and there was room again after each; listen to ctx.demand.room$, which emits when there is`,
      );
      demand(
        waitsForRoom(subject.plugin as CollectPlugin),
        'it waits for room and does not say so, so tests in virtual time would predict that it overflows the buffer; export const traits = { waits: true }',
      );
      return undefined;
    },
  },
];

interface Window {
  readonly size: number;
  /** Each event is acknowledged at once, so that there is room again. */
  readonly releases: boolean;
}

/** Counts what a collector emits into a window, and notes whether it looks at it. */
async function collectWith(
  subject: Subject,
  { size, releases }: Window,
): Promise<{ count: number; largest: number; isRead: boolean }> {
  const window = new InFlightWindow(size);
  const seen = { count: 0, largest: 0, isRead: false };
  const watched = {
    get room() {
      seen.isRead = true;
      return window.room;
    },
    get room$() {
      seen.isRead = true;
      return window.room$;
    },
  };
  const ctx = subject.context({ demand: watched });
  await observe(subject, () => collected(subject, ctx), {
    limit: ENOUGH,
    onValue: (value) => {
      const events = isEventBatch(value) ? value.events.length : 1;
      seen.count += events;
      seen.largest = Math.max(seen.largest, isEventBatch(value) ? events : 0);
      window.take(events);
      if (releases) asyncScheduler.schedule(() => window.release(events));
    },
  });
  return seen;
}
