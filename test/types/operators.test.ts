import { it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { EMPTY, map, NEVER, type Observable, of, timer } from 'rxjs';
import {
  batchBy,
  childEvents,
  dedupe,
  delayRange,
  entropyMask,
  entropyMasker,
  gatherMap,
  InFlightWindow,
  inFlight,
  longTimer,
  maskEvent,
  maskStrings,
  orderedMap,
  poll,
  pullFrom,
  rateLimit,
  regexMask,
  regexMasker,
  restartWithBackoff,
  retryWithBackoff,
  sampleFirst,
  sampleRate,
  untilAborted,
} from '../../operators/index.ts';
import { followFiles, type LineBatch } from '../../operators/node.ts';

// tsc checks these; jest runs them, so that a file that is not compiled is noticed.

interface Login {
  readonly timestamp: string;
  readonly data: { readonly user: string; readonly tries?: number };
}

const text$: Observable<string> = EMPTY;
const login$: Observable<Login> = EMPTY;
const rules = { PIN: '[0-9]{4}' };
const window = new InFlightWindow(1);

it('masks give the type that they take', () => {
  expectTypeOf(of('a').pipe(regexMask({ rules }))).toEqualTypeOf<Observable<string>>();
  expectTypeOf(of('a').pipe(entropyMask())).toEqualTypeOf<Observable<string>>();
  expectTypeOf(login$.pipe(regexMask({ rules }))).toEqualTypeOf<Observable<Login>>();
  expectTypeOf(login$.pipe(entropyMask())).toEqualTypeOf<Observable<Login>>();
  expectTypeOf(login$.pipe(regexMask({ rules }), entropyMask(), regexMask({ rules }))).toEqualTypeOf(login$);
  login$.pipe(
    regexMask({ rules }),
    map((login) => expectTypeOf(login.data.tries).toEqualTypeOf<number | undefined>()),
  );
});

it('masks take texts and objects only', () => {
  // @ts-expect-error numbers have no text to mask
  of(1).pipe(regexMask({ rules }));
  // @ts-expect-error the same
  of(1).pipe(entropyMask());
  // @ts-expect-error rules are needed
  expectTypeOf(() => regexMask({})).toBeFunction();
});

it('maskers give the type that they take', () => {
  expectTypeOf(regexMasker({ rules })('a')).toEqualTypeOf<string>();
  expectTypeOf(entropyMasker()({ user: 'a' })).toEqualTypeOf<{ user: string }>();
  expectTypeOf(maskEvent({ user: 'a' }, (text) => text)).toEqualTypeOf<{ user: string }>();
  expectTypeOf(maskStrings(['a'], (text) => text)).toEqualTypeOf<string[]>();
});

it('operators that pass values on keep their type', () => {
  const passed$ = login$.pipe(
    delayRange({ minimum: 0, maximum: 1 }),
    childEvents({ name: 'part', count: 2 }),
    dedupe({ key: ({ data }) => data.user, within: 1000 }),
    rateLimit({ key: ({ data }) => data.user, count: 1, per: 1000, onExceeded: 'delay' }),
    sampleFirst({ key: ({ data }) => data.user, first: 1 }),
    sampleRate({ key: ({ data }) => data.user, rate: 0.5 }),
    restartWithBackoff({ base: 1, cap: 1, attempts: 1, healthyAfter: 1, onComplete: true }),
    retryWithBackoff(),
    untilAborted(new AbortController().signal),
  );
  expectTypeOf(passed$).toEqualTypeOf<Observable<Login>>();
});

it('operators without callbacks infer the type of what they are piped to', () => {
  expectTypeOf(text$.pipe(dedupe({ within: 1 }))).toEqualTypeOf<Observable<string>>();
  expectTypeOf(text$.pipe(rateLimit({ count: 1, per: 1 }))).toEqualTypeOf<Observable<string>>();
  expectTypeOf(text$.pipe(sampleFirst({ every: 2 }))).toEqualTypeOf<Observable<string>>();
  expectTypeOf(text$.pipe(sampleRate({ rate: 0.5 }))).toEqualTypeOf<Observable<string>>();
  expectTypeOf(text$.pipe(batchBy({ count: 2 }))).toEqualTypeOf<Observable<string[]>>();
});

it('callbacks see the type of the values', () => {
  text$.pipe(dedupe({ key: (text) => expectTypeOf(text).toEqualTypeOf<string>(), within: 1 }));
  text$.pipe(rateLimit({ count: 1, per: 1, onDrop: (text) => expectTypeOf(text).toEqualTypeOf<string>() }));
  text$.pipe(batchBy({ bytes: 9, sizeOf: (text) => text.length }));
  text$.pipe(inFlight(window, (text) => [text], { weigh: (text) => text.length }));
  text$.pipe(gatherMap((texts) => of(texts.length), { weigh: (text) => text.length }));
});

it('mapping operators give the type of their results', () => {
  expectTypeOf(text$.pipe(orderedMap((text) => [text.length]))).toEqualTypeOf<Observable<number>>();
  expectTypeOf(text$.pipe(orderedMap((text) => of(text.length)))).toEqualTypeOf<Observable<number>>();
  expectTypeOf(text$.pipe(orderedMap(async (text) => text.length))).toEqualTypeOf<Observable<number>>();
  expectTypeOf(text$.pipe(gatherMap((texts) => [texts.length]))).toEqualTypeOf<Observable<number>>();
  expectTypeOf(text$.pipe(gatherMap(() => timer(1)))).toEqualTypeOf<Observable<0>>();
  expectTypeOf(text$.pipe(inFlight(window, (text) => [text.length]))).toEqualTypeOf<Observable<number>>();
  expectTypeOf(text$.pipe(inFlight(window, async (text) => text.length))).toEqualTypeOf<Observable<number>>();
  expectTypeOf(login$.pipe(batchBy({ within: 1000 }))).toEqualTypeOf<Observable<Login[]>>();
});

it('events with children need data', () => {
  // @ts-expect-error a text has no data for the number of a child
  text$.pipe(childEvents({ name: 'part', count: 2 }));
});

it('options are checked', () => {
  // @ts-expect-error no such policy
  expectTypeOf(() => rateLimit({ count: 1, per: 1, onExceeded: 'wait' })).toBeFunction();
  // @ts-expect-error a time is needed
  expectTypeOf(() => dedupe({})).toBeFunction();
  // @ts-expect-error a key is hashed
  sampleRate({ rate: 0.5, key: () => ({}) });
});

it('creation functions give the type of what they are made from', () => {
  async function* rows(): AsyncGenerator<Login> {}
  expectTypeOf(pullFrom(rows(), window)).toEqualTypeOf<Observable<Login>>();
  expectTypeOf(pullFrom(['a'], { room: 0, room$: NEVER })).toEqualTypeOf<Observable<string>>();
  expectTypeOf(poll(async () => 1, { interval: 1 })).toEqualTypeOf<Observable<number>>();
  expectTypeOf(longTimer(1)).toEqualTypeOf<Observable<0>>();
  expectTypeOf(followFiles(['a.log'])).toEqualTypeOf<Observable<LineBatch>>();
});
