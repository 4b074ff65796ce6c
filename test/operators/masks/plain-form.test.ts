import { describe, expect, it } from '@jest/globals';
import { MaskError } from '../../../operators/masks/mask-error.ts';
import { maskStrings } from '../../../operators/masks/mask-strings.ts';

const SECRET = 'KEY::0123456789';
const hide = (text: string) => text.replaceAll(SECRET, '***');
const same = (text: string) => text;

describe('what JSON would show in another way', () => {
  class Account {
    readonly token = SECRET;
    readonly #hidden = SECRET;
    get hidden() {
      return this.#hidden;
    }
  }
  class Custom {
    toJSON() {
      return { inner: { token: SECRET } };
    }
  }
  class Itself {
    readonly token = SECRET;
    toJSON() {
      return this;
    }
  }
  class Tokens extends Array<string> {}
  class Moment extends Date {
    override toISOString() {
      return SECRET;
    }
  }
  class Pairs extends Map<string, string> {
    toJSON() {
      return [...this];
    }
  }

  it.each<[string, unknown, unknown]>([
    ['a URL', new URL(`https://h/?q=${SECRET}`), 'https://h/?q=***'],
    ['toJSON of a class', new Custom(), { inner: { token: '***' } }],
    ['toJSON that returns the object', new Itself(), { token: '***' }],
    ['toJSON that gives a URL', { toJSON: () => new URL(`https://h/?q=${SECRET}`) }, 'https://h/?q=***'],
    ['toJSON that gives toJSON', { toJSON: () => new Custom() }, { inner: { token: '***' } }],
    ['a class of dates', new Moment(0), '***'],
    ['a date with toISOString', Object.assign(new Date(0), { toISOString: () => SECRET }), '***'],
    ['a map with toJSON', new Pairs([['a', SECRET]]), [['a', '***']]],
    ['toJSON of a plain object', { a: 1, toJSON: () => SECRET }, '***'],
    ['toJSON of an array', Object.assign(['x'], { toJSON: () => [SECRET] }), ['***']],
    ['a boxed string', Object(SECRET), '***'],
    ['a boxed number', Object(5), 5],
    ['a boxed boolean', Object(false), false],
    ['a class instance', new Account(), { token: '***' }],
    ['a class of arrays', Tokens.from([SECRET]), ['***']],
    [
      'an error',
      Object.assign(new TypeError(SECRET), { code: SECRET }),
      { name: 'TypeError', message: '***', code: '***' },
    ],
    ['a regular expression', new RegExp(SECRET), {}],
    [
      'a getter',
      {
        get token() {
          return SECRET;
        },
      },
      { token: '***' },
    ],
    ['a proxy', new Proxy({ token: SECRET }, {}), { token: '***' }],
  ])('%s', (_, inner, wanted) => {
    const masked = maskStrings({ inner } as { inner: unknown }, hide);
    expect(masked).toEqual({ inner: wanted });
    expect(masked.inner?.constructor).toBe((wanted as object).constructor);
    expect(JSON.stringify(masked)).not.toContain(SECRET);
  });

  it('replaces a class instance even when no text in it changed: it may hold what its keys do not show', () => {
    const masked = maskStrings({ a: new Account() } as { a: object }, same);
    expect(masked.a).not.toBeInstanceOf(Account);
    expect(masked.a).toEqual({ token: SECRET });
  });

  it('keeps a Date', () => {
    const date = new Date(0);
    expect(maskStrings({ date, a: SECRET }, hide).date).toBe(date);
  });
});

describe('what cannot be masked', () => {
  const cycle: Record<string, unknown> = { a: 'x' };
  cycle.self = cycle;
  const doubleCycle: unknown[] = [];
  doubleCycle.push(doubleCycle, doubleCycle);
  let deep: unknown = SECRET;
  for (let i = 0; i < 100_000; i++) deep = i % 2 === 0 ? [deep] : { deep };
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const sparse: unknown[] = [];
  sparse[4_294_967_294] = SECRET;
  const endless = (): object => ({ toJSON: endless });
  const fails = (): never => {
    throw new Error(SECRET);
  };

  it.each<[string, unknown, string]>([
    ['Map', new Map([[SECRET, SECRET]]), 'of type Map'],
    ['Set', new Set([SECRET]), 'of type Set'],
    ['Buffer', Buffer.from(SECRET), 'of type Uint8Array'],
    ['DataView', new DataView(new ArrayBuffer(8)), 'of type DataView'],
    ['ArrayBuffer', new ArrayBuffer(8), 'of type ArrayBuffer'],
    ['map out of toJSON', { toJSON: () => new Map() }, 'of type Map'],
    ['endless toJSON', endless(), 'a cycle'],
    ['bigint', 5n, 'of type bigint'],
    ['boxed bigint', Object(5n), 'of type BigInt'],
    ['symbol', Symbol(SECRET), 'of type symbol'],
    ['function', () => SECRET, 'of type function'],
    ['cycle', cycle, 'a cycle'],
    ['cycle that branches', doubleCycle, 'a cycle'],
    ['depth', deep, 'deeper than 1000'],
    ['sparse array', sparse, 'a sparse array'],
    [
      'getter that throws',
      {
        get a() {
          return fails();
        },
      },
      'cannot be read',
    ],
    ['toJSON that throws', { toJSON: fails }, 'cannot be read'],
    ['revoked proxy', revoked.proxy, 'cannot be read'],
    ['proxy that throws', new Proxy({}, { ownKeys: fails }), 'cannot be read'],
  ])('refuses a %s and shows no content', (_, value, what) => {
    const attempt = () => maskStrings({ data: { [SECRET]: [value] } }, hide);
    expect(attempt).toThrow(MaskError);
    expect(attempt).toThrow(what);
    expect(attempt).toThrow('data.*[0]');
    expect(attempt).not.toThrow(SECRET);
  });

  it('names the place of the value itself, and does not spell out a deep one', () => {
    expect(() => maskStrings(5n, hide)).toThrow('(at the value itself)');
    expect(() => maskStrings(cycle, hide)).toThrow(/at \*(\.\*){7}…\)/);
  });

  it('shows no key but that of the data, since names and letters may be content', () => {
    expect(() => maskStrings({ data: { ada: { secret: [5n] } } }, hide)).toThrow('(at data.*.*[0])');
    expect(() => maskStrings({ ada: { data: 5n } }, hide)).toThrow('(at *.*)');
  });

  it('lets through what the callback throws', () => {
    const error = new Error('mine');
    expect(() =>
      maskStrings({ a: { b: 'x' } }, () => {
        throw error;
      }),
    ).toThrow(error);
  });

  it('takes 900 levels', () => {
    let value: unknown = SECRET;
    for (let i = 0; i < 900; i++) value = [value];
    expect(JSON.stringify(maskStrings(value, hide))).toContain('***');
  });
});
