import { describe, expect, it } from '@jest/globals';
import { createRedactor, packNames, packRules } from '../../redact/index.ts';
import { deepFreeze } from '../support/deep-freeze.ts';

const PASSWORD = 'Tr0ub4dor&3';
const redactor = createRedactor();

describe('a string', () => {
  it('is masked by the default packs', () => {
    expect(redactor.redact(`login with password=${PASSWORD}`)).toBe('login with password=<:password:>');
    expect(redactor.redact('nothing of interest')).toBe('nothing of interest');
  });

  it('is masked by other packs, rules and actions', () => {
    const own = createRedactor({
      packs: ['pii/contact'],
      rules: { TICKET: 'TK-[0-9]{8}' },
      action: { 'pii/*': { keep_last: 4 }, TICKET: { hmac: { key: 'k' } } },
    });
    expect(own.redact(`TK-40718254 of ada.lovelace@example.org, password=${PASSWORD}`)).toMatch(
      /^<:TICKET:[0-9a-f]{12}:> of <:email:\.org:>, password=Tr0ub4dor&3$/,
    );
  });

  it('keeps allowed values and keys', () => {
    const own = createRedactor({ allow: { values: ['^Tr0ub4dor'], keys: ['session_token'] } });
    expect(own.redact(`password=${PASSWORD}`)).toBe(`password=${PASSWORD}`);
    expect(own.redact({ sessionToken: 'a7Qk2Lm9Zx4Rt8Vb' })).toEqual({ sessionToken: 'a7Qk2Lm9Zx4Rt8Vb' });
  });

  it('keeps allowed keys in any script, and no others', () => {
    for (const own of [
      createRedactor({ allow: { keys: ['имя'] } }),
      createRedactor({ fields: { имя: 'keep' } }),
    ]) {
      expect(own.redact({ пароль: PASSWORD })).toEqual({ пароль: '<:password:>' });
    }
    const own = createRedactor({ allow: { keys: ['пароль'] } });
    expect(own.redact({ пароль: PASSWORD })).toEqual({ пароль: PASSWORD });
    expect(own.redact(`пароль: ${PASSWORD}, password: ${PASSWORD}`)).toBe(
      `пароль: ${PASSWORD}, password: <:password:>`,
    );
  });

  it('is decoded as asked', () => {
    const encoded = Buffer.from(`password=${PASSWORD} in base64`).toString('base64');
    expect(redactor.redact(`body ${encoded}`)).not.toContain(encoded);
    expect(createRedactor({ decode: false }).redact(`body ${encoded}`)).toBe(`body ${encoded}`);
  });

  it('is replaced as a whole if it is too long', () => {
    const own = createRedactor({ maxLength: 20 });
    expect(own.redact('x'.repeat(21))).toBe('<:unmaskable:>');
    expect(own.redact({ text: 'x'.repeat(21) })).toEqual({ text: '<:unmaskable:>' });
    expect(own.redactJson(JSON.stringify('x'.repeat(30)))).toBe('"<:unmaskable:>"');
    expect(own.report().unmaskable).toBe(3);
  });
});

