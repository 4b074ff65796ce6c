import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { type OperatorFunction, of } from 'rxjs';
import * as operators from '../../operators/index.ts';
import { FileAppender, followFiles, fromNodeStream, NumberedFiles } from '../../operators/node.ts';
import { tempFolder } from '../support/temp-folder.ts';

const folder = tempFolder();

type Options = Readonly<Record<string, unknown>>;

const policy = { base: 1, cap: 1, attempts: 1, healthyAfter: 1, onComplete: true };

/** Everything that takes options, the options that it cannot do without, and all that are numbers. */
const TAKERS: readonly [string, (options: never) => unknown, Options, readonly string[]][] = [
  ['regexMasker', operators.regexMasker, { rules: {} }, []],
  ['redactor', operators.redactor, { rules: {} }, []],
  [
    'entropyMasker',
    operators.entropyMasker,
    {},
    ['h_threshold', 'hThreshold', 'length_threshold', 'lengthThreshold'],
  ],
  ['childEvents', operators.childEvents, { name: 'x', count: 1 }, ['count', 'delay']],
  [
    'withChildren',
    (o) => operators.withChildren({ data: {} }, o),
    { name: 'x', count: 1 },
    ['count', 'delay'],
  ],
  ['gatherMap', (o) => operators.gatherMap(of, o), {}, ['maxWeight']],
  ['orderedMap', (o) => operators.orderedMap(of, o), {}, ['concurrency']],
  ['batchBy', operators.batchBy, { count: 1 }, ['count', 'bytes', 'within']],
  ['bufferUntilIdle', operators.bufferUntilIdle, { idle: 1 }, ['idle', 'count']],
  ['circuitBreaker', operators.circuitBreaker, {}, ['failures', 'openFor']],
  [
    'fromEventEmitter',
    (o) => operators.fromEventEmitter(new EventEmitter(), 'a', new operators.InFlightWindow(1), o),
    {},
    ['buffer'],
  ],
  ['dedupe', operators.dedupe, { within: 1 }, ['within', 'maxKeys']],
  [
    'rateLimit',
    operators.rateLimit,
    { count: 1, per: 1 },
    ['count', 'per', 'burst', 'maxWaiting', 'maxKeys'],
  ],
  ['sampleFirst', operators.sampleFirst, {}, ['first', 'every', 'per', 'maxKeys']],
  ['sampleRate', operators.sampleRate, { rate: 1 }, ['rate', 'seed']],
  ['inFlight', (o) => operators.inFlight(new operators.InFlightWindow(1), of, o), {}, []],
  ['pullFrom', (o) => operators.pullFrom([], new operators.InFlightWindow(1), o), {}, []],
  ['backoffDelay', (o) => operators.backoffDelay(1, o), { base: 1, cap: 1 }, ['base', 'cap']],
  ['delayRange', (o) => operators.delayRange({ minimum: 0, maximum: 0 }, o), {}, []],
  ['delayRange', operators.delayRange, { minimum: 0, maximum: 0 }, ['minimum', 'maximum']],
  ['poll', (o) => operators.poll(() => [], o), { interval: 1 }, ['interval']],
  ['restartWithBackoff', operators.restartWithBackoff, policy, ['base', 'cap', 'attempts', 'healthyAfter']],
  ['restartWithBackoff', (o) => operators.restartWithBackoff(policy, o), {}, []],
  ['retryWithBackoff', operators.retryWithBackoff, {}, ['base', 'cap', 'attempts', 'healthyAfter']],
  ['followFiles', (o) => followFiles([], o), {}, ['batchLines', 'chunkBytes', 'maxLineBytes', 'pollMs']],
  ['FileAppender', (o) => new FileAppender(folder('a'), o), {}, []],
  ['append', (o) => new FileAppender(folder('a')).append('', o), {}, []],
  ['NumberedFiles', (o) => new NumberedFiles(folder('b'), '', '', o), {}, []],
];

const give = (take: (options: never) => unknown, options: unknown) => () => take(options as never);

