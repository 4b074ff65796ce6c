import { describe, expect, it } from '@jest/globals';
import { regexMasker } from '../../../operators/masks/regex-mask.ts';

describe('regexMasker, whose onMask masks another text', () => {
  it.each([
    ['mask_char', { mask_char: 'X' }, 'XXXX XXXXXXXXXXX XXXXXXX XXXXXXXX'],
    ['no prefix', { mask_prefix: '', mask_suffix: '' }, 'XXXX B C D'],
  ])('leaves nothing unmasked: %s', (_, replacement, wanted) => {
    let depth = 0;
    const told: string[] = [];
    const mask = regexMasker({
      ...replacement,
      // The first leaves the text as it was.
      rules: { XXXX: 'X{4}', B: 'sk_live_[a-z0-9]+', C: 'ghp_[a-zA-Z0-9]+', D: 'xoxb-[0-9]+' },
      onMask: (rule) => {
        if (depth > 0) return;
        told.push(rule);
        depth++;
        expect(mask('nothing here')).toBe('nothing here');
        depth--;
      },
    });
    // The first few are left to the engine.
    for (let i = 0; i < 20; i++) {
      told.length = 0;
      expect(mask('XXXX sk_live_abc ghp_abc xoxb-123')).toBe(wanted);
      expect(told).toEqual(['XXXX', 'B', 'C', 'D']);
    }
  });
});