describe('a value', () => {
  it('is masked at any depth, and the input stays', () => {
    const value = deepFreeze({
      user: 'ada',
      db: { password: PASSWORD, hosts: ['db1', `postgres://app:${PASSWORD}@db/main`] },
      tries: 3,
      last: null,
    });
    expect(redactor.redact(value)).toEqual({
      user: 'ada',
      db: { password: '<:password:>', hosts: ['db1', 'postgres://app:<:url-password:>@db/main'] },
      tries: 3,
      last: null,
    });
  });

  it('may have cycles, and the same object twice', () => {
    const twice = { password: PASSWORD };
    const value: Record<string, unknown> = { a: twice, b: [twice] };
    value.self = value;
    value.list = [value];
    const masked = { password: '<:password:>' };
    expect(redactor.redact(value)).toEqual({
      a: masked,
      b: [masked],
      self: '[Circular]',
      list: ['[Circular]'],
    });
  });

  it('of which there are too many paths is shown in part', () => {
    const nodes = Array.from({ length: 12 }, (_, id) => ({ id, near: [] as object[] }));
    for (const node of nodes) node.near.push(...nodes.filter((other) => other !== node));
    const shown = JSON.stringify(redactor.redact(nodes));
    expect(shown).toContain('<:unmaskable:>');
    expect(shown.length).toBeLessThan(20_000_000);

    const lazy = (): object => ({ toJSON: () => [lazy(), lazy()] });
    expect(JSON.stringify(redactor.redact(lazy())).length).toBeLessThan(20_000_000);

    const group = { name: 'staff' };
    const users = Array.from({ length: 50_000 }, () => ({ group }));
    expect(redactor.redact(users)).toEqual(users);
  });

  it.each([
    ['a Buffer', { type: 'Buffer', data: [...Buffer.from(PASSWORD)] }],
    ['a Buffer in base64', { type: 'Buffer', data: btoa(PASSWORD) }],
    ['another typed array', { ...Buffer.from(PASSWORD) }],
  ])('has no bytes of %s that was written as JSON', (_, bytes) => {
    expect(redactor.redact({ bytes, ok: true })).toEqual({ bytes: '<:unmaskable:>', ok: true });
    expect(redactor.redactJson(JSON.stringify({ bytes }))).toBe('{"bytes":"<:unmaskable:>"}');
  });

  it('may be a number, without a field', () => {
    const own = createRedactor({ packs: ['pii/payment'] });
    expect(own.redact([4111111111111111, 12])).toEqual(['<:card:>', 12]);
    expect(own.redact(4111111111111111)).toBe('<:card:>');
    expect(own.redactJson('[4111111111111111]')).toBe('["<:card:>"]');
  });

  it('of a kind that JSON does not show is shown as far as that is safe', () => {
    expect(
      redactor.redact({
        big: 12345678901234567890n,
        fn: () => PASSWORD,
        symbol: Symbol('x'),
        map: new Map([['password', PASSWORD]]),
        bytes: Buffer.from(PASSWORD),
        date: new Date(0),
        holes: Object.assign([], { 1: 1 }),
      } as object),
    ).toEqual({
      big: '12345678901234567890',
      fn: undefined,
      symbol: undefined,
      map: {},
      bytes: '<:unmaskable:>',
      date: new Date(0),
      holes: [undefined, 1],
    });
  });

  it('is an error, with its causes', () => {
    const error = Object.assign(
      new Error(`bad password=${PASSWORD}`, { cause: new Error(`token=${PASSWORD}`) }),
      {
        config: { headers: { authorization: `Bearer ${PASSWORD}${PASSWORD}` } },
      },
    );
    const masked = redactor.redact(error) as unknown as Record<string, unknown>;
    expect(JSON.stringify(masked)).not.toContain('Tr0ub4dor');
    expect(masked).toMatchObject({
      name: 'Error',
      message: 'bad password=<:password:>',
      cause: { name: 'Error' },
    });
    expect(masked.stack).toContain('create-redactor.test.ts');
  });

  it('keeps what can be read beside what cannot', () => {
    const value = {
      get broken() {
        throw new Error(PASSWORD);
      },
      password: PASSWORD,
      inner: new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error(PASSWORD);
          },
        },
      ),
      json: {
        toJSON: () => {
          throw new Error(PASSWORD);
        },
      },
      deep: Array.from({ length: 3000 }).reduce((inner) => ({ inner }), PASSWORD),
    };
    const own = createRedactor();
    const masked = own.redact(value) as Record<string, unknown>;
    expect(masked).toMatchObject({
      broken: '<:unmaskable:>',
      password: '<:password:>',
      inner: '<:unmaskable:>',
      json: '<:unmaskable:>',
    });
    expect(JSON.stringify(masked)).not.toContain('Tr0ub4dor');
    expect(own.report().unmaskable).toBe(4);
  });

  it('is read once, so that a getter cannot show something else the second time', () => {
    let reads = 0;
    const value = Object.defineProperty({}, 'text', {
      enumerable: true,
      get: () => (reads++ === 0 ? 'fine' : PASSWORD),
    });
    expect(redactor.redact(value)).toEqual({ text: 'fine' });
    expect(reads).toBe(1);
  });

  it.each([[undefined], [null], [1], [true], [NaN]])('is %p, which stays', (value) => {
    expect(redactor.redact(value)).toBe(value);
  });
});

describe('values without keys of their own', () => {
  const TOKEN = 'q9Zr7tKw2Lm4';
  it.each([
    { sql: 'UPDATE users SET password = $1 WHERE id = $2', params: [PASSWORD, 7] },
    { params: [PASSWORD, 7], sql: 'UPDATE users SET password = $1 WHERE id = $2' },
    { text: 'SELECT 1 FROM u WHERE password = $1', values: [PASSWORD] },
    { bindings: ['ada@x.org', PASSWORD], sql: 'insert into `users` (`email`, `password`) values (?, ?)' },
    { query: 'SELECT * FROM "User" WHERE "apiKey" = $1', params: `["${TOKEN}"]`, duration: 3 },
    { params: `["ada","${TOKEN}"]`, query: 'UPDATE "User" SET "name" = $1, "apiKey" = $2' },
    { log: { auth: ['ada', PASSWORD] } },
    { spawnargs: ['curl', '-u', `ada:${PASSWORD}`] },
  ])('are found beside what they belong to: %#', (value) => {
    const redactor = createRedactor();
    const masked = redactor.redact(value);
    expect(JSON.stringify(masked)).not.toMatch(/Tr0ub4dor|q9Zr7/);
    expect(Object.keys(masked)).toEqual(Object.keys(value));
    expect(JSON.parse(redactor.redactJson(JSON.stringify(value)))).toEqual(masked);
  });

  it('stay where no statement asks for them', () => {
    const value = {
      sql: 'select a from b where id = ?',
      params: [1, 'x7'],
      note: 'password = ?',
      when: undefined,
    };
    expect(createRedactor().redact(value)).toEqual(value);
  });
});

