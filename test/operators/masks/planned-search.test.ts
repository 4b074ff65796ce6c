import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { logLines, THREE_RULES } from '../../../bench/log-generator.ts';

const lines = [...logLines(200)];
type RegexMask = typeof import('../../../operators/masks/regex-mask.ts');

/** A fresh copy of the module, in which nothing is loaded. */
let fresh: RegexMask;
beforeEach(async () => {
  jest.resetModules();
  fresh = await import('../../../operators/masks/regex-mask.ts');
});

describe('regexMasker, until its planned search is loaded and after it', () => {
  it('masks the same and counts the same', async () => {
    const counts = new Map<string, number>();
    const onMask = (rule: string, count: number) => counts.set(rule, (counts.get(rule) ?? 0) + count);
    const mask = fresh.regexMasker({ rules: THREE_RULES, onMask });
    const maskAll = () => {
      counts.clear();
      return { masked: lines.map((line) => mask(line)), counts: [...counts].toSorted() };
    };
    const before = maskAll();
    expect(before.counts).toHaveLength(3);
    await fresh.loadPlannedSearch();
    expect(maskAll()).toEqual(before);
  });

  it('bounds the time of every text as long as nothing is known of the rules', async () => {
    const bounded: number[] = [];
    const boundTime = (work: () => string, length: number) => {
      bounded.push(length);
      return work();
    };
    const mask = fresh.regexMasker({ rules: { PIN: '[0-9]{4}' }, boundTime });
    expect(mask('1234')).toBe('<:PIN:>');
    expect(bounded).toEqual([4]);
    await fresh.loadPlannedSearch();
    expect(mask('1234')).toBe('<:PIN:>');
    expect(bounded).toEqual([4]);
  });

  it('refuses what is wrong at once', () => {
    expect(() => fresh.regexMasker({ rules: { BAD: '(' } })).toThrow('rule "BAD"');
    expect(() => fresh.regexMasker({ rules: { A: 'a' }, mask_char: '**' })).toThrow(TypeError);
  });
});
