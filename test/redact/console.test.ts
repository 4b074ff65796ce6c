import { Console } from 'node:console';
import { PassThrough } from 'node:stream';
import { inspect, stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { patchConsole } from '../../redact/console.ts';
import { createRedactor, type Redactor } from '../../redact/index.ts';

const SECRET = 'Tr0ub4dor&3';
const TOKEN = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const redactor = createRedactor();

/** What `use` prints to a console of Node.js, patched or not. */
function printed(use: (console: Console) => void, masking: Redactor | false = redactor): string {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const target = new Console({ stdout, stderr });
  if (masking !== false) patchConsole(masking, target);
  use(target);
  return `${stdout.read() ?? ''}${stderr.read() ?? ''}`;
}

describe('patchConsole', () => {
  const circular: Record<string, unknown> = { name: 'ada', list: [1, 2] };
  circular.self = circular;
  class Point {
    x = 1;
    #hidden = SECRET;
    get secret() {
      return this.#hidden;
    }
  }

  it.each<[string, (console: Console) => void]>([
    [
      'strings and formats',
      (c) => c.log('%s has %d of %i%%, %o %O %j %c!', 'ada', 1.5, 2, [1], { a: 1 }, { b: 2 }, 'css', 'more'),
    ],
    ['nothing', (c) => c.log()],
    [
      'maps with keys of any kind, in their order',
      (c) =>
        c.log(
          new Map<unknown, unknown>([
            ['user', 'ada'],
            [42, 'x'],
            ['7', 'y'],
            ['', 'z'],
            [{ a: 1 }, 'o'],
            ['.', 'p'],
          ]),
          { b: 1, 2: 'n', [Symbol('b')]: 2, 'Symbol(b)': 3 },
        ),
    ],
    ['percent signs', (c) => c.log('100%', '%s')],
    ['one with a percent sign', (c) => c.log('100%% %s')],
    ['circular objects', (c) => c.log(circular)],
    [
      'maps, sets, dates and classes',
      (c) => c.log(new Map([['a', new Set([1])]]), new Date(0), new Point(), Array(2), Object.create(null)),
    ],
    ['functions, symbols and bigints', (c) => c.log(printed, Symbol('a'), 1n, /a/g, null, undefined)],
    [
      'groups, counts and tables',
      (c) => {
        c.group('group');
        c.count('label');
        c.table([
          { a: 1, b: 'x' },
          { a: 2, c: true },
        ]);
        c.table(new Map([['a', 1]]));
        c.groupEnd();
        c.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 });
        c.dir(circular);
        c.assert(true, 'no');
        c.assert(1 > 2, 'yes %s', 'a');
      },
    ],
    [
      'getters that throw',
      (c) =>
        c.log({
          get a() {
            throw new Error('no');
          },
        }),
    ],
    ['custom forms', (c) => c.log({ [inspect.custom]: () => 'custom' }, new URL('https://example.org/a'))],
    [
      'long arrays and texts',
      (c) =>
        c.log(
          Array.from({ length: 200 }, (_, i) => i),
          'x'.repeat(20_000),
        ),
    ],
  ])('prints %s as the console does', (_, use) => {
    expect(printed(use)).toBe(printed(use, false));
  });

  it.each<[string, (console: Console) => void]>([
    ['strings', (c) => c.log(`password=${SECRET}`)],
    ['formats', (c) => c.info('password=%s', SECRET)],
    [
      '%j and %o',
      (c) =>
        c.info(
          '%j %o %O',
          { a: { b: { c: { d: { e: { f: { password: SECRET } } } } } } },
          { password: SECRET },
          { password: SECRET },
        ),
    ],
    ['objects', (c) => c.debug({ db: { password: SECRET }, headers: { authorization: `Bearer ${TOKEN}` } })],
    ['pairs of names and values', (c) => c.log([{ name: 'DB_PASSWORD', value: SECRET }])],
    ['arguments of commands', (c) => c.log(['psql', '--password', SECRET])],
    [
      'maps, by their keys',
      (c) =>
        c.log(
          new Map<string, unknown>([
            ['password', SECRET],
            ['db', new Map([['password', SECRET]])],
          ]),
        ),
    ],
    [
      'sets, and maps with other keys',
      (c) => c.log(new Set([TOKEN]), new Map([[{ password: SECRET }, { password: SECRET }]])),
    ],
    ['keys', (c) => c.log({ [TOKEN]: 1 }, new Map([[TOKEN, 1]]), { [Symbol(TOKEN)]: 1 })],
    ['symbols as keys', (c) => c.log({ [Symbol('password')]: SECRET })],
    [
      'circular objects',
      (c) => {
        const value: Record<string, unknown> = { password: SECRET };
        value.self = value;
        c.log(value);
      },
    ],
    ['errors', (c) => c.error(new Error(`password=${SECRET}`))],
    [
      'errors with causes and fields',
      (c) => {
        const cause = Object.assign(new Error(`token ${TOKEN}`), { config: { password: SECRET } });
        c.warn('failed:', new AggregateError([new TypeError('x', { cause })], `password=${SECRET}`));
      },
    ],
    [
      'buffers',
      (c) =>
        c.log(Buffer.from(SECRET), new Uint8Array(Buffer.from(SECRET)), {
          buffer: Buffer.from(SECRET).buffer,
        }),
    ],
    [
      'tables',
      (c) =>
        c.table([
          { user: 'ada', password: SECRET },
          { user: 'bob', password: SECRET },
        ]),
    ],
    ['dir', (c) => c.dir({ a: { b: { c: { d: { e: { f: { password: SECRET } } } } } } }, { depth: null })],
    [
      'dir, with hidden fields',
      (c) => c.dir(Object.defineProperty({}, 'password', { value: SECRET }), { showHidden: true }),
    ],
    ['%o, with hidden fields', (c) => c.log('%o', Object.defineProperty({}, 'password', { value: SECRET }))],
    ['arrays with holes', (c) => c.log(Object.assign(Array(3), { 2: { password: SECRET } }))],
    ['trace', (c) => c.trace('password=%s', SECRET)],
    ['assert', (c) => c.assert(false, 'login', { password: SECRET })],
    ['groups', (c) => c.group({ password: SECRET })],
    [
      'counts and times',
      (c) => {
        c.count(`password=${SECRET}`);
        c.time(`password=${SECRET}`);
        c.timeLog(`password=${SECRET}`, { password: SECRET });
        c.timeEnd(`password=${SECRET}`);
      },
    ],
    [
      'classes',
      (c) =>
        c.log(
          new (class Login {
            user = 'ada';
            password = SECRET;
          })(),
        ),
    ],
    ['nested JSON', (c) => c.log({ body: JSON.stringify({ password: SECRET }) })],
    ['URLs', (c) => c.log(new URL(`https://ada:${SECRET}@example.org/?token=${TOKEN}`))],
    ['headers', (c) => c.log(new Headers({ authorization: `Bearer ${TOKEN}`, cookie: `session=${TOKEN}` }))],
    ['promises', (c) => c.log(Promise.resolve({ password: SECRET }))],
    ['proxies', (c) => c.log(new Proxy({ password: SECRET }, {}))],
    ['objects without a prototype', (c) => c.log(Object.assign(Object.create(null), { password: SECRET }))],
    ['arrays with fields', (c) => c.log(Object.assign(['a'], { password: SECRET }))],
    ['long strings in arrays', (c) => c.log([`${'x '.repeat(60)}password=${SECRET} ${'y '.repeat(60)}`])],
    ['environments', (c) => c.log({ ...{ PATH: '/bin', DB_PASSWORD: SECRET, API_TOKEN: TOKEN } })],
    ['custom forms', (c) => c.log({ [inspect.custom]: () => `password=${SECRET}` })],
  ])('masks %s', (_, use) => {
    const text = stripVTControlCharacters(printed(use));
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(Buffer.from(SECRET).toString('hex').match(/../g)?.slice(0, 4).join(' '));
    expect(text).toContain('<:');
  });

  it('keeps what is around a value', () => {
    const circular: Record<string, unknown> = { password: SECRET, when: new Date(0), at: new Point() };
    circular.self = circular;
    expect(printed((c) => c.log('user %s', 'ada', circular))).toBe(
      "user ada <ref *1> {\n  password: '<:password:>',\n  when: 1970-01-01T00:00:00.000Z,\n  at: Point { x: 1 },\n  self: [Circular *1]\n}\n",
    );
  });

  it('throws nothing, and prints what cannot be masked as such', () => {
    expect(
      printed((c) =>
        c.log({
          [inspect.custom]() {
            throw new Error(SECRET);
          },
        }),
      ),
    ).toBe('<:unmaskable:>\n');
  });

  it('leaves out fields that are dropped', () => {
    const dropping = createRedactor({ fields: { ssn: 'drop' } });
    const value = {
      ssn: 1,
      user: 'ada',
      more: new Map([
        ['ssn', 1],
        ['b', 2],
        ['1', 3],
      ]),
      password: SECRET,
    };
    expect(printed((c) => c.log(value), dropping)).toBe(`{
  user: 'ada',
  more: Map(2) { 'b' => 2, '1' => 3 },
  password: '<:password:>'
}
`);
    expect(printed((c) => c.table([{ user: 'ada', ssn: 1 }]), dropping)).toContain("'ada'");
  });

  it('prints no table that cannot be read', () => {
    const hostile = Object.assign(new Map(), {
      [Symbol.iterator]() {
        throw new Error(SECRET);
      },
    });
    expect(printed((c) => c.table(hostile))).toBe('<:unmaskable:>\n');
  });

  it('patches methods that are those of a class', () => {
    const lines: unknown[] = [];
    class Lines {
      log(line: unknown): void {
        lines.push(line);
      }
    }
    const target = new Lines();
    const restore = patchConsole(redactor, target as Console);
    target.log({ password: SECRET });
    restore();
    target.log('after');
    expect(lines).toEqual(["{ password: '<:password:>' }", 'after']);
  });

  it('restores the methods, but none that something else has replaced since', () => {
    const target = new Console({ stdout: new PassThrough() });
    const before = { ...target };
    const restore = patchConsole(createRedactor(), target);
    const other = () => {};
    target.info = other;
    restore();
    expect({ ...target }).toEqual({ ...before, info: other });
  });

  it('counts what it masks', () => {
    const { password = 0 } = countsOf();
    printed((c) => c.log({ password: SECRET }));
    expect(countsOf().password).toBe(password + 1);
  });
});

const countsOf = () => {
  const counts = Object.entries(redactor.report().masked);
  return Object.fromEntries(counts.map(([id, count]) => [id.replace(/.*:/, ''), count]));
};
