import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RunSearch } from '../../../../operators/masks/regex/joined-search.ts';
import { UnitSet } from '../../../../operators/masks/regex/unit-set.ts';

const characters = [...'ab01 é'];

describe('a search for the runs of several rules', () => {
  it('never overlooks one, and finds none where there is none as long as the shortest', () => {
    const run = fc.record({
      of: fc.subarray(characters, { minLength: 1 }).map((some) => some.join('')),
      length: fc.integer({ min: 1, max: 7 }),
    });
    const text = fc.string({ unit: fc.constantFrom(...characters, 'x'), maxLength: 40 });
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 5 }), text, (runs, text) => {
        const search = new RunSearch(
          runs.map(({ of, length }) => ({ units: UnitSet.of(of), length, most: 0 })),
        );
        const found = search.search(text);
        const shortest = Math.min(...runs.map(({ length }) => length));
        runs.forEach(({ of, length }, i) => {
          const has = (least: number) => new RegExp(`[${of}]{${least}}`).test(text);
          const isFound = (found & (1 << i)) !== 0;
          if (has(length)) expect(isFound).toBe(true);
          if (!has(shortest)) expect(isFound).toBe(false);
        });
      }),
      { numRuns: 2000 },
    );
  });
});
