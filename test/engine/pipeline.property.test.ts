import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { concat, delay, of, tap, throwError, timer } from 'rxjs';
import { PluginError } from '../../src/sdk/errors.ts';
import { EventBatch, type Outcome } from '../../src/sdk/event-batch.ts';
import { type CollectedEvent, collectedEvent } from '../../src/sdk/events.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { marbles } from '../support/marbles.ts';
import { testManager } from '../support/pipelines.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** What a processor does with the nth event; a number is a delay in ms. */
type Step = 'pass' | 'filter' | 'throw' | 'twice' | 'observable' | number;

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>('pass') },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 20 }) },
  fc.constantFrom<Step>('filter', 'throw', 'twice', 'observable'),
);
const scenario = fc.record({
  /** Sizes of the batches that the collector emits. */
  batches: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 8 }),
  processors: fc.array(fc.array(step, { minLength: 1, maxLength: 9 }), { maxLength: 3 }),
  /** For each forwarder what it does with its nth call: takes so many ms, or fails once. */
  forwarders: fc.array(
    fc.array(fc.oneof(fc.constant('fail'), fc.integer({ min: 0, max: 9 })), { minLength: 1, maxLength: 5 }),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
  maxInFlight: fc.integer({ min: 1, max: 12 }),
  ordered: fc.boolean(),
});

function process(what: Step, event: CollectedEvent): unknown {
  switch (what) {
    case 'pass':
      return [event];
    case 'filter':
      return [];
    case 'throw':
      return throwError(() => new PluginError('no'));
    case 'twice':
      return concat(of(event), of(event).pipe(delay(3)));
    case 'observable':
      return of(event);
    default:
      return of(event).pipe(delay(what));
  }
}

/** How many results an event has, if it passes these steps. */
const results = (what: Step) => (what === 'filter' || what === 'throw' ? 0 : what === 'twice' ? 2 : 1);

describe('any pipeline', () => {
  it('acknowledges every event, in order, and delivers all that its processors let pass to every forwarder', () => {
    fc.assert(
      fc.property(scenario, ({ batches, processors, forwarders, maxInFlight, ordered }) => {
        let next = 0;
        const acknowledged: [number, Outcome][] = [];
        const sources = batches.map((size, i) => {
          const events = Array.from({ length: size }, () => collectedEvent({ n: next++ }));
          return new EventBatch(events, (outcome) => acknowledged.push([i, outcome]));
        });
        const stepOf = (p: number, event: CollectedEvent) => {
          const steps = processors[p] as Step[];
          return steps[(event.data.n as number) % steps.length] as Step;
        };
        const delivered: number[][] = forwarders.map(() => []);
        let stats: ReturnType<ReturnType<typeof testManager>['stats']>[string] | undefined;
        let state: string | undefined;
        marbles(({ flush }) => {
          const manager = testManager({
            collect: { source: () => sources },
            process: Object.fromEntries(
              processors.map((_, p) => [
                `p${p}`,
                ({ event }: { event: CollectedEvent }) => process(stepOf(p, event), event),
              ]),
            ),
            forward: Object.fromEntries(
              forwarders.map((calls, f) => {
                let call = 0;
                const failed = new Set<CollectedEvent>();
                const forward = ({ event }: { event: CollectedEvent }) => {
                  const what = calls[call++ % calls.length];
                  if (what === 'fail' && !failed.has(event)) {
                    failed.add(event);
                    throw new PluginError('busy');
                  }
                  const note = () => void delivered[f]?.push(event.data.n as number);
                  return typeof what === 'number' && what > 0 ? timer(what).pipe(tap(note)) : note();
                };
                return [`f${f}`, forward];
              }),
            ),
            pipeline: { max_in_flight: maxInFlight, ordered },
            options: { random: seededRandom(1) },
          });
          manager.start();
          flush();
          stats = manager.stats().main;
          state = manager.states().main?.state;
        });
        const expected: number[] = [];
        for (let n = 0; n < next; n++) {
          const event = collectedEvent({ n });
          const copies = processors.reduce((count, _, p) => count * results(stepOf(p, event)), 1);
          for (let copy = 0; copy < copies; copy++) expected.push(n);
        }
        expect(state).toBe('completed');
        expect(stats).toMatchObject({ collected: next, in_flight: 0, given_up: 0 });
        expect(acknowledged.map(([i]) => i)).toEqual(batches.map((_, i) => i));
        for (const got of delivered) {
          expect(ordered ? got : got.sort((a, b) => a - b)).toEqual(expected);
        }
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});
