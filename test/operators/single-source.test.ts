import { describe, expect, it } from '@jest/globals';
import {
  defer,
  finalize,
  from,
  interval,
  lastValueFrom,
  map,
  NEVER,
  type Observable,
  type OperatorFunction,
  of,
  take,
  toArray,
} from 'rxjs';
import * as operators from '../../operators/index.ts';
import { marbles } from '../support/marbles.ts';
import { type Inner, testDiagrams } from './diagrams.ts';

// Cases of RxJS 7.8.2 (Apache License 2.0), adapted to our operators. `never`, `empty`, errors and unsubscription are
// in each operator's matrix.

describe('as distinct', () => {
  const forEver = { within: 1e9 };
  testDiagrams(
    { dedupe: () => operators.dedupe(forEver) },
    {
      'values that repeat': `
        source  --a--a--a--b--b--a--|
        result  --a--------b--------|
        subs    ^-------------------!`,
      'values that all differ': `
        source  --a--b--c--d--e--f--|
        result  --a--b--c--d--e--f--|
        subs    ^-------------------!`,
      'values that are all the same, and no end': `
        source  --a--a--a--a--a--a-
        result  --a----------------
        subs    ^------------------`,
      'a source that fails': `
        source  --a--a--#
        result  --a-----#
        subs    ^-------!`,
    },
  );
  testDiagrams(
    {
      'dedupe by a key': () =>
        operators.dedupe({ ...forEver, key: (value) => 'ace'.includes(String(value)) }),
    },
    {
      'values of two keys': `
        source  --a--b--c--d--e--f--|
        result  --a--b--------------|
        subs    ^-------------------!`,
    },
  );
  const throwing = (value: string) => {
    if (value === 'd') throw 'error';
    return value;
  };
  testDiagrams(
    { 'dedupe by a key that throws': () => operators.dedupe({ ...forEver, key: throwing }) },
    {
      'the values before it': `
        source  --a--b--c--d--e--f--|
        result  --a--b--c--#
        subs    ^----------!`,
    },
  );
});

describe('as throttleTime', () => {
  testDiagrams<string>(
    {
      dedupe: () => operators.dedupe({ key: () => 'all', within: 5 }),
      sampleFirst: () => operators.sampleFirst({ per: 5 }),
      rateLimit: () => operators.rateLimit({ count: 1, per: 5 }),
    },
    {
      'the first value of each window': `
        source  -a-x-y----b---x-cx---|
        result  -a--------b-----c----|
        subs    ^--------------------!`,
      'values that are rare': `
        source  -a--------b-----c----|
        result  -a--------b-----c----|
        subs    ^--------------------!`,
      // RxJS drops what comes at the very end of a window, ours begin another with it.
      'a value in each frame': `
        source  abcdeabcdeabcdea|
        result  a----a----a----a|
        subs    ^---------------!`,
      'several in a frame': `
        source  -a--(bc)-------d---------------#
        result  -a-------------d---------------#
        subs    ^------------------------------!`,
    },
  );
});

describe('as delay', () => {
  const threeLater = { minimum: 3, maximum: 3 };
  testDiagrams(
    { delayRange: () => operators.delayRange(threeLater) },
    {
      values: `
        source  ---a--b-----|
        result  ------a--b--|
        subs    ^-----------!`,
      'a completion that waits for values': `
        source  -a-|
        result  ----(a|)
        subs    ^--!`,
      'an error that does not': `
        source  ---a---b---#
        result  ------a---b#
        subs    ^----------!`,
      'no value': `
        source  ----|
        result  ----|
        subs    ^---!`,
      'an unsubscription': `
        source  ---a---b----
        unsub   --------!
        result  ------a--
        subs    ^-------!`,
    },
  );
});

describe('as delayWhen', () => {
  const when = (inner: Inner) =>
    operators.orderedMap(
      (value: string) =>
        inner(value).pipe(
          take(1),
          map(() => value),
        ),
      { ordered: false },
    );
  testDiagrams(
    { 'orderedMap to a first value': when },
    {
      'each value by its own source': `
        source  ---a---b---c--|
        a          --x
        a subs  ---^-!
        b              ----------x
        b subs  -------^---------!
        c                  -x
        c subs  -----------^!
        result  -----a------c----(b|)
        subs    ^-------------!`,
      'a source that never emits': `
        source  --a--b--|
        *         ------|
        * subs  --^-----!
        * subs  -----^-----!
        result  -----------|
        subs    ^-------!`,
      'a source that fails': `
        source  --a--b--|
        *         -#
        * subs  --^!
        result  ---#
        subs    ^--!`,
    },
  );
});

