import { describe, expect, it } from '@jest/globals';
import { BlockMemory } from '../../../../operators/files/follow/line-block.ts';
import { LineFramer } from '../../../../operators/files/follow/line-framer.ts';

/** Long enough for their memory to be used again. */
const ONE = 'one'.repeat(2000);
const FOUR = 'four'.repeat(2000);

describe('BlockMemory', () => {
  it('gives what came back, where it is large enough', () => {
    const memory = new BlockMemory();
    const first = memory.take(5000);
    const second = memory.take(5000);
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
    expect(memory.take(5000).buffer).toBe(larger.buffer);
  });

  it('makes small blocks no larger than they are', () => {
    expect(new BlockMemory().take(100).buffer.byteLength).toBe(100);
  });

  it('keeps a block as it is until that is released', () => {
    const memory = new BlockMemory();
    const framer = new LineFramer();
    const take = (text: string) => {
      framer.feed(Buffer.from(text));
      return framer.take(9, memory);
    };
    const first = take(`${ONE}\ntwo\nthr`);
    const second = take('ee\n');
    expect([first.lines, second.lines]).toEqual([[ONE, 'two'], ['three']]);
    first.release();
    const third = take(`${FOUR}\n`);
    expect(third.bytes.buffer).toBe(first.bytes.buffer);
    expect([Buffer.from(second.bytes).toString(), third.lines]).toEqual(['three\n', [FOUR]]);
  });
});
