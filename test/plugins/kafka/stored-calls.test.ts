import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { StoredCalls } from '../../../plugins/kafka/stored-calls.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const none = StoredCalls.parse('');
const positions = (events: number) => Array.from({ length: events }, (_, position) => position);

describe('the notes of what is stored', () => {
  it('are the same after they were written and read, whatever is missing', () => {
    const stored = fc
      .integer({ min: 1, max: 3000 })
      .chain((events) => fc.tuple(fc.constant(events), fc.subarray(positions(events))));
    fc.assert(
      fc.property(stored, ([events, some]) => {
        const call = { id: 'a', events };
        const notes = StoredCalls.parse(`${none.with(call, some)}`);
        expect(positions(events).filter((position) => notes.storedIn(call)(position))).toEqual(some);
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  it('grow by what is stored later', () => {
    const call = { id: 'a', events: 4 };
    const notes = none.with(call, [0, 2]).with(call, [3]);
    expect(positions(4).map((position) => notes.storedIn(call)(position))).toEqual([true, false, true, true]);
    expect(notes.storedIn({ id: 'b', events: 4 })(0)).toBe(false);
  });

  it('keep the last calls, and fit beside an offset', () => {
    let notes = none;
    for (let n = 0; n < 1000; n++) notes = notes.with({ id: `${n}`, events: 1000 }, [n]);
    expect(`${notes}`.length).toBeLessThanOrEqual(4000);
    const read = StoredCalls.parse(`${notes}`);
    expect(read.storedIn({ id: '999', events: 1000 })(999)).toBe(true);
    expect(read.storedIn({ id: '990', events: 1000 })(990)).toBe(true);
    expect(read.storedIn({ id: '0', events: 1000 })(0)).toBe(false);
    const largest = none.with({ id: 'large', events: 20_000 }, [0]);
    expect(`${largest}`.length).toBeLessThanOrEqual(4000);
  });
});
