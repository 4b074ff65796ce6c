import { describe, expect, it } from '@jest/globals';
import { from, of, takeUntil, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { forgetLongWork, noteLongWork } from '../../operators/support/long-work.ts';
import type { Batch } from '../../src/engine/batches.ts';
import { Delivery } from '../../src/engine/delivery.ts';
import { Observers } from '../../src/engine/observer.ts';
import { processStage } from '../../src/engine/process-stage.ts';
import type { Outcome } from '../../src/sdk/event-batch.ts';
import type { CollectedEvent } from '../../src/sdk/events.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { ParsedEvents } from '../../src/sdk/parsed-events.ts';
import type { RowMapping } from '../../src/sdk/plugin.ts';
import { EventRows } from '../../src/sdk/rows.ts';

const ENVELOPE = { timestamp: '2026-01-01T00:00:00Z', source: 'a.log', backfill: false, isTruncated: false };
const PADDING = 'x'.repeat(1024);
const SIZE = 60;

interface Run {
  /** Milliseconds of work for each line. */
  readonly work: number;
  readonly way: 'lines' | 'events' | 'events to wait for';
  readonly batches?: number;
  readonly failing?: (text: string) => boolean;
  readonly stopAt?: number;
}

/** Numbered lines, in a stage whose work takes virtual time without giving way to anything else. */
function run({ work, way, batches = 1, failing = () => false, stopAt = 100_000 }: Run) {
  const seen: string[] = [];
  const worked: string[] = [];
  const outcomes: Outcome[] = [];
  let atOnce = 0;
  let noticedAfter = -1;
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
  const slow = (text: string): string => {
    scheduler.frame += work;
    worked.push(text);
    if (failing(text)) throw new Error('no');
    return text;
  };
  const texts = (b: number) => Array.from({ length: SIZE }, (_, i) => `${b}.${i} ${PADDING}`);
  const stage = processStage({
    place: { kind: 'process', name: 'slow' },
    observer: new Observers([]),
    ordered: true,
    maxInFlight: 1000,
    process: (event) => {
      slow(String(event.data.line));
      return way === 'events' ? [event] : from([event]);
    },
    mapLines: way === 'lines' ? () => ({ map: slow }) : undefined,
    onFailure: (_, delivery) => delivery.acknowledge(1, 'failed'),
  });
  const input = Array.from({ length: batches }, (_, b): Batch => {
    const lines = LineEvents.of(texts(b), ENVELOPE);
    return { rows: lines, delivery: new Delivery(SIZE, (outcome) => outcomes.push(outcome)) };
  });
  let isComplete = false;
  scheduler.run(({ flush }) => {
    timer(1).subscribe(() => {
      noticedAfter = worked.length;
    });
    from(input)
      .pipe(stage, takeUntil(timer(stopAt)))
      .subscribe({
        next: ({ rows: { events }, delivery }) => {
          seen.push(...events.map(({ data }: CollectedEvent) => String(data.line).split(' ')[0] as string));
          delivery.acknowledge(events.length, 'forwarded');
        },
        complete: () => {
          isComplete = true;
        },
      });
    atOnce = worked.length;
    flush();
  });
  return { seen, worked, outcomes, atOnce, noticedAfter, isComplete };
}

const all = (batches: number) =>
  Array.from({ length: batches * SIZE }, (_, i) => `${Math.floor(i / SIZE)}.${i % SIZE}`);

describe.each(['lines', 'events', 'events to wait for'] as const)('a batch of %s', (way) => {
  it('is done at once if it takes little time', () => {
    const { seen, atOnce, isComplete } = run({ way, work: 0, batches: 2 });
    expect(atOnce).toBe(2 * SIZE);
    expect(seen).toEqual(all(2));
    expect(isComplete).toBe(true);
  });

  it('leaves time for all else, and keeps its order, if it takes much', () => {
    const { seen, outcomes, atOnce, noticedAfter, isComplete } = run({ way, work: 10, batches: 3 });
    expect(atOnce).toBeLessThan(SIZE);
    expect(noticedAfter).toBeLessThan(SIZE);
    expect(seen).toEqual(all(3));
    expect(outcomes).toEqual(['forwarded', 'forwarded', 'forwarded']);
    expect(isComplete).toBe(true);
  });

  it('acknowledges what fails, in each of its turns', () => {
    const { seen, outcomes } = run({ way, work: 10, failing: (text) => /^0\.\d*[05] /.test(text) });
    expect(seen).toEqual(all(1).filter((name) => !/[05]$/.test(name)));
    expect(outcomes).toEqual(['failed']);
  });

  it('ends with its subscription', () => {
    const { worked, isComplete } = run({ way, work: 10, batches: 3, stopAt: 200 });
    expect(worked.length).toBeLessThan(1.5 * SIZE);
    expect(isComplete).toBe(true);
  });
});

it('looks at the clock after each line that fails, however short', () => {
  const scheduler = new TestScheduler(() => {});
  let worked = 0;
  scheduler.run(() => {
    const delivery = new Delivery(SIZE, () => {});
    const lines = LineEvents.of(Array<string>(SIZE).fill('short'), ENVELOPE);
    const stage = processStage({
      place: { kind: 'process', name: 'slow' },
      observer: new Observers([]),
      ordered: true,
      maxInFlight: 1000,
      process: (event) => [event],
      mapLines: () => ({
        map: () => {
          scheduler.frame += 1000;
          worked++;
          throw new Error('no');
        },
      }),
      onFailure: () => {},
    });
    from([{ rows: lines, delivery }])
      .pipe(stage)
      .subscribe()
      .unsubscribe();
  });
  expect(worked).toBe(1);
});

it('gives all else a turn after each event that took long, also if every event is a batch', () => {
  const scheduler = new TestScheduler(() => {});
  const worked: number[] = [];
  const seen: unknown[] = [];
  scheduler.run(({ flush }) => {
    const stage = processStage({
      place: { kind: 'process', name: 'slow' },
      observer: new Observers([]),
      ordered: true,
      maxInFlight: 1000,
      process: (event) => {
        worked.push(event.data.number as number);
        if (event.data.number === 1 || event.data.number === 2) noteLongWork();
        return [event];
      },
      mapLines: undefined,
      onFailure: () => {},
    });
    const batches = Array.from({ length: 5 }, (_, number): Batch => {
      const rows = new EventRows([{ timestamp: ENVELOPE.timestamp, data: { number } }]);
      return { rows, delivery: new Delivery(1, () => {}) };
    });
    from(batches)
      .pipe(stage)
      .subscribe(({ rows }) => seen.push(...rows.events.map(({ data }) => data.number)));
    expect(worked).toEqual([0, 1]);
    flush();
  });
  forgetLongWork();
  expect([worked, seen]).toEqual([
    [0, 1, 2, 3, 4],
    [0, 1, 2, 3, 4],
  ]);
});

it('maps rows one by one, in turns, where a mapping postpones them', () => {
  const scheduler = new TestScheduler(() => {});
  const calls: [number, number][] = [];
  const seen: unknown[] = [];
  const SLOW = [100, 200];
  const rows = new ParsedEvents(
    Array.from({ length: 1000 }, (_, number) => ({ number })),
    ENVELOPE,
  );
  // Rows up to the next hundred are postponed together.
  const mapping: RowMapping = (start, end, { postponed }) => {
    calls.push([start, end]);
    if (end - start === 1) {
      if (SLOW.includes(start)) scheduler.frame += 1000;
      return rows.slice(start, end);
    }
    const slow = SLOW.find((one) => one >= start && one < end);
    if (slow === undefined) return rows.slice(start, end);
    postponed(slow, slow + 10);
    return rows.slice(start, slow);
  };
  let callsAtOnce = 0;
  scheduler.run(({ flush }) => {
    const stage = processStage({
      place: { kind: 'process', name: 'slow' },
      observer: new Observers([]),
      ordered: true,
      maxInFlight: 1000,
      process: (event) => [event],
      mapLines: undefined,
      mapRows: () => mapping,
      onFailure: () => {},
    });
    of({ rows, delivery: new Delivery(1000, () => {}) })
      .pipe(stage)
      .subscribe(({ rows: { events } }) => seen.push(...events.map(({ data }) => data.number)));
    callsAtOnce = calls.length;
    flush();
  });
  const single = (start: number) => Array.from({ length: 10 }, (_, i) => [start + i, start + i + 1]);
  const wanted = [[0, 256], ...single(100), [110, 366], ...single(200), [210, 466], [466, 722], [722, 978]];
  expect(calls).toEqual([...wanted, [978, 1000]]);
  expect(callsAtOnce).toBe(2);
  expect(seen).toEqual(Array.from({ length: 1000 }, (_, number) => number));
});
