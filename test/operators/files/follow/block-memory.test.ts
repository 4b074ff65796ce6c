import { describe, expect, it } from '@jest/globals';
import { BlockMemory } from '../../../../operators/files/follow/block-memory.ts';
import { LineFramer } from '../../../../operators/files/follow/line-framer.ts';

describe('BlockMemory', () => {
  it('gives what came back, where it is large enough', () => {
    const memory = new BlockMemory();
    const first = memory.take(100);
    const second = memory.take(100);
    expect(second.buffer).not.toBe(first.buffer);
    memory.give(first);
    const third = memory.take(60_000);
    expect([third.length, third.buffer === first.buffer]).toEqual([60_000, true]);
    memory.give(third);
    const larger = memory.take(70_000);
    expect([larger.length, larger.buffer === first.buffer]).toEqual([70_000, false]);
    memory.give(larger);
    memory.give(second);
    // From now on each has room for that much, so that blocks of nearly one size fit into each other's memory.
    expect(memory.take(100).buffer).toBe(larger.buffer);
  });

  it('keeps a block as it is until that is released', () => {
    const memory = new BlockMemory();
    const framer = new LineFramer();
    const take = (text: string) => {
      framer.feed(Buffer.from(text));
      return framer.takeBlock(9, memory);
    };
    const first = take('one\ntwo\nthr');
    const second = take('ee\n');
    expect([first?.lines, second?.lines]).toEqual([['one', 'two'], ['three']]);
    first?.release();
    const third = take('four\n');
    expect(third?.bytes.buffer).toBe(first?.bytes.buffer);
    expect([Buffer.from(second?.bytes as Uint8Array).toString(), third?.lines]).toEqual([
      'three\n',
      ['four'],
    ]);
  });
});
