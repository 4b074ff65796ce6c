import { describe, expect, it } from '@jest/globals';
import { BlockLease, BlockMemory } from '../../../../operators/files/follow/line-block.ts';
import { PartialLine } from '../../../../operators/files/follow/line-framer.ts';
import { MemoryBudget } from '../../../../operators/files/follow/memory-budget.ts';

const KB = 1024;
/** What is kept of a line that ends so, and whether that is not all of it. */
function take(line: PartialLine, end = ''): [line: string, isTruncated: boolean] {
  const isTruncated = !line.hasRoomFor(end.length);
  const rest = Buffer.from(end).subarray(0, line.room);
  return [line.take(rest, new BlockLease(new BlockMemory())).toString(), isTruncated];
}

const text = (letter: string, bytes: number) => Buffer.from(letter.repeat(bytes));

describe('MemoryBudget', () => {
  it('cuts the longest line by half when there is no room, and gives all of it back', () => {
    const budget = new MemoryBudget(100 * KB);
    const long = new PartialLine(1000 * KB, budget);
    const short = new PartialLine(1000 * KB, budget);
    long.add(text('l', 64 * KB));
    short.add(text('s', 30 * KB));
    expect(budget.hasRoomFor(6 * KB)).toBe(true);
    short.add(text('s', 10 * KB));
    long.add(text('l', 10 * KB));
    expect([long.length, short.length]).toEqual([74 * KB, 40 * KB]);
    expect(take(long, 'end')).toEqual(['l'.repeat(32 * KB), true]);
    expect(take(short, 'end')).toEqual([`${'s'.repeat(40 * KB)}end`, false]);
    expect(budget.hasRoomFor(100 * KB)).toBe(true);
    // The next line is not cut.
    long.add(text('n', 64 * KB));
    expect(take(long)).toEqual(['n'.repeat(64 * KB), false]);
  });

  it('bounds any number of lines that grow in turns', () => {
    const budget = new MemoryBudget(256 * KB);
    const lines = Array.from({ length: 20 }, () => new PartialLine(1000 * KB, budget));
    for (let turn = 0; turn < 50; turn++) for (const line of lines) line.add(text('x', 5 * KB));
    expect(budget.hasRoomFor(0)).toBe(true);
    expect(lines.every(({ length }) => length === 250 * KB)).toBe(true);
    for (const line of lines) expect(take(line)[1]).toBe(true);
    expect(budget.hasRoomFor(256 * KB)).toBe(true);
  });

  it('leaves short lines whole, however many there are', () => {
    const budget = new MemoryBudget(KB);
    const lines = Array.from({ length: 10 }, () => new PartialLine(1000 * KB, budget));
    for (const line of lines) line.add(text('x', 2 * KB));
    expect(lines.map((line) => take(line)[1])).toEqual(lines.map(() => false));
  });
});
