import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ExpressionError } from '../../../operators/masks/python-regex.ts';
import {
  loadPlannedSearch,
  type RegexMaskOptions,
  regexMasker,
} from '../../../operators/masks/regex-mask.ts';
import { deepFreeze } from '../../support/deep-freeze.ts';

const mask = (text: string, rules: Record<string, string>, options: Partial<RegexMaskOptions> = {}) =>
  regexMasker({ rules, ...options })(text);

describe('regexMasker', () => {
  it('replaces a match by prefix, rule name and suffix', () => {
    expect(mask('pin 1234, 5678', { PIN: '\\d{4}' })).toBe('pin <:PIN:>, <:PIN:>');
    expect(mask('pin 1234', { PIN: '\\d{4}' }, { mask_prefix: '[' })).toBe('pin [PIN:>');
    expect(mask('pin 1234', { PIN: '\\d{4}' }, { mask_prefix: '', mask_suffix: '' })).toBe('pin PIN');
    expect(mask('pin 1234', { PIN: '\\d{4}' }, { mask_prefix: undefined })).toBe('pin <:PIN:>');
  });

  it('repeats mask_char once per character of the match', () => {
    expect(mask('pin 1234', { PIN: '\\d{4}' }, { mask_char: '*' })).toBe('pin ****');
    expect(mask('a😀é', { ALL: '.+' }, { mask_char: '😀' })).toBe('😀😀😀');
  });

  it('takes the replacement literally', () => {
    expect(mask('ab', { "$&$1$$$'": 'b' }, { mask_prefix: '$`' })).toBe("a$`$&$1$$$':>");
    expect(mask('ab', { X: 'b' }, { mask_char: '$' })).toBe('a$');
  });

  it.each([
    ['literals', ['ghp_\\w+', 'npm_\\w+', 'glpat-\\w+'], 'xoxb-1234', 'xoxb-\\d+'],
    ['literals in two cases', ['(?i)bearer', '(?i)basic', '(?i)passwd'], 'SECRET', '(?i)secret'],
    ['classes', ['\\+\\d\\d', '\\(\\d\\d', ',\\d\\d\\d'], '=123', '=\\d\\d\\d'],
    ['runs', ['\\d{16,}', '[0-9A-F]{16,}', '[A-Z]{16,}'], '0123456789abcdef', '[0-9a-f]{16,}'],
  ])(
    'searches again for %s when a rule has inserted what a later one looks for',
    (_, before, name, after) => {
      const rules = Object.fromEntries([
        ...before.map((source, i) => [`before ${i}`, source]),
        [name, '[a-z]{5}'],
        ['AFTER', after],
      ]);
      expect(mask('a start', rules, { mask_prefix: '', mask_suffix: '' })).toBe('a AFTER');
    },
  );

  it.each([
    [{ rules: { A: /a/i } }, '"A" of rules must be a string', 'not a value of type RegExp; write its source'],
    [{ rules: new Map([['A', 'a']]) }, 'rules must be an object such as', 'not a value of type Map'],
    [{ rules: [['A', 'a']] }, 'rules must be an object such as', 'not a value of type Array'],
    [{ rules: 'a' }, 'rules must be an object such as', 'not a string'],
    [{ rules: { A: undefined } }, '"A" of rules must be a string', 'not undefined'],
    [{}, 'rules must be an object such as', 'not undefined'],
    [{ rules: {}, mask: '*' }, "regexMasker: unknown option 'mask'", 'onMask'],
    [null, 'regexMasker: the options must be an object', 'not null'],
  ])('refuses %p, which would mask nothing', (options, what, why) => {
    const attempt = () => regexMasker(options as unknown as RegexMaskOptions);
    expect(attempt).toThrow(TypeError);
    expect(attempt).toThrow(what);
    expect(attempt).toThrow(why);
  });

  it('applies rules in order, each to what the one before left', () => {
    expect(mask('a', { B: 'a', C: 'B' })).toBe('<:<:C:>:>');
    expect(mask('a', { C: 'B', B: 'a' })).toBe('<:B:>');
  });

  it.each([
    ['', ''],
    ['a*', 'b😀\ud83d'],
    ['(?=b)', 'abab'],
    ['\\b', 'a b'],
    ['\\p{L}*', '1😀😀1'],
    ['$', 'a\n'],
  ])('masks nothing where %p matches nothing in %p', (rule, text) => {
    const masked: number[] = [];
    expect(mask(text, { rule }, { onMask: (_, count) => masked.push(count) })).toBe(text);
    expect(masked).toEqual([]);
  });

  it('goes on after an empty match', () => {
    expect(mask('ba😀aab', { A: 'a*' })).toBe('b<:A:>😀<:A:>b');
    expect(mask('1😀é', { L: '\\p{L}*' })).toBe('1😀<:L:>');
  });

  it('reports each rule once per text, with its number of matches', () => {
    const masked: unknown[] = [];
    const both = regexMasker({
      rules: { A: 'a', B: 'b', C: 'c' },
      onMask: (...report) => masked.push(report),
    });
    both({ x: 'aab', y: 'b', z: '' });
    expect(masked).toEqual([
      ['A', 2],
      ['B', 1],
      ['B', 1],
    ]);
  });

  it('may be called from onMask', () => {
    let inner = '';
    const outer = regexMasker({
      rules: { A: 'a' },
      onMask: () => {
        if (inner === '') {
          inner = '-';
          inner = outer('xaaa');
        }
      },
    });
    expect(outer('aba')).toBe('<:A:>b<:A:>');
    expect(inner).toBe('x<:A:><:A:><:A:>');
  });

  it('masks events, and hands on an equal one when nothing matched', () => {
    const masker = regexMasker({ rules: { PIN: '\\d{4}' } });
    const event = deepFreeze({ timestamp: '2026-01-01T00:00:00.000Z', data: { pin: ['1234', 1234, null] } });
    expect(masker(event)).toEqual({ ...event, data: { pin: ['<:PIN:>', 1234, null] } });
    const clean = deepFreeze({ data: { a: 'x' } });
    expect(masker(clean)).toStrictEqual(clean);
  });

  it('takes rules named __proto__ and constructor', () => {
    expect(mask('ab', JSON.parse('{"__proto__":"a","constructor":"b"}'))).toBe(
      '<:__proto__:><:constructor:>',
    );
  });

  it('takes lone surrogates and NUL', () => {
    expect(mask('\ud800\0a\udc00', { A: 'a' }, { mask_char: '*' })).toBe('\ud800\0*\udc00');
  });

  it('refuses a rule that is no expression, naming it, and a mask_char of any other length', () => {
    expect(() => regexMasker({ rules: { GOOD: 'a', BAD: '(' } })).toThrow(ExpressionError);
    expect(() => regexMasker({ rules: { GOOD: 'a', BAD: '(' } })).toThrow('rule "BAD"');
    for (const mask_char of ['', 'ab', '😀😀']) {
      expect(() => regexMasker({ rules: { A: 'a' }, mask_char })).toThrow(TypeError);
    }
  });

  it('equals a naive replace, rule after rule', () => {
    const rule = fc.constantFrom(
      'a',
      'ab?',
      '[ab]+',
      'a*',
      '\\d{2}',
      'b|bb',
      '(?<=a)b',
      '<',
      ':>',
      '(a)(b)',
      '\\bx',
      '(?i)A',
      '😀',
      '.$',
    );
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', 'x', '1', '2', ' ', '<', ':', '>', '😀', '\n', '$'),
    });
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('A', 'B1', 'a', '$&', 'x y'), rule),
        text,
        fc.boolean(),
        (rules, given, stars) => {
          let wanted = given;
          for (const [name, source] of Object.entries(rules)) {
            const expression = source.startsWith('(?i)')
              ? /A/gi
              : new RegExp(source, source === '😀' ? 'gu' : 'g');
            wanted = wanted.replace(expression, (found) => {
              if (found === '') return '';
              return stars ? '*'.repeat([...found].length) : `<:${name}:>`;
            });
          }
          expect(mask(given, rules, stars ? { mask_char: '*' } : {})).toBe(wanted);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('leaves no match anywhere in an event, and keeps its structure', () => {
    const masker = regexMasker({ rules: { KEY: 'KEY::[0-9]{4}' }, mask_char: '*' });
    const text = fc
      .tuple(fc.string(), fc.constantFrom('', 'KEY::1234'), fc.string())
      .map((parts) => parts.join(''));
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.integer(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(fc.string(), tie('value')),
      ),
    })).value;
    const blank = (value: unknown) => JSON.stringify(value, (_, v) => (typeof v === 'string' ? v.length : v));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), (data) => {
        const event = deepFreeze({ timestamp: 'KEY::1234', data });
        const masked = masker(event);
        const values: string[] = [];
        JSON.stringify(masked, (_, value) => {
          if (typeof value === 'string') values.push(value);
          return value;
        });
        expect(values.some((value) => /KEY::[0-9]{4}/.test(value))).toBe(false);
        expect(blank(masked)).toBe(blank(event));
      }),
    );
  });

  it('tells who bounds the time of a long text which rule was begun last', async () => {
    await loadPlannedSearch();
    const begun: string[] = [];
    const mask = regexMasker({
      rules: { FIRST: 'one', NEVER: 'zzz', SLOW: '(?i)[a-z]*[a-z]*[a-z]*!' },
      boundTime: (work, _, rule) => {
        begun.push(rule());
        const masked = work();
        begun.push(rule());
        return masked;
      },
    });
    const text = 'one '.repeat(250);
    for (let i = 0; i < 2; i++) expect(mask(`${text}a!`)).toBe(`${'<:FIRST:> '.repeat(250)}<:SLOW:>`);
    expect(begun).toEqual(['', 'SLOW', '', 'SLOW']);
  });

  it('counts once what is tried several times', () => {
    const counts: unknown[] = [];
    const mask = regexMasker({
      rules: { FIRST: 'one', SLOW: '(?i)[a-z]*[a-z]*[a-z]*!' },
      boundTime: (work) => [work, work, work].map((tried) => tried())[2] as string,
      onMask: (...count) => counts.push(count),
    });
    mask(`${'one '.repeat(250)}a!`);
    expect(counts).toEqual([
      ['FIRST', 250],
      ['SLOW', 1],
    ]);
  });
});
