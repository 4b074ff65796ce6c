import { describe, expect, it } from '@jest/globals';
import {
  asapScheduler,
  defer,
  delay,
  finalize,
  lastValueFrom,
  map,
  Observable,
  of,
  take,
  timer,
  toArray,
} from 'rxjs';
import { gatherMap } from '../../operators/gather-map.ts';
import { inFlight } from '../../operators/in-flight.ts';
import { InFlightWindow } from '../../operators/in-flight-window.ts';
import { orderedMap } from '../../operators/ordered-map.ts';
import { marbles } from '../support/marbles.ts';
import { type Inner, testDiagrams } from './diagrams.ts';

// Cases of RxJS 7.8.2 for mergeMap, mergeAll, concatMap and concatAll (Apache License 2.0), adapted to our operators.

const asMergeMap = {
  'orderedMap with ordered: false': (inner: Inner) => orderedMap(inner, { ordered: false }),
  'inFlight with ordered: false': (inner: Inner) =>
    inFlight(new InFlightWindow(9), inner, { ordered: false }),
};

const upTo = (concurrency: number) => ({
  [`orderedMap, ${concurrency} at a time`]: (inner: Inner) =>
    orderedMap(inner, { ordered: false, concurrency }),
  [`inFlight, ${concurrency} at a time`]: (inner: Inner) =>
    inFlight(new InFlightWindow(concurrency), inner, { ordered: false }),
});

const asConcatMap = {
  ...upTo(1),
  'orderedMap, in order': (inner: Inner) => orderedMap(inner, { concurrency: 1 }),
  'gatherMap of one value each': (inner: Inner) =>
    gatherMap(([value]) => inner(value as string), { maxWeight: 1 }),
};

describe('as mergeMap', () => {
  testDiagrams(asMergeMap, {
    'many inner sources': `
      source  a---b-----------c-------d-------|
      a       ----a---a---a---(a|)
      a subs  ^---------------!
      b           ----b---b---(b|)
      b subs  ----^-----------!
      c                       ----c---c---c---c---(c|)
      c subs  ----------------^-------------------!
      d                               ----(d|)
      d subs  ------------------------^---!
      result  ----a---(ab)(ab)(ab)c---c---(cd)c---(c|)
      subs    ^-------------------------------!`,
    'one inner source many times': `
      source  -a-------b-------c-------d-------|
      *        ----i---j---k---l---|
      * subs  -^-------------------!
      * subs  ---------^-------------------!
      * subs  -----------------^-------------------!
      * subs  -------------------------^-------------------!
      result  -----i---j---(ki)(lj)(ki)(lj)(ki)(lj)k---l---|
      subs    ^--------------------------------!`,
    'a source that completes last': `
      source  -a-------b-----------------------|
      *        ----i---j---k---l---|
      * subs  -^-------------------!
      * subs  ---------^-------------------!
      result  -----i---j---(ki)(lj)k---l-------|
      subs    ^--------------------------------!`,
    'a source that never completes': `
      source  -a-------b------------------------
      *        ----i---j---k---l---|
      * subs  -^-------------------!
      * subs  ---------^-------------------!
      unsub   ---------------------------------!
      result  -----i---j---(ki)(lj)k---l--------
      subs    ^--------------------------------!`,
    'inner sources that never complete': `
      source  -a-------b-------|
      *        ----i---j---k---l-----------
      * subs  -^---------------------------
      * subs  ---------^-------------------
      result  -----i---j---(ki)(lj)k---l---
      subs    ^----------------!`,
    'an inner source that fails': `
      source  -a-------b-------c-------d
      *        ----i---j---k---l-------#
      * subs  -^-----------------------!
      * subs  ---------^---------------!
      * subs  -----------------^-------!
      * subs  -------------------------(^!)
      result  -----i---j---(ki)(lj)(ki)#
      subs    ^------------------------!`,
    'a source that fails': `
      source  -a-------b-------c-------#
      *        ----i---j---k---l---|
      * subs  -^-------------------!
      * subs  ---------^---------------!
      * subs  -----------------^-------!
      result  -----i---j---(ki)(lj)(ki)#
      subs    ^------------------------!`,
    'a project that throws': `
      source  --c-----d------x-------|
      c         -2--3--4--5------------------6-|
      c subs  --^------------!
      d               -----------2--3|
      d subs  --------^------!
      result  ---2--3--4--5--#
      subs    ^--------------!`,
    'sources that are finite': `
      source  -a-b--^-c-----d------e----------------f-----g|
      a        -#
      b          -#
      c         -2--3--4--5------------------6-|
      c subs  --^------------------------------!
      d               -----------2--3|
      d subs  --------^--------------!
      e                      -1--------2--3-----4--5--------|
      e subs  ---------------^------------------------------!
      f                                       --|
      f subs  --------------------------------^-!
      g                                             ---1-2|
      g subs  --------------------------------------^-----!
      result  ---2--3--4--5---1--2--3--2--3--6--4--5---1-2--|
      subs    ^--------------------------------------!`,
    'an unsubscription': `
      source  -a-b--^-c-----d------e----------------f-----g|
      c         -2--3--4--5------------------6-|
      c subs  --^---------------------------!
      d               -----------2--3|
      d subs  --------^--------------!
      e                      -1--------2--3-----4--5--------|
      e subs  ---------------^--------------!
      f                                       --|
      unsub   ------------------------------!
      result  ---2--3--4--5---1--2--3--2--3--
      subs    ^-----------------------------!`,
    'empty and never': `
      source  ab|
      a       ---|
      a subs  ^--!
      b        -
      b subs  -^
      result  -
      subs    ^-!`,
    'never and failed': `
      source  ab|
      a       -
      a subs  ^!
      b        #
      b subs  -(^!)
      result  -#
      subs    ^!`,
  });

  testDiagrams(upTo(1), {
    'cold inner sources': `
      source  -a-------b-------c---|
      *        ----i---j---k---l---|
      * subs  -^-------------------!
      * subs  ---------------------^-------------------!
      * subs  -----------------------------------------^-------------------!
      result  -----i---j---k---l-------i---j---k---l-------i---j---k---l---|
      subs    ^--------------------!`,
    'hot inner sources, heard from their turn on': `
      source  -a-------b-------c---|
      a hot   x----i---j---k---l---|
      a subs  -^-------------------!
      b hot   -x-x-xxxx-x-x-xxxxx-x----i---j---k---l---|
      b subs  ---------------------^-------------------!
      c hot   x-xxxx---x-x-x-x-x-xx--x--x-x--x--xxxx-x-----i---j---k---l---|
      c subs  -----------------------------------------^-------------------!
      result  -----i---j---k---l-------i---j---k---l-------i---j---k---l---|
      subs    ^--------------------!`,
  });

  testDiagrams(upTo(2), {
    'cold inner sources': `
      source  -a-------b-------c---|
      *        ----i---j---k---l---|
      * subs  -^-------------------!
      * subs  ---------^-------------------!
      * subs  ---------------------^-------------------!
      result  -----i---j---(ki)(lj)k---(li)j---k---l---|
      subs    ^--------------------!`,
    'hot inner sources, heard from their turn on': `
      source  -a-------b-------c---|
      a hot   x----i---j---k---l---|
      a subs  -^-------------------!
      b hot   -x-x-xxxx----i---j---k---l---|
      b subs  ---------^-------------------!
      c hot   x-xxxx---x-x-x-x-x-xx----i---j---k---l---|
      c subs  ---------------------^-------------------!
      result  -----i---j---(ki)(lj)k---(li)j---k---l---|
      subs    ^--------------------!`,
  });
});

