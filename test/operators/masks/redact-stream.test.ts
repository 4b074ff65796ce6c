import { describe, expect, it } from '@jest/globals';
import { from, lastValueFrom, toArray } from 'rxjs';
import { redactStream } from '../../../operators/index.ts';
import { LEAST_HELD, StreamMasker } from '../../../operators/masks/redact/stream-masker.ts';
import { marbles } from '../../support/marbles.ts';
import { testOperator } from '../operator-matrix.ts';

const rules = { PIN: { match: 'pin=([0-9]{4})', mask: 1, keywords: ['pin'] } };
const masked = (pieces: readonly (string | Uint8Array)[], options = {}) =>
  lastValueFrom(from(pieces).pipe(redactStream({ rules, ...options }), toArray()));

const throwMine = () => {
  throw 'mine';
};

testOperator<string, string>('redactStream', {
  operator: () => redactStream({ rules }),
  throwing: () => redactStream({ rules, onMask: throwMine }),
  values: { a: 'see ', p: 'pin=12', q: '34\n' },
  results: { a: 'see ', q: 'pin=<:PIN:>\n' },
  diagrams: {
    one: `
      source  a|
      result  a|
      subs    ^!`,
    many: `
      source  a-p-q-|
      result  a---q-|
      subs    ^-----!`,
    error: `
      source  a-p-q-#
      result  a---q-#
      subs    ^-----!`,
    'never-ending': `
      source  a-p-q-
      result  a---q-
      subs    ^`,
    'early unsubscribe': `
      source  a-p-q-|
      unsub   -----!
      result  a---q
      subs    ^----!`,
    'a callback that throws': `
      source  a-p-q-|
      result  a---#
      subs    ^---!`,
  },
});

