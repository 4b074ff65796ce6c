import { expect, it } from '@jest/globals';
import { PlainFinder } from '../../../../operators/masks/regex/finder.ts';
import { type Gate, GatedLinesFinder } from '../../../../operators/masks/regex/gated-finders.ts';

it('looks at each line once, however far ahead of a match may be what it needs', () => {
  const looked: number[] = [];
  const gate: Gate = {
    least: Number.NEGATIVE_INFINITY,
    most: 0,
    begin: () => {},
    find: (text, at) => {
      looked.push(at);
      return text.indexOf('key', at);
    },
  };
  const lines = Array.from({ length: 100 }, (_, i) => `key ${1000 + i}`);
  const text = lines.join('\n');
  const finder = new GatedLinesFinder(gate, new PlainFinder(/(?<=key.*)[0-9]{4}/g));
  const found: string[] = [];
  for (let start = finder.next(text, 0); start !== -1; start = finder.next(text, finder.end)) {
    found.push(text.slice(start, finder.end));
  }
  expect(found).toEqual(lines.map((line) => line.slice(4)));
  const starts = lines.map((_, i) => i * 9);
  expect(looked.filter((at, i) => at < (looked[i - 1] ?? 0) && !starts.includes(at))).toEqual([]);
  expect(looked.length).toBeLessThanOrEqual(3 * lines.length);
});