describe.each(TAKERS)('the options of %s', (name, take, needed, numbers) => {
  it('may be no more than is needed, and undefined is as good as not given', () => {
    give(take, needed)();
    const others = numbers.filter((number) => !(number in needed)).map((number) => [number, undefined]);
    give(take, { ...needed, ...Object.fromEntries(others) })();
  });

  it('are refused when one is not known, whatever it is', () => {
    const unknown = { ...needed, zzz: undefined };
    expect(give(take, unknown)).toThrow(new RegExp(`^${name}: unknown option 'zzz'; it has \\w+`));
    expect(give(take, unknown)).toThrow(TypeError);
    expect(give(take, { ...needed, constructor: 1 })).toThrow(`${name}: unknown option 'constructor'`);
  });

  it('are refused when they are no object', () => {
    for (const options of [null, 3, 'a', () => 1, [], new Map()]) {
      expect(give(take, options)).toThrow(`${name}: the options must be an object, not `);
    }
  });

  it('are refused when a number is none that it can be', () => {
    for (const number of numbers) expectRange(number);
  });

  function expectRange(number: string): void {
    for (const value of [Number.NaN, Number.NEGATIVE_INFINITY, -1.5]) {
      if (number === 'interval' && value === -1.5) continue;
      expect(give(take, { ...needed, [number]: value })).toThrow(RangeError);
      expect(give(take, { ...needed, [number]: value })).toThrow(`${name}: ${number} must be a`);
      expect(give(take, { ...needed, [number]: value })).toThrow(`, not ${value}`);
    }
    expect(give(take, { ...needed, [number]: '1' })).toThrow(TypeError);
    if (['maxWeight', 'concurrency', 'attempts', 'healthyAfter'].includes(number)) return;
    expect(give(take, { ...needed, [number]: Number.POSITIVE_INFINITY })).toThrow(', not Infinity');
  }
});

describe('the error for what is wrong', () => {
  /** Values of every type; a check lets those pass that the option may be. */
  const VALUES = [0.5, -7, Number.NaN, 1e9, 5n, true, 'text', '', null, {}, [], Symbol.iterator, () => 1];
  const OTHER_NUMBERS = ['mode', 'quietPolls', 'flushPolls', 'maxOpenFiles'];
  const given = (name: string, value: unknown) => `${name}: ${typeof value} ${String(JSON.stringify(value))}`;

  it.each(TAKERS)(
    'is a RangeError for a number where another one is expected, otherwise a TypeError: %s',
    (name, take, needed, numbers) => {
      const names = new Set(
        (/it has (.*)$/.exec(messageOf(give(take, { ...needed, zzz: 1 }))) ?? ['', ''])[1]?.split(', '),
      );
      expect(names.size).toBeGreaterThan(0);
      const wrong: string[] = [];
      for (const option of names) {
        for (const value of VALUES) {
          if (typeof value === 'symbol') continue;
          const error = errorOf(give(take, { ...needed, [option]: value }));
          if (error === undefined || error.name === 'ExpressionError') continue;
          const isRange = typeof value === 'number' && [...numbers, ...OTHER_NUMBERS].includes(option);
          if (error instanceof RangeError !== isRange || !(isRange || error instanceof TypeError)) {
            wrong.push(`${given(option, value)} → ${error}`);
          }
        }
      }
      expect(wrong).toEqual([]);
      expect(errorOf(give(take, 5))).toBeInstanceOf(TypeError);
      expect(name).not.toBe('');
    },
  );

  it.each<[string, () => unknown]>([
    ['batchBy', () => operators.batchBy({})],
    ['dedupe', () => operators.dedupe({} as never)],
    ['regexMasker', () => operators.regexMasker({ rules: {}, mask_char: 'ab' })],
    ['entropyMasker', () => operators.entropyMasker({ delimeter: '' })],
    ['entropyMasker', () => operators.entropyMasker({ alphabet: '' })],
    ['entropyIndex', () => operators.entropyIndex('a', '')],
  ])('is a TypeError for what is missing, and for a text of the wrong length: %s', (name, attempt) => {
    expect(attempt).toThrow(TypeError);
    expect(attempt).toThrow(`${name}: `);
  });

  const window = new operators.InFlightWindow(1);
  it.each<[string, string, (value: never) => unknown]>([
    ['inFlight', 'window must be an InFlightWindow', (v) => operators.inFlight(v, of)],
    ['inFlight', 'project must be a function', (v) => operators.inFlight(window, v)],
    ['gatherMap', 'project must be a function', (v) => operators.gatherMap(v)],
    ['poll', 'fn must be a function', (v) => operators.poll(v, { interval: 1 })],
    ['pullFrom', 'iterable must be an iterable or async iterable', (v) => operators.pullFrom(v, window)],
    ['pullFrom', 'demand must be a Demand', (v) => operators.pullFrom([], v)],
    [
      'fromEventEmitter',
      'emitter must be an EventEmitter',
      (v) => operators.fromEventEmitter(v, 'a', window),
    ],
    [
      'fromEventEmitter',
      'demand must be a Demand',
      (v) => operators.fromEventEmitter(new EventEmitter(), 'a', v),
    ],
    ['fromNodeStream', 'stream must be a readable stream', (v) => fromNodeStream(v, window)],
    ['untilAborted', 'signal must be an AbortSignal', (v) => operators.untilAborted(v)],
    ['longTimer', 'ms must be a number of milliseconds', (v) => operators.longTimer(v)],
  ])('is a TypeError that names the argument: %s, %s', (name, message, take) => {
    for (const value of [undefined, null, 5n, {}, true]) {
      expect(() => take(value as never)).toThrow(TypeError);
      expect(() => take(value as never)).toThrow(`${name}: ${message}`);
    }
  });

  it('is none for a run that is never healthy', () => {
    operators.restartWithBackoff({ ...policy, healthyAfter: Number.POSITIVE_INFINITY });
    operators.retryWithBackoff({ healthyAfter: Number.POSITIVE_INFINITY });
  });
});

