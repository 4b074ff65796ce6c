import { describe, expect, it } from '@jest/globals';
import { from, map, NEVER, type OperatorFunction, take, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { Acknowledgement } from '../../src/engine/acknowledgement.ts';
import { type Batch, batchOf } from '../../src/engine/batches.ts';
import { PipelineCounters } from '../../src/engine/counters.ts';
import { deliver } from '../../src/engine/deliver.ts';
import type { ForwarderStage } from '../../src/engine/deliver-group.ts';
import { Delivery } from '../../src/engine/delivery.ts';
import { ForwarderCalls } from '../../src/engine/forwarder-calls.ts';
import { gather } from '../../src/engine/gather-batches.ts';
import { Observers } from '../../src/engine/observer.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { WrittenEvents } from '../../src/sdk/rows.ts';
import { serialise } from '../../src/sdk/serialise.ts';

const ENVELOPE = {
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'a.log',
  backfill: true,
  isTruncated: false,
};

const delivery = new Delivery(1, () => {});
const linesOf = (...lines: string[]) => ({ rows: LineEvents.of(lines, ENVELOPE), delivery });
/** So many that they get memory that is used again. */
const MANY = 100;
const manyOf = (line: string) => linesOf(...Array<string>(MANY).fill(line));
const written = (text: string): Batch => {
  const documents = linesOf(text).rows.events.map((event) => `${serialise(event)}\n`);
  return { rows: new WrittenEvents(Buffer.from(documents.join('')), 1), delivery };
};
const plain = (text: string): Batch => batchOf(linesOf(text).rows.events, delivery);
const wanted = (batches: readonly Batch[]) =>
  batches.flatMap(({ rows }) => rows.events.map((event) => `${serialise(event)}\n`)).join('');

describe('a forwarder of documents', () => {
  it.each([
    ['one batch', [linesOf('a', '"b"')]],
    ['several of each kind', [linesOf('a'), written('b'), plain('ä'), linesOf('c', 'd')]],
    ['many of each kind', [linesOf('a'), written('b'), plain('ä'), manyOf('c')]],
    [
      'more than its memory has room for',
      [linesOf('x'.repeat(600_000)), written('y'), manyOf('z'.repeat(10_000))],
    ],
  ])('is given those of %s in their order', (_, batches) => {
    const calls: string[] = [];
    new TestScheduler(() => {}).run(({ flush }) => {
      const stage = stageOf((documents) => {
        calls.push(documents.toString());
        return timer(10);
      });
      // All that come during the first call go in the second one.
      from([linesOf('0', '1'), ...batches])
        .pipe(stage)
        .subscribe();
      flush();
    });
    expect(calls).toEqual([wanted([linesOf('0', '1')]), wanted(batches)]);
  });

  it('gets the same memory again once a call has succeeded', () => {
    const calls: Buffer[] = [];
    const stage = stageOf((documents) => void calls.push(documents));
    from([manyOf('1'), manyOf('2')])
      .pipe(stage)
      .subscribe();
    expect(calls[1]?.buffer).toBe(calls[0]?.buffer);
    expect(calls[1]?.toString()).toBe(wanted([manyOf('2')]));
  });
  it('keeps those of a call that took too long as they are: it may not be over yet', () => {
    const scheduler = new TestScheduler(() => {});
    const calls: Buffer[] = [];
    const acknowledged: string[] = [];
    const batch = (text: string) => ({
      rows: manyOf(text).rows,
      delivery: new Delivery(MANY, () => acknowledged.push(text)),
    });
    const texts = ['first', 'second', 'third'];
    scheduler.run(({ flush }) => {
      const stage = stageOf((documents) => {
        calls.push(documents);
        return calls.length === 1 ? NEVER : timer(10);
      });
      // One at a time: each comes when the one before is delivered.
      timer(0, 5000)
        .pipe(
          take(3),
          map((i) => batch(texts[i] as string)),
          stage,
        )
        .subscribe();
      flush();
    });
    expect(acknowledged).toEqual(texts);
    expect(calls).toHaveLength(4);
    // The first call may not be over: its memory is never used again. That of the second is.
    expect(calls.slice(1).map(({ buffer }) => buffer === calls[0]?.buffer)).toEqual([false, false, false]);
    expect(calls[2]?.buffer).toBe(calls[1]?.buffer);
    expect(calls[3]?.buffer).toBe(calls[1]?.buffer);
    expect(calls[0]?.toString()).toBe(wanted([batch('first')]));
  });
});

/** A stage whose calls take a second at most. */
function stageOf(forwardJsonLines: (documents: Buffer) => unknown): OperatorFunction<Batch, never> {
  const place = { kind: 'forward', name: 'out' } as const;
  const counters = new PipelineCounters();
  const observer = new Observers([counters]);
  const functions = { forward: () => {}, forwardBatch: undefined, forwardJsonLines };
  const stage: ForwarderStage = {
    calls: new ForwarderCalls(functions, place, observer, counters.clock),
    acknowledgement: new Acknowledgement({ place, observer, outcome: 'forwarded', onFailure: () => {} }),
    policy: {
      name: 'forwarder out',
      attempts: undefined,
      timeout: 1,
      giveUpAfter: undefined,
      random: () => 0,
      onRetry: () => {},
      onFailing: () => {},
    },
    ordered: true,
    failsInPart: true,
    plan: undefined,
    nextId: () => 'id',
  };
  const gathering = { batching: undefined, ordered: true, most: 4096, isWindowFull: () => false };
  return gather((batches) => deliver(batches, stage, false), gathering);
}
