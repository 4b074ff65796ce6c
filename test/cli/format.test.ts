import { describe, expect, it } from '@jest/globals';
import { bytes, count, counted, duration, perSecond, table, wrap } from '../../src/cli/format.ts';

describe('count', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [12_345_678, '12,345,678'],
  ])('%d is %s', (value, text) => expect(count(value)).toBe(text));
});

describe('counted', () => {
  it('says one thing in the singular', () => {
    expect(counted(1, 'pipeline')).toBe('1 pipeline');
    expect(counted(0, 'pipeline')).toBe('0 pipelines');
    expect(counted(2000, 'pipeline')).toBe('2,000 pipelines');
  });
});

describe('bytes', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [999_940, '999.9 kB'],
    [999_960, '1.0 MB'],
    [1_234_567_890, '1.2 GB'],
    [5e18, '5000.0 PB'],
  ])('%d is %s', (value, text) => expect(bytes(value)).toBe(text));
});

describe('duration', () => {
  it.each([
    [0, '0 ms'],
    [840.4, '840 ms'],
    [999.6, '1.0 s'],
    [12_340, '12.3 s'],
    [59_960, '1 min 0 s'],
    [192_000, '3 min 12 s'],
    [3_599_600, '1 h 0 min'],
    [7_500_000, '2 h 5 min'],
  ])('%d ms is %s', (ms, text) => expect(duration(ms)).toBe(text));
});

describe('perSecond', () => {
  it.each([
    [0, 1000, '0'],
    [5, 0, '0'],
    [4, 10_000, '0.4'],
    [12_345, 1000, '12,345'],
  ])('%d events in %d ms are %s', (events, ms, text) => expect(perSecond(events, ms)).toBe(text));
});

describe('table', () => {
  it('aligns columns and leaves no trailing spaces', () => {
    expect(
      table([
        ['a', 'long', ''],
        ['longer', 'b', 'c'],
      ]),
    ).toEqual(['a       long', 'longer  b     c']);
  });
});

describe('wrap', () => {
  it('breaks at spaces and indents what follows', () => {
    expect(wrap('one two three four', 9, '  ')).toBe('one two\n  three\n  four');
  });

  it('leaves a word that is too long whole', () => {
    expect(wrap('a incomprehensible b', 5)).toBe('a\nincomprehensible\nb');
  });
});