describe('redactStream', () => {
  it('lets words leave that have nothing of a rule, but for the last one', async () => {
    expect(await masked(['in the beg', 'inning was', ' the word'])).toEqual([
      'in the ',
      'beginning ',
      'was the ',
      'word',
    ]);
  });

  it('masks a value that is cut, also before an error', () => {
    marbles(({ cold, expectObservable }) => {
      const text$ = cold('a-b-#', { a: 'pin=1', b: '234' }).pipe(redactStream({ rules }));
      expectObservable(text$).toBe('----(a#)', { a: 'pin=<:PIN:>' });
    });
  });

  it('joins UTF-8 that is cut within a character', async () => {
    const bytes = new TextEncoder().encode('größer 🦊 pin=1234 ü');
    const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
    expect((await masked(pieces)).join('')).toBe('größer 🦊 pin=<:PIN:> ü');
  });

  it('lets what waits leave after a pause, and masks what goes on', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold('a---------b-|', { a: 'word pin=', b: '1234 and' });
      const text$ = source.pipe(redactStream({ rules, flushAfter: 5 }));
      expectObservable(text$).toBe('-----a------(b|)', { a: 'word pin=', b: '<:PIN:> and' });
    });
  });

  it('fails if a callback throws after a pause, at the end or before an error', () => {
    marbles(({ cold, expectObservable }) => {
      const failing = redactStream({ rules, onMask: throwMine, flushAfter: 5 });
      const pieces = { a: 'word pin=1234' };
      expectObservable(cold('a---------a-|', pieces).pipe(failing)).toBe('-----#', {}, 'mine');
      expectObservable(cold('a-|', pieces).pipe(failing)).toBe('--#', {}, 'mine');
      expectObservable(cold('a-#', pieces).pipe(failing)).toBe('--#', {}, 'mine');
    });
  });

  it('holds the start of a value over a pause', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold('a---------b-|', { a: 'word pin=12', b: '34 and' });
      const text$ = source.pipe(redactStream({ rules, flushAfter: 5 }));
      expectObservable(text$).toBe('-----a------(b|)', { a: 'word ', b: 'pin=<:PIN:> and' });
    });
  });

  it('masks the rest of a value of which a part was masked after a pause', () => {
    const words = { PIN: { match: 'pin=(\\w{4,})', mask: 1, keywords: ['pin'] } };
    marbles(({ cold, expectObservable }) => {
      const source = cold('a---------b-|', { a: 'word pin=1234', b: '567 and' });
      const text$ = source.pipe(redactStream({ rules: words, flushAfter: 5 }));
      expectObservable(text$).toBe('-----a------(b|)', { a: 'word pin=<:PIN:>', b: ' and' });
    });
  });

  it.each([
    ['words', (pin: string) => `pin=${pin} and some words`, ' '],
    ['no space', (pin: string) => `"pin=${pin}"`, ','],
  ])(
    'lets a long line of %s leave in parts, with its values masked wherever the parts end',
    async (_, part, separator) => {
      const lineOf = (pinOf: (i: number) => string) =>
        Array.from({ length: 4000 }, (_, i) => part(pinOf(i))).join(separator);
      const line = lineOf((i) => String(1000 + ((i * 37) % 9000)).replaceAll(/(.)(?=\1)/g, '5'));
      const texts = await masked(line.match(/.{1,999}/g) ?? [], { mostHeld: 16_384 });
      expect(texts.length).toBeGreaterThan(3);
      const left = texts.join('').replaceAll('pin=<:PIN:>', '');
      expect(left).toBe(lineOf(() => '').replaceAll('pin=', ''));
    },
  );

  it('holds whole lines for a rule of its own that may have spaces', async () => {
    const late = { WORD: { match: '(\\w+) is the magic word', mask: 1 } };
    expect(await masked(['abra', 'cadabra is the ', 'magic word\nok'], { rules: late })).toEqual([
      '<:WORD:> is the magic word\n',
      'ok',
    ]);
  });

  it('keeps no more than it may of a line without an end', () => {
    const passed: number[] = [];
    const masking = {
      longestLiteral: 10,
      mayChange: () => false,
      isOpen: () => false,
      maskLine: (line: string) => line,
      pass: (line: string) => passed.push(line.length),
      find: () => [],
      replace: (value: string) => value,
      count: () => {},
      findsWords: false,
      wholeLines: false,
      isOneDocument: () => false,
    };
    const masker = new StreamMasker(masking, LEAST_HELD);
    const progress = `${'some ordinary words go by '.repeat(40)}\r`;
    let text = '';
    for (let i = 0; i < 100; i++) text += masker.write(progress);
    text += masker.write('\n');
    expect(text).toBe(`${progress.repeat(100)}\n`);
    expect(passed).toHaveLength(1);
    expect(passed[0]).toBeLessThan(LEAST_HELD + 2 * progress.length);
  });

  it('masks what follows in a line of which the start is forgotten', async () => {
    const words = 'some ordinary words go by '.repeat(40);
    const texts = await masked([...Array(30).fill(words), 'pin=12', '34 ok'], { mostHeld: LEAST_HELD });
    expect(texts.join('')).toBe(`${words.repeat(30)}pin=<:PIN:> ok`);
  });

  it('does not cut a surrogate pair where a long line leaves in parts', async () => {
    for (const end of ['', '!']) {
      const text = `pin=${'\u{1f600}'.repeat(LEAST_HELD)}${end}`;
      const texts = await masked([text, '.'], { mostHeld: LEAST_HELD });
      expect(texts.length).toBeGreaterThan(1);
      expect(texts.every((part) => part.isWellFormed())).toBe(true);
      expect(texts.join('')).toBe(`${text}.`);
    }
  });

  it('keeps streams apart', async () => {
    const operator = redactStream({ rules });
    const both = await Promise.all(
      [
        ['pin=12', '34'],
        ['pin=56', '78'],
      ].map((pieces) => lastValueFrom(from(pieces).pipe(operator, toArray()))),
    );
    expect(both).toEqual([['pin=<:PIN:>'], ['pin=<:PIN:>']]);
  });
});
