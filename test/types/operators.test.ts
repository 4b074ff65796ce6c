import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { EMPTY, map, mergeMap, NEVER, type Observable, of, timer } from 'rxjs';
import {
  backoffDelay,
  batchBy,
  bufferUntilIdle,
  childEvents,
  circuitBreaker,
  dedupe,
  delayRange,
  entropyMask,
  entropyMasker,
  fromEventEmitter,
  gatherMap,
  InFlightWindow,
  inFlight,
  longTimer,
  type Masked,
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
import {
  FileAppender,
  followFiles,
  fromNodeStream,
  type LineBatch,
  NumberedFiles,
} from '../../operators/node.ts';

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

it('masks give what comes out where it is another type than what goes in', () => {
  class Session {
    readonly user = 'ada';
    readonly at = new Date();
    readonly tags: readonly ['a', number] = ['a', 1];
    #secret = 1;
    rename(): number {
      return this.#secret;
    }
  }
  const rename = (text: string) => text;
  const mask = regexMasker({ rules });
  const literal: 'GET' | 'PUT' = 'GET';
  expectTypeOf(of(literal).pipe(regexMask({ rules }))).toEqualTypeOf<Observable<string>>();
  expectTypeOf(of(literal).pipe(entropyMask())).toEqualTypeOf<Observable<string>>();
  expectTypeOf(mask(literal)).toEqualTypeOf<string>();
  type Plain = { readonly user: string; readonly at: Date; readonly tags: readonly [string, number] };
  expectTypeOf(of(new Session()).pipe(regexMask({ rules }))).toEqualTypeOf<Observable<Plain>>();
  expectTypeOf(maskEvent(new Session(), rename)).toEqualTypeOf<Plain>();
  // @ts-expect-error what comes out has no methods
  mask(new Session()).rename;
  expectTypeOf<Masked<Map<string, string> | Set<1> | Uint8Array | bigint | symbol | (() => 1)>>().toBeNever();
  expectTypeOf<Masked<{ readonly seen: Map<string, string> }>>().toEqualTypeOf<{ readonly seen: never }>();
  expectTypeOf<Masked<{ readonly seen: bigint[] }, unknown>>().toEqualTypeOf<{ readonly seen: unknown[] }>();
  expectTypeOf<Masked<{ method: 'GET'; code?: 200 }>>().toEqualTypeOf<{ method: string; code?: 200 }>();
  expectTypeOf<Masked<true | 1 | null | undefined | Date>>().toEqualTypeOf<
    true | 1 | null | undefined | Date
  >();
  expectTypeOf<Masked<'a'[]>>().toEqualTypeOf<string[]>();
  expectTypeOf<Masked<URL>>().toEqualTypeOf<string>();
  expectTypeOf<Masked<{ toJSON(): { id: 'x' } }>>().toEqualTypeOf<{ id: string }>();
  expectTypeOf<Masked<TypeError & { code: 'E' }>>().toEqualTypeOf<
    { name: string; message: string } & { code: string }
  >();
  // biome-ignore lint/complexity/noBannedTypes: a boxed value is meant
  expectTypeOf<Masked<String>>().toEqualTypeOf<string>();
  expectTypeOf<Masked<Record<string, unknown>>>().toEqualTypeOf<Record<string, unknown>>();
  expectTypeOf<Masked<unknown>>().toBeUnknown();
  // biome-ignore lint/suspicious/noExplicitAny: any stays any
  expectTypeOf<Masked<any>>().toBeAny();
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

it('mapping operators take unions of inner sources, as mergeMap does', () => {
  type Both = Observable<string | number>;
  const observable = (text: string) => (text === '' ? of('a') : of(1));
  expectTypeOf(text$.pipe(orderedMap(observable))).toEqualTypeOf<Both>();
  expectTypeOf(text$.pipe(gatherMap(() => observable('')))).toEqualTypeOf<Both>();
  expectTypeOf(text$.pipe(inFlight(window, observable))).toEqualTypeOf<Both>();
  expectTypeOf(poll(() => observable(''), { interval: 1 })).toEqualTypeOf<Both>();
  const mixed = (text: string) => (text === '' ? Promise.resolve('a') : text === 'b' ? [1] : of('c'));
  expectTypeOf(text$.pipe(mergeMap(mixed))).toEqualTypeOf<Both>();
  expectTypeOf(text$.pipe(orderedMap(mixed))).toEqualTypeOf<Both>();
  expectTypeOf(text$.pipe(gatherMap(() => mixed('')))).toEqualTypeOf<Both>();
  expectTypeOf(text$.pipe(inFlight(window, mixed))).toEqualTypeOf<Both>();
  expectTypeOf(poll(() => mixed(''), { interval: 1 })).toEqualTypeOf<Both>();
  expectTypeOf(text$.pipe(orderedMap((text) => (text === '' ? [1] : ['a'])))).toEqualTypeOf<Both>();
  expectTypeOf(text$.pipe(orderedMap(() => []))).toEqualTypeOf<Observable<never>>();
  async function* numbers(): AsyncGenerator<number> {}
  const rows = [] as string[] | AsyncGenerator<number>;
  expectTypeOf(pullFrom(rows, window)).toEqualTypeOf<Both>();
  expectTypeOf(pullFrom(numbers(), window)).toEqualTypeOf<Observable<number>>();
});

it('options may be undefined where they may be left out', () => {
  const none = undefined;
  orderedMap(() => [], { concurrency: none, ordered: none });
  gatherMap(() => [], { weigh: none, maxWeight: none });
  inFlight(window, () => [], { ordered: none, weigh: none });
  pullFrom([], window, { scheduler: none });
  batchBy({ count: 1, bytes: none, within: none, sizeOf: none, scheduler: none });
  dedupe({ within: 1, key: none, sliding: none, maxKeys: none, onDuplicate: none, scheduler: none });
  rateLimit({ count: 1, per: 1, key: none, burst: none, onExceeded: none, maxWaiting: none, maxKeys: none });
  rateLimit({ count: 1, per: 1, onDrop: none, scheduler: none });
  sampleFirst({ key: none, first: none, every: none, per: none, maxKeys: none, scheduler: none });
  sampleRate({ rate: 1, key: none, random: none, seed: none });
  delayRange({ minimum: 0, maximum: 1 }, { random: none, ordered: none, scheduler: none });
  childEvents({ name: 'x', count: 1, delay: none, scheduler: none });
  poll(() => [], { interval: 1, scheduler: none });
  backoffDelay(1, { base: 1, cap: 1, random: none });
  const policy = { base: 1, cap: 1, attempts: 1, healthyAfter: 1, onComplete: true };
  const observer = { onStart: none, onWait: none };
  restartWithBackoff({ ...policy, isFatal: none, random: none, scheduler: none }, observer);
  retryWithBackoff({ base: none, cap: none, attempts: none, healthyAfter: none, isFatal: none }, observer);
  regexMasker({
    rules,
    onMask: none,
    boundTime: none,
    mask_char: none,
    mask_prefix: none,
    mask_suffix: none,
  });
  entropyMasker({
    mask_str: none,
    h_threshold: none,
    length_threshold: none,
    delimeter: none,
    alphabet: none,
  });
  const polls = { pollMs: none, quietPolls: none, flushPolls: none };
  followFiles([], { demand: none, positions: none, once: none, log: none, batchLines: none, ...polls });
  new FileAppender('a', { log: none }).append('', { fsync: none, before: none });
  new NumberedFiles('a', '', '', { flush: none });
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

it('types of the operators that buffer, break and create by demand', () => {
  expectTypeOf(text$.pipe(bufferUntilIdle({ idle: 1 }))).toEqualTypeOf<Observable<string[]>>();
  expectTypeOf(text$.pipe(circuitBreaker())).toEqualTypeOf<Observable<string>>();
  const window = new InFlightWindow(1);
  expectTypeOf(fromEventEmitter<number>(new EventEmitter(), 'n', window)).toEqualTypeOf<Observable<number>>();
  expectTypeOf(fromNodeStream<Buffer>(Readable.from([]), window)).toEqualTypeOf<Observable<Buffer>>();
});
