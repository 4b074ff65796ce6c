import { describe, expect, it } from '@jest/globals';
import { type Batch, Delivery, UnmadeBatch } from '../../src/delivery/delivery.ts';
import { DocumentMemory } from '../../src/delivery/document-memory.ts';
import { LineEvents, serialise, WrittenEvents } from '../../src/models/index.ts';

const ENVELOPE = {
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'a.log',
  backfill: true,
  isTruncated: false,
};

const delivery = new Delivery(1, () => {});
const linesOf = (...lines: string[]) => new UnmadeBatch(LineEvents.of(lines, ENVELOPE), delivery);
const written = (text: string) =>
  new UnmadeBatch(
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