describe('a document of JSON', () => {
  it('stays one', () => {
    const json = JSON.stringify({
      level: 30,
      pin: 1234,
      msg: `password: "${PASSWORD}"`,
      card_number: 4111111111111111,
    });
    const own = createRedactor({ packs: 'all' });
    expect(JSON.parse(own.redactJson(json))).toMatchObject({ level: 30, msg: 'password: "<:password:>"' });
    expect(own.redactJson(json)).not.toContain('4111111111111111');
  });

  it('keeps the digits of integers, and has fractions and exponents', () => {
    const numbers =
      '[12345678901234567890,-12345678901234567890,0.1234567890123456,1e-0000000000000001,-0.30000000000000004]';
    const json = `{"numbers":${numbers},"body":{"type":"Buffer","data":[112,97,115,115]}}`;
    expect(redactor.redactJson(json)).toBe(
      '{"numbers":[12345678901234567890,-12345678901234567890,0.1234567890123456,0.1,-0.30000000000000004],"body":"<:unmaskable:>"}',
    );
  });

  it('has strings as strings, even if they look like marked integers', () => {
    const json = '{"\ue0001234":12345678901234567890,"text":"\ue0001234","other":"\ue000\ue001"}';
    expect(redactor.redactJson(json)).toBe(json);
  });

  it('that is none is masked as a string', () => {
    expect(redactor.redactJson(`{"password":"${PASSWORD}`)).toBe('{"password":"<:password:>');
  });
});

describe('a report', () => {
  it('counts a field with a policy once', () => {
    const own = createRedactor({
      fields: { ssn: { mask_char: 'x' }, id: { hmac: { key: 'k' } }, pin: 'mask' },
    });
    own.redactJson('{"tags":["a"],"ssn":"078-05-1120","id":5,"pin":1234}');
    expect(own.report().masked).toEqual({ 'fields:ssn': 1, 'fields:id': 1, 'fields:pin': 1 });
  });

  it('counts what was found by rule', () => {
    const own = createRedactor();
    own.redact(`password=${PASSWORD}`);
    own.redact({ password: PASSWORD, url: `https://ada:${PASSWORD}@example.org` });
    const stream = own.stream();
    stream.write('passwo');
    stream.write(`rd=${PASSWORD}\n`);
    expect(own.report()).toEqual({
      masked: { 'secrets/context:password': 3, 'secrets/context:url-password': 1 },
      unmaskable: 0,
    });
  });
});

describe('options', () => {
  it.each([
    [{ pack: 'default' }, 'pack'],
    [{ packs: 5 }, 'packs'],
    [{ maxLength: 0 }, 'maxLength'],
    [{ confidence: 'some' }, 'confidence'],
    [{ packs: 'secrets/none' }, 'there is no pack secrets/none'],
    [{ allow: { values: 'test' } }, 'allow.values must be an array of expressions'],
    [{ allow: { key: ['id'] } }, "unknown option 'allow.key'"],
    [{ decode: { layers: 1 } }, "unknown option 'decode.layers'"],
    [{ decode: { base64: -1 } }, 'base64'],
    [{ entropy: { treshold: 0.5 } }, "unknown option 'entropy.treshold'"],
    [{ entropy: { threshold: 5 } }, 'threshold must be a number in [0, 1]'],
    [{ rules: { NONE: 5 } }, 'NONE'],
    [{ rules: { NONE: { expression: 'a' } } }, 'NONE'],
    [{ action: { default: 'mask' } }, "action.default must be 'name' or one of"],
    [{ action: { default: {} } }, 'default'],
    [{ action: { default: { keep_last: '4' } } }, 'keep_last'],
    [{ action: { default: { mask_char: '' } } }, 'mask_char'],
    [{ action: { default: { hmac: {} } } }, 'hmac'],
    [{ action: { default: { hmac: { key: 'k', length: 0 } } } }, 'hmac'],
    [{ action: { default: { mask_char: '*', keep_last: 4 } } }, 'one of'],
    [{ fields: { ssn: null } }, 'fields.ssn must be'],
    [{ fields: { ssn: {} } }, 'fields.ssn must be'],
    [{ rules: { BAD: '(' } }, 'BAD'],
    [{ rules: { SLOW: '(a+)+$' } }, 'SLOW'],
  ])('%p is refused, with its name', (options, name) => {
    expect(() => createRedactor(options as object)).toThrow(name);
    expect(() => createRedactor(options as object)).not.toThrow(/Cannot|not a function/);
  });

  it('of a stream are checked', () => {
    expect(() => redactor.stream({ mostHeld: 10 })).toThrow('mostHeld must be an integer of at least 16384');
  });

  it('name packs', () => {
    expect(Object.keys(packRules('default'))).toEqual(Object.keys(packRules()));
    expect(Object.keys(packRules(['secrets/keys', 'secrets/keys'])).length).toBeGreaterThan(3);
    expect(packNames()).toContain('pii/contact');
  });
});
