import { describe, expect, it } from '@jest/globals';
import { MemoryBudget } from '../../../../operators/files/follow/memory-budget.ts';
import { PartialLine } from '../../../../operators/files/follow/partial-line.ts';

const KB = 1024;
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
    expect(long.take(Buffer.from('end'))).toEqual({ line: 'l'.repeat(32 * KB), isTruncated: true });
    expect(short.take(Buffer.from('end'))).toEqual({ line: `${'s'.repeat(40 * KB)}end`, isTruncated: false });
    expect(budget.hasRoomFor(100 * KB)).toBe(true);
    // The next line is not cut.
    long.add(text('n', 64 * KB));
    expect(long.take()).toEqual({ line: 'n'.repeat(64 * KB), isTruncated: false });
  });

  it('bounds any number of lines that grow in turns', () => {
    const budget = new MemoryBudget(256 * KB);
    const lines = Array.from({ length: 20 }, () => new PartialLine(1000 * KB, budget));
    for (let turn = 0; turn < 50; turn++) for (const line of lines) line.add(text('x', 5 * KB));
    expect(budget.hasRoomFor(0)).toBe(true);
    expect(lines.every(({ length }) => length === 250 * KB)).toBe(true);
    for (const line of lines) expect(line.take().isTruncated).toBe(true);
    expect(budget.hasRoomFor(256 * KB)).toBe(true);
  });

  it('leaves short lines whole, however many there are', () => {
    const budget = new MemoryBudget(KB);
    const lines = Array.from({ length: 10 }, () => new PartialLine(1000 * KB, budget));
    for (const line of lines) line.add(text('x', 2 * KB));
    expect(lines.map((line) => line.take().isTruncated)).toEqual(lines.map(() => false));
  });
});