describe('as takeUntil', () => {
  const untilNotified =
    (inner: Inner): OperatorFunction<string, string> =>
    (source) =>
      defer(() => {
        const stop = new AbortController();
        const notified = inner('*').subscribe(() => stop.abort());
        return source.pipe(
          operators.untilAborted(stop.signal),
          finalize(() => notified.unsubscribe()),
        );
      });
  testDiagrams(
    { untilAborted: untilNotified },
    {
      'until it is aborted': `
        source  --a--b--c--d--e--f--g--|
        *       -------------z--|
        * subs  ^------------!
        result  --a--b--c--d-|
        subs    ^------------!`,
      'a signal that is never aborted': `
        source  --a--b--c--d--|
        *       -----|
        * subs  ^----!
        result  --a--b--c--d--|
        subs    ^-------------!`,
      'a source that emits nothing': `
        source  -
        *       --x
        * subs  ^-!
        result  --|
        subs    ^-!`,
      'a source that fails first': `
        source  --a--b--c--d--#
        *       ----------------a--|
        * subs  ^-------------!
        result  --a--b--c--d--#
        subs    ^-------------!`,
      'a source that ends first, and leaves the signal alone': `
        source  --a--|
        *       -------x--|
        * subs  ^----!
        result  --a--|
        subs    ^----!`,
      'an unsubscription': `
        source  --a--b--c--d--e--f--g--|
        *       -------------z--|
        * subs  ^------!
        unsub   -------!
        result  --a--b--
        subs    ^------!`,
    },
  );
});

describe('as bufferCount', () => {
  const batches = { x: ['a', 'b'], y: ['c', 'd'], z: ['e'] };
  testDiagrams<string[]>(
    { batchBy: () => operators.batchBy({ count: 2 }) },
    {
      'full batches': `
        source  --a--b--c--d--|
        result  -----x-----y--|
        subs    ^-------------!`,
      'a part of one at the end': `
        source  --a--b--c--d--e--|
        result  -----x-----y-----(z|)
        subs    ^----------------!`,
      // RxJS drops the values that came before an error, ours let them pass.
      'a part of one before an error': `
        source  --a--b--c--d--e--#
        result  -----x-----y-----(z#)
        subs    ^----------------!`,
      'an unsubscription': `
        source  --a--b--c--d--e--|
        unsub   ---------!
        result  -----x----
        subs    ^--------!`,
    },
    batches,
  );
});

describe('as bufferTime', () => {
  const batches = { w: ['a', 'b'], x: ['c', 'd'], y: ['e', 'f'], z: ['g'] };
  testDiagrams<string[]>(
    { batchBy: () => operators.batchBy({ within: 10, count: 2 }) },
    {
      'batches that are full before their time': `
        source  ---a---b---c---d---e---f---g-----|
        result  -------w-------x-------y---------(z|)
        subs    ^--------------------------------!`,
    },
    batches,
  );
  testDiagrams<string[]>(
    { batchBy: () => operators.batchBy({ within: 10 }) },
    {
      // In RxJS time runs from the subscription, and there are empty batches; ours begin with their first value.
      'batches that begin with their first value': `
        source  ---a---b-------c---------d|
        result  -------------w-----------x|
        subs    ^-------------------------!`,
      'no value': `
        source  -------------------------|
        result  -------------------------|
        subs    ^------------------------!`,
    },
    { w: ['a', 'b'], x: ['c', 'd'] },
  );
});

describe('as retry', () => {
  const policy = { base: 1, cap: 1, attempts: 3, random: () => 1, healthyAfter: 1e9 };
  const both = (options: object) => ({
    restartWithBackoff: () =>
      operators.restartWithBackoff<string>({ ...policy, onComplete: false, ...options }),
    retryWithBackoff: () => operators.retryWithBackoff<string>({ ...policy, ...options }),
  });
  testDiagrams(both({}), {
    'a source that fails after a value': `
      source  --a#
      result  --a---a---a#
      subs    ^--!
      subs    ----^--!
      subs    --------^--!`,
    'a source that fails at once': `
      source  #
      result  --#
      subs    (^!)
      subs    -(^!)
      subs    --(^!)`,
    'a source that completes': `
      source  --a--b--|
      result  --a--b--|
      subs    ^-------!`,
    'an unsubscription while it runs': `
      source  --a#
      unsub   -------!
      result  --a---a-
      subs    ^--!
      subs    ----^--!`,
    'an unsubscription while it waits': `
      source  --a#
      unsub   ---!
      result  --a-
      subs    ^--!`,
  });
  testDiagrams(both({ base: 0, attempts: Number.POSITIVE_INFINITY }), {
    'without a wait, and without end': `
      source  --a#
      unsub   -----------!
      result  --a--a--a--
      subs    ^--!
      subs    ---^--!
      subs    ------^--!
      subs    ---------^-!`,
  });
});

