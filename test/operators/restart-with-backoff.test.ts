import { describe, expect, it, jest } from '@jest/globals';
import { concat, concatMap, defer, lastValueFrom, NEVER, of, takeUntil, throwError, timer } from 'rxjs';
import { backoffDelay } from '../../operators/backoff.ts';
import { type RestartPolicy, restartWithBackoff } from '../../operators/restart-with-backoff.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

const policy: RestartPolicy = {
  base: 4,
  cap: 10,
  attempts: 5,
  healthyAfter: 100,
  onComplete: true,
  random: () => 0.5,
};

describe('backoffDelay', () => {
  it('doubles with each failure up to the cap, with full jitter', () => {
    const delays = [1, 2, 3, 4].map((n) => backoffDelay(n, { base: 100, cap: 500, random: () => 0.999 }));
    expect(delays.map(Math.round)).toEqual([100, 200, 400, 500]);
    expect(backoffDelay(9, { base: 100, cap: 500, random: () => 0 })).toBe(0);
  });
});

testOperator<string, string>('restartWithBackoff', {
  operator: () => restartWithBackoff({ ...policy, attempts: 1, onComplete: false }),
  throwing: () =>
    restartWithBackoff(
      { ...policy, onComplete: true },
      {
        onWait: () => {
          throw 'mine';
        },
      },
    ),
  diagrams: {
    one: `
      source  -a|
      result  -a|
      subs    ^-!`,
    many: `
      source  -a-bc|
      result  -a-bc|
      subs    ^----!`,
    error: `
      source  -a-#
      result  -a-#
      subs    ^--!`,
    'never-ending': `
      source  -a-b-
      result  -a-b-
      subs    ^`,
    'early unsubscribe': `
      source  -a-b-c-|
      unsub   ----!
      result  -a-b-
      subs    ^---!`,
    'a callback that throws': `
      source  -a-b-|
      result  -a-b-#
      subs    ^----!`,
  },
});