describe('as concatMap', () => {
  testDiagrams(asConcatMap, {
    'many inner sources': `
      source  a---b--------------------c-d----|
      a       --a-a-a-(a|)
      a subs  ^-------!
      b               ----b--b--(b|)
      b subs  --------^---------!
      c                                -c-c-(c|)
      c subs  -------------------------^----!
      d                                     ------(d|)
      d subs  ------------------------------^-----!
      result  --a-a-a-a---b--b--b-------c-c-c-----(d|)
      subs    ^-------------------------------!`,
    'one inner source many times': `
      source  -a---b---c---d---|
      *        --i-j-k-l-|
      * subs  -^---------!
      * subs  -----------^---------!
      * subs  ---------------------^---------!
      * subs  -------------------------------^---------!
      result  ---i-j-k-l---i-j-k-l---i-j-k-l---i-j-k-l-|
      subs    ^----------------!`,
    'empty inner sources': `
      source  --a-b--c-|
      *       |
      * subs  --(^!)
      * subs  ----(^!)
      * subs  -------(^!)
      result  ---------|
      subs    ^--------!`,
    'an inner source that never completes': `
      source  -a---b---c---d---|
      *        --i-j-k-l-
      * subs  -^-----------------
      result  ---i-j-k-l--------
      subs    ^----------------!`,
    'an inner source that fails at once': `
      source  --a-b--c-|
      *       #
      * subs  --(^!)
      result  --#
      subs    ^-!`,
    'an inner source that fails later': `
      source  -a---b---c---d---#
      *        --i-j-k-l-#
      * subs  -^---------!
      result  ---i-j-k-l-#
      subs    ^----------!`,
    'a source that fails': `
      source  -a---b---c---d---#
      *        --i-j-k-l-|
      * subs  -^---------!
      * subs  -----------^-----!
      result  ---i-j-k-l---i-j-#
      subs    ^----------------!`,
    'an unsubscription': `
      source  -a-b--^-c-----d------e----------------f-----g|
      c         -2--3--4--5----6-|
      c subs  --^----------------!
      d                          ----2--3|
      d subs  -------------------^-------!
      e                                  -1------2--3-4-5---|
      e subs  ---------------------------^--!
      f                                                     --|
      unsub   ------------------------------!
      result  ---2--3--4--5----6-----2--3-1--
      subs    ^-----------------------------!`,
    'a project that throws': `
      source  -c-----d-|
      c        --1--2-----3|
      c subs  -^-----------!
      result  ---1--2-----3#
      subs    ^--------!`,
    'empty and empty': `
      source  (ab|)
      a       --|
      a subs  ^-!
      b         ----|
      b subs  --^---!
      result  ------|
      subs    (^!)`,
    'never and empty': `
      source  (ab|)
      a       -
      a subs  ^
      b       --|
      result  -
      subs    (^!)`,
    'empty and never': `
      source  (ab|)
      a       --|
      a subs  ^-!
      b         -
      b subs  --^
      result  -
      subs    (^!)`,
    'empty and failed': `
      source  (ab|)
      a       --|
      a subs  ^-!
      b         ----#
      b subs  --^---!
      result  ------#
      subs    (^!)`,
    'failed and failed': `
      source  (ab|)
      a       ---#
      a subs  ^--!
      b       ------#
      result  ---#
      subs    (^!)`,
    'values and values': `
      source  (ab|)
      a       ---a|
      a subs  ^---!
      b           -----b--|
      b subs  ----^-------!
      result  ---a-----b--|
      subs    (^!)`,
    'a hot inner source that has emitted before its turn': `
      source  (ab|)
      a hot   --a--b--c--|
      a subs  ^----------!
      b hot   --------x--y--z--|
      b subs  -----------^-----!
      result  --a--b--c--y--z--|
      subs    (^!)`,
  });
});

