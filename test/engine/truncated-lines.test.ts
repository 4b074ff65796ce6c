import { describe, expect, it } from '@jest/globals';
import { concat, from, map, of, timer } from 'rxjs';
import { UNSURE_CHARACTERS } from '../../operators/files/follow/truncated-event.ts';
import { EventBatch, type Outcome } from '../../src/sdk/event-batch.ts';
import { type CollectedEvent, collectedEvent } from '../../src/sdk/events.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { marbles } from '../support/marbles.ts';
import { testManager } from '../support/pipelines.ts';

type Process = (args: { event: CollectedEvent }) => unknown;

const KEPT = 'x'.repeat(100);
/** The cut went through a secret, which no mask can recognise now. */
const LINE = `${KEPT}${'y'.repeat(UNSURE_CHARACTERS - 9)}KEY::1234`;
const SOURCE = 'a.log';

/** What a pipeline makes of a truncated line between two whole ones. */
function run(process: Readonly<Record<string, Process>>) {
  const forwarded: CollectedEvent[] = [];
  const dead: CollectedEvent[] = [];
  let manager: ReturnType<typeof testManager> | undefined;
  const lines = (line: string, isTruncated: boolean) =>
    new EventBatch(
      LineEvents.of([line], {
        timestamp: '2026-01-01T00:00:00Z',
        source: SOURCE,
        backfill: false,
        isTruncated,
      }),
      () => {},
    );
  marbles(({ flush }) => {
    manager = testManager({
      collect: { source: () => [lines('before', false), lines(LINE, true), lines('after', false)] },
      process,
      forward: { out: ({ event }) => void forwarded.push(event), dead: ({ event }) => void dead.push(event) },
      pipeline: { forward: ['out'], delivery: { dead_letter: 'dead' } },
    });
    manager.start();
    flush();
  });
  return { forwarded, dead, stats: manager?.stats().main, state: manager?.states().main?.state };
}

const shown = (value: unknown) =>
  JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}` : item));

describe('a truncated line', () => {
  it.each<[string, Process, object]>([
    ['is passed on', ({ event }) => [event], { data: { line: KEPT, source: SOURCE } }],
    [
      'comes as a new event',
      ({ event }) => [{ data: { message: event.data.line } }],
      { data: { message: KEPT } },
    ],
    [
      'comes later',
      ({ event }) => timer(1).pipe(map(() => ({ data: { message: event.data.line } }))),
      { data: { message: KEPT } },
    ],
    [
      'is beside its data',
      ({ event }) => [{ ...event, message: event.data.line }],
      { message: KEPT, data: { line: KEPT, source: SOURCE }, timestamp: '2026-01-01T00:00:00Z' },
    ],
    [
      'takes the place of its source',
      ({ event }) => [{ data: { source: event.data.line } }],
      { data: { source: KEPT } },
    ],
  ])('loses its end where it %s', (_, process, expected) => {
    const { forwarded, stats } = run({ process, same: ({ event }) => [event] });
    expect(forwarded).toHaveLength(3);
    expect(forwarded[1]).toMatchObject({ ...expected, truncated: true });
    expect(shown(forwarded)).not.toContain('KEY');
    expect(shown(forwarded[0])).toContain('before');
    expect(shown(forwarded[2])).toContain('after');
    expect(stats).toMatchObject({ in_flight: 0 });
  });

  it('loses its end in the dead letter', () => {
    const { dead } = run({
      make: ({ event }) => [{ data: { message: event.data.line } }],
      fail: ({ event }) => {
        if (String(event.data.message).startsWith(KEPT)) throw new Error('no');
        return [event];
      },
    });
    expect(dead.map(({ data }) => data)).toEqual([
      expect.objectContaining({ plugin: 'fail', event: { data: { message: KEPT }, truncated: true } }),
    ]);
  });

  const withBigint: Process = ({ event }) => [{ ...event, data: { ...event.data, n: 1n } }];
  const withoutBigint: Process = ({ event: { data } }) => {
    if (String(data.line).startsWith(KEPT)) throw new Error('no');
    const { n, ...shown } = data;
    return [{ data: shown }];
  };

  it.each<[string, Readonly<Record<string, Process>>, string]>([
    [
      'left the processors',
      { big: ({ event }) => (event.data.line === LINE ? withBigint({ event }) : [event]) },
      'big',
    ],
    ['failed in one', { big: withBigint, fail: withoutBigint }, 'fail'],
  ])('is withheld, and the run goes on, where an event that JSON cannot show %s', (_, process, plugin) => {
    const { forwarded, dead, stats, state } = run(process);
    expect(forwarded.map(({ data }) => data.line)).toEqual(['before', 'after']);
    expect(dead.map(({ data }) => data)).toEqual([
      expect.objectContaining({ plugin, withheld: expect.stringContaining('a line that was cut') }),
    ]);
    expect(shown(dead)).not.toContain('KEY');
    expect(state).toBe('completed');
    expect(stats).toMatchObject({ dead_lettered: 1, in_flight: 0 });
  });

  it.each<[string, number, boolean]>([
    ['in a batch with whole ones', 100, false],
    ['in a batch with whole ones that is acknowledged', 100, true],
    ['waits with whole ones for room', 5, false],
  ])('loses its end, and no other line does, where it %s', (_, max_in_flight, isAcknowledged) => {
    const lines = ['before', 'so', LINE, 'after', 'then'].map((line) => ({
      timestamp: '2026-01-01T00:00:00Z',
      data: { line, source: SOURCE },
      ...(line === LINE && { truncated: true }),
    }));
    const others = Array.from({ length: 5 }, () => collectedEvent({ line: 'other' }));
    const forwarded: CollectedEvent[] = [];
    const outcomes: Outcome[] = [];
    marbles(({ flush }) => {
      const acknowledge = isAcknowledged ? (outcome: Outcome) => void outcomes.push(outcome) : undefined;
      const source =
        max_in_flight === 5
          ? concat(of(new EventBatch(others)), from(lines))
          : of(new EventBatch(lines, acknowledge));
      testManager({
        collect: { source: () => source },
        process: { make: ({ event }) => [{ data: { message: event.data.line } }] },
        forward: { out: ({ event }) => timer(10).pipe(map(() => forwarded.push(event))) },
        pipeline: { max_in_flight },
      }).start();
      flush();
    });
    const messages = forwarded.map(({ data }) => data.message).filter((message) => message !== 'other');
    expect(messages).toEqual(['before', 'so', KEPT, 'after', 'then']);
    expect(outcomes).toEqual(isAcknowledged ? ['forwarded'] : []);
  });
});
