import { describe, expect, it } from '@jest/globals';
import { from, range, toArray } from 'rxjs';
import { sampleRate } from '../../operators/sample-rate.ts';
import { testOperator } from './operator-matrix.ts';

/** Draws these numbers, over and over. */
const draws = (...numbers: number[]) => {
  let i = 0;
  return () => numbers[i++ % numbers.length] as number;
};

testOperator('sampleRate', {
  operator: () => sampleRate<string>({ rate: 0.5, random: draws(0.4, 0.6) }),
  throwing: () =>
    sampleRate<string>({
      rate: 0.5,
      random: () => {
        throw 'mine';
      },
    }),
  diagrams: {
    one: `
      source  -a-|
      result  -a-|
      subs    ^--!`,
    many: `
      source  -a-b-c-|
      result  -a---c-|
      subs    ^------!`,
    error: `
      source  -ab#
      result  -a-#
      subs    ^--!`,
    'never-ending': `
      source  -a-b-
      result  -a---
      subs    ^`,
    'early unsubscribe': `
      source  -a-b-c-|
      unsub   ---!
      result  -a--
      subs    ^--!`,
    'a callback that throws': `
      source  -a-b-|
      result  -#
      subs    ^!`,
  },
});

function sampled<T>(values: Iterable<T>, options: Parameters<typeof sampleRate<T>>[0]): T[] {
  const seen: T[] = [];
  from(values)
    .pipe(sampleRate(options), toArray())
    .subscribe((all) => seen.push(...all));
  return seen;
}

const users = Array.from({ length: 10_000 }, (_, n) => `user-${n}`);
const same = (user: string) => user;

describe('sampleRate', () => {
  it('lets all pass at 1, and none at 0', () => {
    const random = draws(0, 0.999);
    expect(sampled(['a', 'b'], { rate: 1, random })).toEqual(['a', 'b']);
    expect(sampled(['a', 'b'], { rate: 0, random })).toEqual([]);
    expect(sampled(users, { rate: 1, key: same })).toEqual(users);
    expect(sampled(users, { rate: 0, key: same })).toEqual([]);
  });

  it('chooses a share of the keys, with all of their values', () => {
    const chosen = sampled([...users, ...users], { rate: 0.1, key: same });
    expect(Math.abs(chosen.length / users.length / 2 - 0.1)).toBeLessThan(0.01);
    expect(chosen.slice(chosen.length / 2)).toEqual(chosen.slice(0, chosen.length / 2));
  });

  it('chooses those of a smaller share among those of a larger one', () => {
    const more = new Set(sampled(users, { rate: 0.2, key: same }));
    expect(sampled(users, { rate: 0.1, key: same }).every((user) => more.has(user))).toBe(true);
  });

  it('chooses the same keys by the same seed, and others by another', () => {
    const chosen = sampled(users, { rate: 0.1, key: same, seed: 1 });
    expect(sampled(users, { rate: 0.1, key: same, seed: 1 })).toEqual(chosen);
    const both = sampled(chosen, { rate: 0.1, key: same, seed: 2 });
    expect(both.length / chosen.length).toBeCloseTo(0.1, 1);
  });

  it('takes numbers as keys', () => {
    let count = 0;
    range(0, 10_000)
      .pipe(sampleRate({ rate: 0.25, key: (n) => n }))
      .subscribe(() => count++);
    expect(count / 10_000).toBeCloseTo(0.25, 1);
  });

  it.each([-0.1, 1.1, Number.NaN])('refuses a rate of %p', (rate) => {
    expect(() => sampleRate({ rate })).toThrow(
      new RangeError(`sampleRate: rate must be a number in [0, 1], not ${rate}`),
    );
  });
});
