import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { maskStrings } from '../../../operators/masks/mask-strings.ts';
import { deepFreeze } from '../../support/deep-freeze.ts';

const SECRET = 'KEY::0123456789';
const hide = (text: string) => text.replaceAll(SECRET, '***');
const same = (text: string) => text;

describe('maskStrings', () => {
  it('masks strings at any depth and keeps the structure', () => {
    const value = deepFreeze({
      a: SECRET,
      b: [1, { c: `x${SECRET}y`, d: null }, [SECRET]],
      e: true,
      f: -0.5,
    });
    expect(maskStrings(value, hide)).toEqual({
      a: '***',
      b: [1, { c: 'x***y', d: null }, ['***']],
      e: true,
      f: -0.5,
    });
  });

  it('keeps keys', () => {
    expect(maskStrings({ [SECRET]: 'x' }, hide)).toEqual({ [SECRET]: 'x' });
  });

  it('shares no object and no array with what it was given, and keeps every value', () => {
    const value = deepFreeze({
      a: 'x',
      n: Number.NaN,
      u: undefined,
      l: [null, 1, Number.NaN, -0],
      o: { p: [] },
      d: new Date(0),
    });
    const masked = maskStrings(value, hide);
    expect(masked).toStrictEqual(value);
    expect(masked).not.toBe(value);
    expect(masked.l).not.toBe(value.l);
    expect(masked.o.p).not.toBe(value.o.p);
  });

  it.each(['text', 5, null, undefined, true])('takes %p itself', (value) => {
    expect(maskStrings(value, (text) => `<${text}>`)).toBe(typeof value === 'string' ? '<text>' : value);
  });

  it('keeps __proto__ and constructor as data and touches no prototype', () => {
    const value = JSON.parse(
      `{"__proto__":{"polluted":"${SECRET}"},"constructor":{"prototype":"${SECRET}"},"a":"x"}`,
    );
    const masked = maskStrings(deepFreeze(value), hide);
    expect(JSON.stringify(masked)).toBe(
      '{"__proto__":{"polluted":"***"},"constructor":{"prototype":"***"},"a":"x"}',
    );
    expect(Object.getPrototypeOf(masked)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    const text = maskStrings(JSON.parse(`{"__proto__":"${SECRET}"}`), hide);
    expect(JSON.stringify(text)).toBe('{"__proto__":"***"}');
  });

  it('takes lone surrogates and NUL', () => {
    const value = { a: `\ud800${SECRET}\udc00`, b: `\0${SECRET}\0` };
    expect(maskStrings(value, hide)).toEqual({ a: '\ud800***\udc00', b: '\0***\0' });
  });

  it('takes objects without a prototype', () => {
    const value = Object.assign(Object.create(null), { a: SECRET });
    expect(JSON.stringify(maskStrings(value, hide))).toBe('{"a":"***"}');
  });

  it('equals JSON.parse(JSON.stringify()) with a reviver, on any JSON value', () => {
    const json = fc.jsonValue();
    fc.assert(
      fc.property(json, (value) => {
        const mark = (text: string) => (text.length % 2 === 0 ? text : `<${text}>`);
        const wanted = JSON.parse(JSON.stringify(value), (_, v) => (typeof v === 'string' ? mark(v) : v));
        expect(JSON.stringify(maskStrings(deepFreeze(value), mark))).toBe(JSON.stringify(wanted));
        expect(maskStrings(value, same)).toEqual(value);
      }),
    );
  });

  it('reads every property once, and passes on what it read', () => {
    const reads: Record<string, number> = {};
    const turning = (key: string) => {
      reads[key] = (reads[key] ?? 0) + 1;
      return reads[key] === 1 ? 'ok' : SECRET;
    };
    const getter = { enumerable: true, get: () => turning('a') };
    const beside = Object.defineProperty({ b: SECRET }, 'a', getter);
    const alone = Object.defineProperty({}, 'a', { ...getter, get: () => turning('alone') });
    const list = Object.defineProperty([SECRET, 'x'], 1, { ...getter, get: () => turning('list') });
    const sole = Object.defineProperty(['x'], 0, { ...getter, get: () => turning('sole') });
    const masked = maskStrings([beside, alone, list, sole], hide);
    for (let i = 0; i < 2; i++)
      expect(masked).toEqual([{ b: '***', a: 'ok' }, { a: 'ok' }, ['***', 'ok'], ['ok']]);
    expect(reads).toEqual({ a: 1, alone: 1, list: 1, sole: 1 });
  });

  it.each<[string, object, unknown]>([
    ['a symbol', { a: 'x', [Symbol('s')]: SECRET }, { a: 'x' }],
    ['a symbol beside what changes', { a: SECRET, [Symbol('s')]: SECRET }, { a: '***' }],
    ['a hidden key', Object.defineProperty({ a: 'x' }, 'h', { value: SECRET }), { a: 'x' }],
    ['a setter alone', Object.defineProperty({}, 'a', { enumerable: true, set() {} }), { a: undefined }],
    ['an array with a key', Object.assign(['x'], { k: SECRET }), ['x']],
    ['an array with a symbol', Object.assign(['x'], { [Symbol('s')]: SECRET }), ['x']],
    ['an array with a hidden key', Object.defineProperty(['x'], 'h', { value: SECRET }), ['x']],
    [
      'an error with a symbol',
      Object.assign(new Error('x'), { [Symbol('s')]: SECRET }),
      { name: 'Error', message: 'x' },
    ],
  ])('rebuilds %s out of what JSON shows', (_, value, wanted) => {
    const masked = maskStrings({ value }, hide).value;
    expect(masked).not.toBe(value);
    expect(masked).toStrictEqual(wanted);
    expect(inspect(masked, { showHidden: true, depth: 9 })).not.toContain(SECRET);
  });

  it('shows a Date with own symbols as text', () => {
    const date = Object.assign(new Date(0), { [Symbol('s')]: SECRET });
    expect(maskStrings({ date }, hide)).toEqual({ date: '1970-01-01T00:00:00.000Z' });
  });
});
