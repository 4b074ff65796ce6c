import { describe, expect, it } from '@jest/globals';
import { map, timer } from 'rxjs';
import type { Manager } from '../../src/engine/manager.ts';
import { type CollectedEvent, collectedEvent } from '../../src/sdk/events.ts';
import { marbles } from '../support/marbles.ts';
import { testManager } from '../support/pipelines.ts';

const EVENTS = 20;
const FAILED = 7;

/**
 * Runs events, each a batch, through a processor whose results take the longer the earlier the event is, and which
 * counts the events before each one. What came out, and how many events it worked on at once.
 */
function run({ field, ordered = true }: { field?: string; ordered?: boolean }) {
  const seen: unknown[] = [];
  let done = 0;
  let working = 0;
  let together = 0;
  let manager: Manager | undefined;
  marbles(({ flush }) => {
    manager = testManager({
      collect: { source: () => timer(0, 1).pipe(map((n) => collectedEvent({ n }))) },
      process: {
        counting: {
          get_config_schema: () => ({ safeParse: (data: unknown) => ({ success: true, data }) }) as never,
          traits: { needsOrder: () => field !== undefined },
          process: ({ event }: { event: CollectedEvent }) => {
            together = Math.max(together, ++working);
            const n = event.data.n as number;
            return timer(EVENTS - Math.min(n, EVENTS)).pipe(
              map(() => {
                working--;
                if (n === FAILED) throw new Error('no');
                return { ...event, data: { n, before: done++ } };
              }),
            );
          },
        },
      },
      forward: {
        out: ({ event }) => {
          seen.push(event.data);
          return [];
        },
      },
      pipeline: { ordered },
      options: { drainTimeout: 0 },
    });
    manager.start();
    timer(1000).subscribe(() => manager?.stop());
    flush();
  });
  return { seen: seen.slice(0, EVENTS - 1), together };
}

describe('needsOrder', () => {
  it.each([true, false])('has a processor get one batch after the other, with ordered: %s', (ordered) => {
    const { seen, together } = run({ field: 'blocks', ordered });
    expect(together).toBe(1);
    // The event that failed delays none of the others.
    const numbers = Array.from({ length: EVENTS }, (_, n) => n).filter((n) => n !== FAILED);
    expect(seen).toEqual(numbers.map((n, before) => ({ n, before })));
  });

  it('changes nothing if no field of the configuration needs it', () => {
    const { seen, together } = run({});
    expect(together).toBeGreaterThan(5);
    expect(seen).not.toEqual(seen.map((_, n) => ({ n, before: n })));
  });
});
