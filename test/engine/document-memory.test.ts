import { describe, expect, it } from '@jest/globals';
import { map, NEVER, of, take, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { type Batch, Delivery, LazyBatch } from '../../src/engine/delivery.ts';
import { DocumentMemory } from '../../src/engine/document-memory.ts';
import { type ForwardStageOptions, forwardStage } from '../../src/engine/forward-stage.ts';
import { LineEvents, serialise, WrittenEvents } from '../../src/sdk/models.ts';

const ENVELOPE = {
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'a.log',
  backfill: true,
  isTruncated: false,
};

const delivery = new Delivery(1, () => {});
const linesOf = (...lines: string[]) => new LazyBatch(LineEvents.of(lines, ENVELOPE), delivery);
const written = (text: string) =>
  new LazyBatch(
    new WrittenEvents(
      Buffer.from(
        linesOf(text)
          .events.map((e) => `${serialise(e)}\n`)
          .join(''),
      ),
      1,
    ),
    delivery,
  );
const plain = (text: string): Batch => ({ events: linesOf(text).events, delivery });
const wanted = (batches: readonly Batch[]) =>
  batches.flatMap(({ events }) => events.map((event) => `${serialise(event)}\n`)).join('');

describe('DocumentMemory', () => {
  it.each([
    ['one batch', [linesOf('a', '"b"')]],
    ['several of each kind', [linesOf('a'), written('b'), plain('ä'), linesOf('c', 'd')]],
    [
      'more than it has memory for',
      [linesOf('x'.repeat(300_000)), written('y'), linesOf('z'.repeat(400_000))],
    ],
  ])('writes the documents of %s in their order', (_, batches) => {
    expect(new DocumentMemory().write(batches).bytes.toString()).toBe(wanted(batches));
  });

  it('uses again what was given back, and nothing else', () => {
    const memory = new DocumentMemory();
    const first = memory.write([linesOf('one')]);
    const second = memory.write([linesOf('two')]);
    expect([first, second].map(({ bytes }) => bytes.toString())).toEqual([
      wanted([linesOf('one')]),
      wanted([linesOf('two')]),
    ]);
    first.giveBack();
    expect(memory.write([linesOf('three')]).bytes.buffer).toBe(first.bytes.buffer);
    expect(second.bytes.toString()).toBe(wanted([linesOf('two')]));
  });
});

describe('a forwarder of documents', () => {
  it('keeps those of a call that took too long as they are: it may not be over yet', () => {
    const scheduler = new TestScheduler(() => {});
    const calls: Buffer[] = [];
    const acknowledged: string[] = [];
    const batch = (text: string) =>
      new LazyBatch(LineEvents.of([text, text], ENVELOPE), new Delivery(2, () => acknowledged.push(text)));
    const texts = ['first', 'second', 'third'];
    scheduler.run(({ flush }) => {
      const stage = forwardStage(
        optionsOf((documents) => {
          calls.push(documents);
          return calls.length === 1 ? NEVER : timer(10);
        }),
      );
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
    expect(calls[1]?.buffer).toBe(calls[0]?.buffer);
    expect(calls[2]?.buffer).not.toBe(calls[0]?.buffer);
    expect(calls[3]?.buffer).toBe(calls[2]?.buffer);
    expect(calls[0]?.toString()).toBe(wanted([batch('first')]));
  });

  it('keeps the memory of a worker from being used again after a call that took too long', () => {
    const scheduler = new TestScheduler(() => {});
    let kept = 0;
    let calls = 0;
    const events = new WrittenEvents(Buffer.from('{}\n{}\n'), 2, () => {
      kept++;
    });
    scheduler.run(({ flush }) => {
      const stage = forwardStage(
        optionsOf(() => {
          calls++;
          return calls === 1 ? NEVER : timer(10);
        }),
      );
      const delivery = new Delivery(2, () => expect([calls, kept]).toEqual([2, 1]));
      of(new LazyBatch(events, delivery)).pipe(stage).subscribe();
      flush();
    });
    expect([calls, kept]).toEqual([2, 1]);
  });
});

function optionsOf(forwardJsonLines: (documents: Buffer) => unknown): ForwardStageOptions {
  return {
    ordered: true,
    failsInPart: true,
    batching: undefined,
    isWindowFull: () => false,
    policy: {
      name: 'forwarder out',
      attempts: undefined,
      timeout: 1,
      giveUpAfter: undefined,
      random: () => 0,
      onRetry: () => {},
      onFailing: () => {},
    },
    forward: () => {},
    forwardBatch: undefined,
    forwardJsonLines,
    outcome: 'forwarded',
    onDelivered: () => {},
    watch: undefined,
    onFailure: () => {},
  };
}