describe('restartWithBackoff', () => {
  it('subscribes again after a failure, waiting longer each time, five failures at most', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-a#');
      // Waits of 2, 4, 5 and 5 ms: half of 4, 8, and twice the cap of 10.
      const subscriptions = [
        '^-!',
        '----^-!',
        '----------^-!',
        '-----------------^-!',
        '------------------------^-!',
      ];
      const expected = '   -a---a-----a------a------a#';
      expectObservable(source.pipe(restartWithBackoff(policy))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subscriptions);
    });
  });

  it('waits as long as the error says, beyond the cap, and by its backoff after others', () => {
    const waits: number[] = [];
    const waitFrom = (error: unknown) => (error === 'busy' ? 50 : undefined);
    marbles(({ expectObservable }) => {
      const errors = ['busy', 'down', 'busy'];
      const source = defer(() => (errors.length > 0 ? throwError(() => errors.shift()) : of('a')));
      const observer = { onWait: (wait: number) => waits.push(wait) };
      const result = source.pipe(restartWithBackoff({ ...policy, waitFrom, onComplete: false }, observer));
      expectObservable(result).toBe('104ms (a|)');
    });
    expect(waits).toEqual([50, 4, 50]);
  });

  it.each([Number.NaN, -1, '5'])('ends with an error if waitFrom gives %p', (wait) => {
    let error: unknown;
    throwError(() => 'busy')
      .pipe(restartWithBackoff({ ...policy, waitFrom: () => wait as number }))
      .subscribe({ error: (thrown) => (error = thrown) });
    expect(String(error)).toContain(
      'restartWithBackoff: the result of waitFrom must be a finite number of at least 0',
    );
  });

  it('is not reset by a value', () => {
    marbles(({ expectObservable }) => {
      const source = concat(
        of('a'),
        throwError(() => 'error'),
      );
      expectObservable(source.pipe(restartWithBackoff(policy))).toBe('a-a---a----a----(a#)');
    });
  });

  it('resets the failure count after a healthy run', () => {
    let runs = 0;
    let failed = false;
    marbles(() => {
      // Every fourth run stays up for the healthy period before it fails.
      const source = defer(() =>
        timer(++runs % 4 === 0 ? 100 : 1).pipe(concatMap(() => throwError(() => 'error'))),
      );
      source.pipe(restartWithBackoff(policy), takeUntil(timer(5000))).subscribe({
        error: () => {
          failed = true;
        },
      });
    });
    expect(failed).toBe(false);
    expect(runs).toBeGreaterThan(50);
  });

  it('takes no run for healthy because the system clock was set forward', async () => {
    const today = Date.now();
    let runs = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => today + runs * 24 * 3600 * 1000);
    const source = defer(() => {
      runs++;
      return throwError(() => 'error');
    });
    // An hour: a busy machine takes no run for healthy either.
    const patient = { ...policy, base: 0, healthyAfter: 3600 * 1000 };
    await expect(lastValueFrom(source.pipe(restartWithBackoff(patient)))).rejects.toBe('error');
    jest.restoreAllMocks();
    expect(runs).toBe(policy.attempts);
  });

  it('starts again what completed, without end and not in a hot loop, if asked to', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold('   (a|)');
      const unsubscription = '-------------------!';
      const expected = '      a-a---a----a----a---';
      expectObservable(source.pipe(restartWithBackoff(policy)), unsubscription).toBe(expected);
    });
  });

  it('lets a completion pass otherwise', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-a-|');
      const expected = '   -a-|';
      expectObservable(source.pipe(restartWithBackoff({ ...policy, onComplete: false }))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe('^--!');
    });
  });

  it('restarts 20,000 times a source that completes at once, without growing the stack', () => {
    let runs = 0;
    marbles(() => {
      const source = defer(() => {
        runs++;
        return runs === 20_000 ? NEVER : of('a');
      });
      source.pipe(restartWithBackoff({ ...policy, base: 0, random: () => 0 })).subscribe();
    });
    expect(runs).toBe(20_000);
  });

  it('tells of starts and waits', () => {
    const told: string[] = [];
    marbles(({ cold }) => {
      cold('-#')
        .pipe(
          restartWithBackoff(
            { ...policy, attempts: 2 },
            {
              onStart: () => told.push('start'),
              onWait: (wait, failures, error) =>
                told.push(`wait ${wait} failures ${failures} ${error?.cause}`),
            },
          ),
        )
        .subscribe({ error: (error) => told.push(`failed ${error}`) });
    });
    expect(told).toEqual(['start', 'wait 2 failures 1 error', 'start', 'failed error']);
  });

  it.each([
    ['onStart', 'subscribes to nothing', '#', []],
    ['random', 'waits for nothing', '-#', ['^!']],
  ])('errors when %s throws, and %s', (name, _, expected, subscriptions) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-#', {}, 'down');
      const thrown = () => {
        throw 'error';
      };
      const restart =
        name === 'random'
          ? restartWithBackoff({ ...policy, random: thrown })
          : restartWithBackoff(policy, { onStart: thrown });
      expectObservable(source.pipe(restart)).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subscriptions);
    });
  });

  it.each([
    ['attempts', 0],
    ['attempts', 1.5],
    ['attempts', Number.NaN],
    ['base', -1],
    ['cap', Number.NaN],
    ['healthyAfter', undefined],
  ])('refuses %s of %p, which would never wait or never end', (name, value) => {
    expect(() => restartWithBackoff({ ...policy, [name]: value })).toThrow(
      new RegExp(`^restartWithBackoff: ${name} must be .*at least [01](, or Infinity)?, not ${value}$`),
    );
  });

  it('tries without end with Infinity', () => {
    marbles(({ expectObservable }) => {
      let runs = 0;
      const source = defer(() => (++runs < 9 ? throwError(() => 'down') : of('a')));
      const forever = { ...policy, attempts: Number.POSITIVE_INFINITY, base: 0, onComplete: false };
      expectObservable(source.pipe(restartWithBackoff(forever))).toBe('(a|)');
    });
  });

  it('ends a wait and a run at unsubscription', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('    -a#');
      const unsubscription = ' ---!';
      const expected = '       -a--';
      expectObservable(source.pipe(restartWithBackoff(policy)), unsubscription).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe('^-!');
    });
  });
});
