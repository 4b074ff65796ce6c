import { appendFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { countLines, joined, lineCounter, linesOf } from '../../bench/lines-of.ts';
import { referenceOf, verify } from '../../bench/reference.ts';
import { tempFolder } from '../support/temp-folder.ts';

const temp = tempFolder();

/** An input of three lines, the reference of masking it, and an output of `lines` to compare. */
function outputOf(lines: readonly string[]) {
  const input = temp('in.log');
  const output = temp('out');
  writeFileSync(input, 'a 1\nb 2\nc 3\n');
  writeFileSync(output, lines.map((line) => `${line}\n`).join(''));
  return { input, output, reference: referenceOf(input, (line) => line.replace(/\d/, '<:N:>')) };
}

function eventOf(line: string, source: string): string {
  return JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', data: { line, source }, backfill: true });
}

describe('the comparison of outputs', () => {
  const text = { name: 'text', writes: 'text', isOrdered: true } as const;
  const events = { name: 'events', writes: 'events', isOrdered: true } as const;
  const masked = ['a <:N:>', 'b <:N:>', 'c <:N:>'];

  it('accepts a text that is the same', () => {
    const { output, reference } = outputOf(masked);
    expect(() => verify(text, output, reference)).not.toThrow();
    expect(reference.lines).toBe(3);
  });

  it.each([
    ['a line is not masked', ['a <:N:>', 'b 2', 'c <:N:>']],
    ['a line is missing', ['a <:N:>', 'b <:N:>']],
    ['the order is another', ['b <:N:>', 'a <:N:>', 'c <:N:>']],
  ])('refuses one where %s', (_, lines) => {
    const { output, reference } = outputOf(lines);
    expect(() => verify(text, output, reference)).toThrow('text: the output differs from the reference');
  });

  it('looks at the lines in events, and at their order only where it is kept', () => {
    const source = temp('in.log');
    const { output, reference } = outputOf([...masked].reverse().map((line) => eventOf(line, source)));
    expect(() => verify({ ...events, isOrdered: false }, output, reference)).not.toThrow();
    expect(() => verify(events, output, reference)).toThrow('differs');
  });

  it('refuses what is no event of the input', () => {
    const { output, reference } = outputOf(masked.map((line) => eventOf(line, '/another.log')));
    expect(() => verify(events, output, reference)).toThrow('not the event of a line of');
  });
});

describe('lines of a file', () => {
  it('are whole over the bounds of blocks, and counted', () => {
    const lines = Array.from({ length: 30_000 }, (_, i) => `${i} ${'é'.repeat(i % 90)}`);
    const path = temp('long.log');
    writeFileSync(path, [...joined(lines)].join(''));
    expect([...linesOf(path)]).toEqual(lines);
    expect(countLines(path)).toBe(lines.length);
  });

  it('are counted while the file grows', () => {
    const path = temp('growing.log');
    const count = lineCounter(path);
    for (const [text, lines] of [
      ['', 0],
      ['a\nb', 1],
      ['c\n\n', 3],
      ['', 3],
    ] as const) {
      appendFileSync(path, text);
      expect(count()).toBe(lines);
    }
  });

  it('include a last one that has no end', () => {
    writeFileSync(temp('a'), 'one\ntwo');
    expect([...linesOf(temp('a'))]).toEqual(['one', 'two']);
  });
});
