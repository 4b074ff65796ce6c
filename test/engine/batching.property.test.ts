import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { concatMap, from, map, timer } from 'rxjs';
import {
  batching,
  type CollectedEvent,
  collectedEvent,
  defineForwarder,
  EventBatch,
  ForwardConfigBase,
  PluginError,
} from '../../src/index.ts';
import { states } from '../support/pipelines.ts';
import { propertyRuns } from '../support/property-runs.ts';

const settings = fc.record({
  arrivals: fc.array(
    fc.record({ size: fc.integer({ min: 1, max: 9 }), after: fc.integer({ max: 30, min: 0 }) }),
  ),
  limits: fc.record({
    events: fc.integer({ min: 1, max: 7 }),
    bytes: fc.option(fc.integer({ min: 1, max: 400 }), { nil: undefined }),
    seconds: fc.constantFrom(0, 0.01, 0.05),
    concurrency: fc.integer({ min: 1, max: 3 }),
  }),
  durations: fc.array(fc.constantFrom(0, 1, 20), { minLength: 1 }),
  /** What becomes of the events of a call, by their position. */
  outcomes: fc.array(fc.constantFrom('taken', 'taken', 'taken', 'busy', 'refused'), { minLength: 1 }),
  ordered: fc.boolean(),
  window: fc.integer({ min: 1, max: 20 }),
});

it('takes every event once, refuses it once, or tries it again, within the limits of its batches', () => {
  fc.assert(
    fc.property(settings, ({ arrivals, limits, durations, outcomes, ordered, window }) => {
      const taken: unknown[] = [];
      const refused: unknown[] = [];
      const letters: unknown[] = [];
      let calls = 0;
      let open = 0;
      let [most, mostOpen] = [0, 0];
      let turn = 0;
      const send = (events: readonly CollectedEvent[]) => {
        most = Math.max(most, events.length);
        mostOpen = Math.max(mostOpen, ++open);
        return timer(durations[calls++ % durations.length] as number).pipe(
          concatMap(() => {
            open--;
            const failedEvents = events.flatMap(({ data: { n } }, index) => {
              const outcome = outcomes[turn++ % outcomes.length];
              // In the end all are taken, or no run would end.
              if (outcome === 'taken' || calls > 200) {
                taken.push(n);
                return [];
              }
              if (outcome === 'refused') refused.push(n);
              return [{ index, permanent: outcome === 'refused' }];
            });
            if (failedEvents.length > 0) throw new PluginError('partial', { failedEvents });
            return [];
          }),
        );
      };
      let n = 0;
      const source = () =>
        from(arrivals).pipe(
          concatMap(({ size, after }) => timer(after).pipe(map(() => size))),
          map((size) => new EventBatch(Array.from({ length: size }, () => collectedEvent({ n: n++ })))),
        );
      const out = defineForwarder({
        schema: ForwardConfigBase.extend(batching(limits)),
        forward: ({ event }) => send([event]),
        forwardBatch: ({ events }) => send(events),
      });
      const { manager, seen } = states({
        collect: { source },
        forward: {
          out,
          letters: ({ event: { data } }) => void letters.push((data.event as CollectedEvent).data.n),
        },
        pipeline: { forward: ['out'], ordered, max_in_flight: window, delivery: { dead_letter: 'letters' } },
      });
      expect(seen.at(-1)).toMatch(/completed$/);
      expect(manager.stats().main).toMatchObject({ in_flight: 0, dropped: {} });
      expect(most).toBeLessThanOrEqual(limits.events);
      expect(mostOpen).toBeLessThanOrEqual(limits.concurrency);
      const all = Array.from({ length: n }, (_, i) => i);
      expect([...taken, ...refused].sort((a, b) => Number(a) - Number(b))).toEqual(all);
      expect(letters).toEqual(refused);
      if (!outcomes.includes('busy') && limits.concurrency === 1) {
        expect(taken).toEqual(all.filter((i) => !refused.includes(i)));
      }
    }),
    { numRuns: propertyRuns(20) },
  );
});