describe('as repeat', () => {
  const policy = { base: 0, cap: 0, attempts: 1, healthyAfter: 1e9, onComplete: true };
  testDiagrams(
    { restartWithBackoff: () => operators.restartWithBackoff(policy) },
    {
      'a source that completes': `
        source  --a--b--|
        unsub   ----------------------!
        result  --a--b----a--b----a--b-
        subs    ^-------!
        subs    --------^-------!
        subs    ----------------^-----!`,
      'a source that fails': `
        source  --a--b--#
        result  --a--b--#
        subs    ^-------!`,
      'a source that never ends': `
        source  --a--b--
        result  --a--b--
        subs    ^-------`,
    },
  );

  it('has torn the source down before it is subscribed to again', () => {
    const log: string[] = [];
    marbles(({ cold, expectObservable }) => {
      let runs = 0;
      const source = defer(() => {
        const run = ++runs;
        log.push(`lock ${run}`);
        return cold('-a|').pipe(finalize(() => log.push(`free ${run}`)));
      });
      expectObservable(source.pipe(operators.restartWithBackoff(policy), take(2))).toBe('-a-(a|)');
    });
    expect(log).toEqual(['lock 1', 'free 1', 'lock 2', 'free 2']);
  });
});

describe('as from', () => {
  const demand = { room: Number.POSITIVE_INFINITY, room$: NEVER };
  const start = { ...demand, room$: of(Number.POSITIVE_INFINITY) };
  const all = (source$: Observable<unknown>) => lastValueFrom(source$.pipe(toArray()));

  it.each<[string, Iterable<unknown> | AsyncIterable<unknown>]>([
    ['an array', ['a', 'b']],
    ['a string', 'ab'],
    [
      'arguments',
      (function (..._: string[]) {
        // biome-ignore lint/complexity/noArguments: they are what is tested
        return arguments;
      })('a', 'b'),
    ],
    ['a set', new Set(['a', 'b'])],
    [
      'a stream of the web',
      new ReadableStream({
        start(controller) {
          for (const value of ['a', 'b']) controller.enqueue(value);
          controller.close();
        },
      }),
    ],
  ])('takes %s', async (_, iterable) => {
    expect(await all(operators.pullFrom(iterable, start))).toEqual(['a', 'b']);
  });

  it.each(['to its end', 'until an error', 'until an unsubscription'])(
    'runs the finally of an async generator that is pulled %s',
    async (how) => {
      const log: unknown[] = [];
      async function* letters() {
        try {
          yield 'a';
          if (how === 'until an error') throw 'mine';
          yield 'b';
        } finally {
          log.push('finally');
        }
      }
      const pulled = operators.pullFrom(letters(), start);
      const taken = how === 'until an unsubscription' ? pulled.pipe(take(1)) : pulled;
      await all(taken).then(
        (seen) => log.push(seen),
        (error) => log.push(error),
      );
      const ends: Record<string, unknown> = {
        'to its end': ['a', 'b'],
        'until an error': 'mine',
        'until an unsubscription': ['a'],
      };
      expect(log).toHaveLength(2);
      expect(log).toEqual(expect.arrayContaining(['finally', ends[how]]));
    },
  );
});

describe('as interval', () => {
  it('ticks as interval does, and at once before', () => {
    marbles(({ expectObservable }) => {
      const ticks = (every: number) => {
        let n = 0;
        return operators.poll(() => from([n++]), { interval: every });
      };
      expectObservable(interval(2), '-------!').toBe('--a-b-c-', { a: 0, b: 1, c: 2 });
      expectObservable(ticks(2), '-------!').toBe('a-b-c-d-', { a: 0, b: 1, c: 2, d: 3 });
      // RxJS takes 0 and less as 0, which would be a loop without an end.
      for (const every of [0, -1]) {
        expectObservable(ticks(every), '---!').toBe('abc', { a: 0, b: 1, c: 2 });
      }
    });
  });
});