function errorOf(attempt: () => unknown): Error | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

const messageOf = (attempt: () => unknown) => errorOf(attempt)?.message ?? '';

describe('a refused option', () => {
  it('is answered with all options that there are', () => {
    const unknown = { bounds: 1 } as never;
    expect(() => operators.batchBy(unknown)).toThrow('it has count, bytes, within, sizeOf, scheduler');
  });

  it.each<[string, () => unknown]>([
    [
      "rateLimit: onExceeded must be 'drop' or 'delay', not 'Drop'",
      () => operators.rateLimit({ count: 1, per: 1, onExceeded: 'Drop' as 'drop' }),
    ],
    [
      'orderedMap: ordered must be true or false, not 1',
      () => operators.orderedMap(of, { ordered: 1 as never }),
    ],
    [
      'dedupe: key must be a function, not a value of type object',
      () => operators.dedupe({ within: 1, key: {} as never }),
    ],
    [
      'poll: scheduler must be a scheduler of RxJS, not null',
      () => operators.poll(of, { interval: 1, scheduler: null as never }),
    ],
    [
      "append: fsync must be 'never', 'interval' or 'batch', not 'always'",
      () => new FileAppender(folder('a')).append('', { fsync: 'always' as never }),
    ],
    ['dedupe: within must be a finite number above 0, not undefined', () => operators.dedupe({} as never)],
    [
      'delayRange: minimum must be at most maximum (1), not 2',
      () => operators.delayRange({ minimum: 2, maximum: 1 }),
    ],
  ])('is told with what it may be: %s', (message, attempt) => {
    expect(attempt).toThrow(message);
  });
});

describe('a callback that gives no number', () => {
  const NO_NUMBERS = [Number.NaN, Number.POSITIVE_INFINITY, -1, undefined as unknown as number];

  it.each(NO_NUMBERS)('is an error of the stream, and leaves nothing open: %p', (value) => {
    const window = new operators.InFlightWindow(2);
    const weigh = () => value;
    const errors: string[] = [];
    const taking: readonly OperatorFunction<number, unknown>[] = [
      operators.inFlight(window, (n: number) => [n], { weigh }),
      operators.gatherMap((values: readonly number[]) => values, { weigh }),
      operators.batchBy<number>({ bytes: 3, sizeOf: weigh }),
      operators.sampleRate<number>({ rate: 1, random: weigh }),
      operators.delayRange<number>({ minimum: 0, maximum: 1 }, { random: weigh }),
    ];
    for (const operator of taking) {
      of(1)
        .pipe(operator)
        .subscribe({ error: ({ message }) => errors.push(message) });
    }
    const unit = `must be a number in [0, 1], not ${value}`;
    const weight = `must be a finite number of at least 0, not ${value}`;
    expect(errors).toEqual([
      `inFlight: the result of weigh ${weight}`,
      `gatherMap: the result of weigh ${weight}`,
      `batchBy: the result of sizeOf ${weight}`,
      `sampleRate: the result of random ${unit}`,
      `delayRange: the result of random ${unit}`,
    ]);
    expect(window.open).toBe(0);
    expect(() => operators.backoffDelay(1, { base: 1, cap: 1, random: weigh })).toThrow(unit);
  });
});