it.each(
  Object.entries(asConcatMap).flatMap(([name, operator]) =>
    [0, 10].map((ms) => [name, ms, operator] as const),
  ),
)('%s: an inner source of %d ms is torn down before the next one starts', (_, ms, operator) => {
  const log: string[] = [];
  const inner: Inner = (value) =>
    defer(() => {
      log.push(`start ${value}`);
      const value$ = ms === 0 ? of(value) : of(value).pipe(delay(ms));
      return value$.pipe(finalize(() => log.push(`torn down ${value}`)));
    });
  marbles(({ cold }) => {
    cold('(abc|)').pipe(operator(inner)).subscribe();
  });
  expect(log).toEqual(['a', 'b', 'c'].flatMap((value) => [`start ${value}`, `torn down ${value}`]));
});

describe.each(Object.entries({ ...asMergeMap, ...asConcatMap }))('%s', (_, operator) => {
  type Map = (project: (value: string) => unknown) => (source: Observable<string>) => Observable<unknown>;
  const mapTo = operator as Map;
  const all = (result$: Observable<unknown>) => lastValueFrom(result$.pipe(toArray()));

  it('takes promises, and an error that one rejects with', async () => {
    expect(await all(of('a', 'b').pipe(mapTo((value) => Promise.resolve(value))))).toEqual(['a', 'b']);
    await expect(all(of('a').pipe(mapTo(() => Promise.reject('mine'))))).rejects.toBe('mine');
  });

  it('takes arrays and iterables, also one that throws in its midst', () => {
    function* letters() {
      yield 'a';
      throw 'mine';
    }
    const seen: unknown[] = [];
    const mapped = of(['x', 'y'], letters()).pipe((source) => mapTo((value) => value)(source as never));
    mapped.subscribe({ next: (value) => seen.push(value), error: (error) => seen.push(error) });
    expect(seen).toEqual(['x', 'y', 'a', 'mine']);
  });

  it('stands inside itself, asynchronously', async () => {
    const soon = (value: string) => defer(() => of(value, asapScheduler));
    const nested = of('a').pipe(mapTo(() => soon('b').pipe(mapTo(() => soon('c')))));
    expect(await all(nested)).toEqual(['c']);
  });

  it('takes wrapped sources of another scheduler', async () => {
    const wrapped = new Observable<string>((subscriber) => {
      const subscription = timer(0, asapScheduler).pipe(map(String)).subscribe(subscriber);
      return () => subscription.unsubscribe();
    });
    expect(await all(wrapped.pipe(mapTo(() => timer(0, asapScheduler))))).toEqual([0]);
  });

  it('tells a synchronous source and inner source that their consumer has left', () => {
    const emitted: string[] = [];
    const counting = (name: string) =>
      new Observable<string>((subscriber) => {
        for (let i = 0; i < 10 && !subscriber.closed; i++) {
          emitted.push(name);
          subscriber.next(name);
        }
      });
    counting('outer')
      .pipe(
        mapTo(() => counting('inner')),
        take(3),
      )
      .subscribe();
    expect(emitted).toEqual(['outer', 'inner', 'inner', 'inner']);
  });
});
