import { describe, expect, it } from '@jest/globals';
import { SharedSearch } from '../../../../operators/masks/regex/joined-gates.ts';

describe('a shared search', () => {
  it('rejects no rule for the next text when a time-out ended it between its result and the note of that', () => {
    const shared = new SharedSearch({ search: () => 0 });
    shared.found = 0;
    expect(shared.isDone).toBe(false);
    shared.reset();
    expect(shared.found).toBe(-1);
  });
});
