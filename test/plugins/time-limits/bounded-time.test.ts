import { describe, expect, it } from '@jest/globals';
import { forgetLongWork, hasLongWork } from '../../../operators/support/long-work.ts';
import { inBoundedTime, isWatched, Patience, TimeLimit } from '../../../plugins/time-limits/bounded-time.ts';
import { threadMs } from '../../../plugins/time-limits/thread-time.ts';

const forEver = (): string => {
  for (;;) {}
};

/** The seconds that a text was given which takes for ever. */
function given(bound: (work: () => string, length: number) => string, length = 0): number {
  try {
    bound(forEver, length);
  } catch (error) {
    return Number(/within ([\d.]+) s/.exec((error as Error).message)?.[1]);
  }
  return Number.NaN;
}

describe('inBoundedTime', () => {
  it('stops what takes longer, and passes on what it throws', () => {
    expect(given((work, length) => inBoundedTime(work, length, { share: 0.01 }))).toBe(0.01);
    expect(given((work, length) => inBoundedTime(work, length, { share: 0.01 }), 1_000_000)).toBe(0.02);
    const fail = () => {
      throw new RangeError('no');
    };
    expect(() => inBoundedTime(fail, 1)).toThrow(new RangeError('no'));
  });

  it('names the rule that was running, if that is known', () => {
    const options = { share: 0.01, rule: () => 'SLOW' };
    expect(() => inBoundedTime(forEver, 1, options)).toThrow(/ s by the rule "SLOW"$/);
    expect(() => inBoundedTime(forEver, 1, { share: 0.01 })).toThrow(/ s$/);
  });

  describe('of a process that gets no processor', () => {
    const lock = new Int32Array(new SharedArrayBuffer(4));
    const paused = () => Atomics.wait(lock, 0, 0, 60_000);

    it('starts over what had none', () => {
      let tries = 0;
      const work = () => {
        tries++;
        return tries === 1 ? paused() : 'masked';
      };
      expect([inBoundedTime(work, 1, { share: 0.1 }), tries]).toEqual(['masked', 2]);
    });

    it('gives up after three times', () => {
      let tries = 0;
      const work = () => {
        tries++;
        return paused();
      };
      expect(() => inBoundedTime(work, 1, { share: 0.02 })).toThrow('within 0.021 s');
      expect(tries).toBe(3);
    });
  });

  it('knows whether it is running, also after the time of an outer call was over before that of an inner one', () => {
    expect(isWatched()).toBe(false);
    expect(inBoundedTime(() => isWatched(), 1)).toBe(true);
    const inner = () => inBoundedTime(forEver, 1);
    expect(() => inBoundedTime(inner, 1, { share: 0.05 })).toThrow(/within 0\.05/);
    expect(isWatched()).toBe(false);
  });

  it('can be used within itself', () => {
    expect(inBoundedTime(() => `${inBoundedTime(() => 'a', 1)}b`, 1)).toBe('ab');
  });
});

describe('patience with a mask', () => {
  const sharesOf = (timeOuts: number) => {
    const patience = new Patience();
    return Array.from({ length: timeOuts }, () => {
      const { share } = patience;
      patience.lose();
      return share;
    });
  };

  it('halves its time with each time-out behind the third, down to a sixteenth', () => {
    expect(sharesOf(9)).toEqual([1, 1, 1, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16, 1 / 16]);
  });

  it('lets one text in sixteen have all of it', () => {
    const shares = sharesOf(50);
    expect([shares[16], shares[32], shares[48]]).toEqual([1, 1, 1]);
    expect(shares.slice(7).filter((share) => share === 1)).toHaveLength(3);
  });

  it('is restored by a text that is masked in time', () => {
    const patience = new Patience();
    for (let i = 0; i < 10; i++) patience.lose();
    patience.restore();
    expect(patience.share).toBe(1);
  });

  it('is kept for each mask by itself; an error that is no time-out costs none', () => {
    // What ends by itself has all the time of a busy machine.
    const quick: typeof inBoundedTime = (work, length, { share = 1 } = {}) =>
      inBoundedTime(work, length, { share: work === forEver ? share / 50 : share });
    const { bound } = new TimeLimit(quick);
    const { bound: other } = new TimeLimit(quick);
    const fail = () => {
      throw new RangeError('no');
    };
    for (let i = 0; i < 5; i++) expect(() => bound(fail, 1)).toThrow(RangeError);
    expect([given(bound), given(bound), given(bound), given(bound)]).toEqual([0.02, 0.02, 0.02, 0.01]);
    expect(given(other)).toBe(0.02);
    expect(bound(() => 'a', 1)).toBe('a');
    expect(given(bound)).toBe(0.02);
  });
});

describe('texts that share a limit', () => {
  it('have together what one of their length has, and each other one has all of it again', () => {
    const options: unknown[] = [];
    const { bound, share } = new TimeLimit((work, length, { used = 0 } = {}) => {
      options.push([length, used > 0]);
      return work();
    });
    share(() => {
      bound(busy, 10);
      // What is inside shares it as well.
      share(() => bound(busy, 20));
    });
    share(() => bound(busy, 5));
    bound(busy, 7);
    expect(options).toEqual([
      [10, false],
      [30, true],
      [5, false],
      [7, false],
    ]);
  });

  it('are all watched once they have taken long, and that is said', () => {
    forgetLongWork();
    const { bound, share, isLate } = new TimeLimit();
    expect(share(() => [isLate(), bound(() => 'a', 1), isLate()])).toEqual([false, 'a', false]);
    expect(hasLongWork()).toBe(false);
    share(() => {
      bound(busy, 1);
      expect(isLate()).toBe(true);
    });
    expect([isLate(), hasLongWork()]).toEqual([undefined, true]);
    forgetLongWork();
  });

  it('are stopped when their time is over, whichever of them runs', () => {
    const { bound, share } = new TimeLimit((work, length, options) =>
      inBoundedTime(work, length, { ...options, share: 0.2 }),
    );
    let done = 0;
    const some = () =>
      share(() => {
        for (let i = 0; i < 100; i++) {
          bound(busy, 1);
          done++;
        }
      });
    expect(some).toThrow('within 0.2');
    // 100 of 80 ms each would be eight seconds.
    expect(done).toBeLessThan(10);
  });
});

/** Takes the processor for 80 ms. */
function busy(): void {
  const before = threadMs();
  while (threadMs() - before < 80);
}
