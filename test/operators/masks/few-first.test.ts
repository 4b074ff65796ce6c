import { describe, expect, it, jest } from '@jest/globals';
import { compileMaskRules } from '../../../operators/masks/compile-mask-rules.ts';
import { regexMaskRules } from '../../../operators/masks/regex-mask-rules.ts';

describe('compileMaskRules, of texts without what a rule needs', () => {
  const RULES = { KEY: 'KEY::[0-9]{10}', MAIL: '[a-z.]+@[a-z.]+' };
  const NO_MATCH = 'nothing of the kind\nis here';

  /** For each text whether the engine's own search was asked. */
  function searchesOf(rules: Readonly<Record<string, string>>, texts: readonly string[], isOfLines: boolean) {
    const masks = compileMaskRules(regexMaskRules({ rules }));
    const mask = isOfLines ? masks.many()?.map : masks.mask;
    const exec = jest.spyOn(RegExp.prototype, 'exec');
    try {
      return texts.map((text) => {
        exec.mockClear();
        expect(mask?.(text)).toBe(text);
        return exec.mock.calls.length > 0;
      });
    } finally {
      exec.mockRestore();
    }
  }

  it.each([
    ['texts', false],
    ['lines', true],
  ])('asks the engine for the first ten %s, and then plans what to look for', (_, isOfLines) => {
    const texts = Array.from({ length: 13 }, () => NO_MATCH);
    // With the eleventh the rules are taken apart.
    const searches = searchesOf(RULES, texts, isOfLines).toSpliced(10, 1);
    expect(searches).toEqual([...Array.from({ length: 10 }, () => true), false, false]);
  });

  it.each([
    ['texts', false],
    ['lines', true],
  ])('plans at once for %s that could keep the engine busy', (_, isOfLines) => {
    const rules = { MAIL: '[a-z]+@[a-z]+', LINK: '[a-z]+#[a-z]+' };
    const lines = Array.from({ length: 20 }, () => 'a'.repeat(1000)).join('\n');
    expect(searchesOf(rules, [NO_MATCH, lines, NO_MATCH, lines], isOfLines)).toEqual([
      true,
      expect.anything(),
      false,
      false,
    ]);
  });
});
