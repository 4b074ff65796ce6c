import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { keyMatcher, keyPattern, wordsOf } from '../../operators/masks/redact/key-patterns.ts';
import * as plugin from '../../plugins/process/redact.ts';
import { createRedactor } from '../../redact/index.ts';
import { collectedEvent } from '../../src/sdk/events.ts';
import { processContext } from '../plugins/process/context.ts';

/* Policies of fields: what becomes of a field whatever its value is. */

const parse = (fields: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  plugin.get_config_schema().parse({ plugin: 'redact', fields, ...more });
const problems = (fields: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  plugin
    .checkConfig({ config: parse(fields, more) })
    .map(({ path, severity = 'error' }) => [path.join('.'), severity]);

/** Masks the data of an event, and says what was counted. */
function masked(fields: Record<string, unknown>, data: Record<string, unknown>, more = {}) {
  const { ctx, masked } = processContext(parse(fields, more));
  const [event] = plugin.process({ ctx, event: collectedEvent(data, '2026-01-01T00:00:00Z') });
  return { data: event?.data, event, counts: masked };
}
const dataOf = (...args: Parameters<typeof masked>) => masked(...args).data;
/** Masks one line as a pipeline masks the lines of a file. */
function maskedLine(fields: Record<string, unknown>, line: string, more = {}) {
  const { ctx } = processContext(parse(fields, more));
  const envelope = {
    timestamp: '2026-01-01T00:00:00Z',
    source: 'a.log',
    backfill: false,
    isTruncated: false,
  };
  const mapping = plugin.mapLines({ ctx, envelope });
  return mapping === undefined ? undefined : mapping.map(line);
}

const SECRET = 'password=Tr0ub4dor&3';

describe('patterns of keys', () => {
  it.each([
    ['trace_id', ['trace_id', 'traceId', 'Trace-Id', 'TRACE_ID', 'traceid'], ['trace', 'trace_ids']],
    ['*_id', ['trace_id', 'traceId', 'Trace-Id', 'a.b_id'], ['paid', 'id', 'valid', 'android']],
    ['id_*', ['id_x', 'idCard'], ['identity', 'id']],
    ['*.ssn', ['ssn', 'a.ssn', 'a.b.SSN', 'a.b.s_s_n'], ['a.ssnx', 'a.ssn.b']],
    ['gen_ai.*', ['gen_ai.x', 'genAi.request.model'], ['gen_ai', 'x.gen_ai.y', 'regen_ai.x']],
    ['user.*.e-mail', ['user.a.email', 'user.a.b.eMail'], ['user.email', 'users.a.email']],
    ['größe', ['Größe', 'größe'], ['grsse']],
    ['a+b', ['a+b', 'a_b'], ['aab']],
  ])('%s', (pattern, good, bad) => {
    const is = (key: string) => keyPattern(pattern).test(wordsOf(key));
    expect(good.filter((key) => !is(key))).toEqual([]);
    expect(bad.filter(is)).toEqual([]);
  });

  it('are those of allow.keys, in text and in fields', () => {
    expect(keyMatcher(['*_token'])('csrfToken')).toBe(true);
    const more = { allow: { keys: ['csrf_*'] } };
    const value = 'kJ8s-92lQmZ0vT6yRkLw1nBc';
    expect(dataOf({}, { csrf_token: value, auth_token: value }, more)).toEqual({
      csrf_token: value,
      auth_token: '<:token:>',
    });
    const line = `csrfToken=${value} auth_token=${value}`;
    expect(maskedLine({}, line, more)).toBe(`csrfToken=${value} auth_token=<:token:>`);
  });

  it('that match most keys are refused, and those that keep the text of events are warned of', () => {
    for (const key of ['*', '**', '*.*', '*e*'])
      expect({ key, at: problems({ [key]: 'keep' }) }).toEqual({ key, at: [[`fields.${key}`, 'error']] });
    expect(problems({}, { allow: { keys: ['*_id', '*'] } })).toEqual([['allow.keys.1', 'error']]);
    expect(problems({}, { allow: { keys: ['*e*'] } })).toEqual([['allow.keys.0', 'error']]);
    expect(problems({ line: 'keep', 'trace.*': 'keep', '*': 'mask' })).toEqual([['fields.line', 'warning']]);
    for (const pattern of ['.a', 'a.', 'a..b', '.', '_'])
      expect(problems({ [pattern]: 'mask' })).toEqual([[`fields.${pattern}`, 'error']]);
    expect(problems({ a: { hmac: { key_env: 'MILLRACE_TEST_NO_KEY' } } })).toEqual([
      ['fields.a.hmac.key_env', 'error'],
    ]);
  });
});

describe('policies of fields', () => {
  const policies = {
    'user.email': { keep_last: 4 },
    '*.ssn': 'mask',
    'debug.*': 'drop',
    'gen_ai.*': 'mask',
    trace_id: 'keep',
    session: 'drop',
  };

  it('replace, drop and keep values whatever they are', () => {
    const { data, counts } = masked(policies, {
      user: { email: 'not an address at all', name: 'ada', session: { a: SECRET } },
      people: [{ SSN: 1 }, { ssn: { area: '1' } }, { ssn: null }, { ssn: true }],
      ssn: ['078', '05'],
      debug: { anything: 1, more: { a: SECRET } },
      attributes: { 'gen_ai.prompt': 'hello', 'gen_ai.usage.tokens': 3 },
      'gen_ai.prompt': 'hello',
      genAi: { prompt: { a: 1 } },
      traceId: SECRET,
      other: SECRET,
    });
    expect(data).toEqual({
      user: { email: '<:email: all:>', name: 'ada' },
      people: [{ SSN: '<:ssn:>' }, { ssn: '<:ssn:>' }, { ssn: null }, { ssn: '<:ssn:>' }],
      ssn: '<:ssn:>',
      debug: {},
      attributes: { 'gen_ai.prompt': 'hello', 'gen_ai.usage.tokens': 3 },
      'gen_ai.prompt': '<:gen_ai:>',
      genAi: { prompt: '<:gen_ai:>' },
      traceId: SECRET,
      other: 'password=<:password:>',
    });
    const sums = new Map<string, number>();
    for (const [rule, count] of counts) sums.set(rule, (sums.get(rule) ?? 0) + count);
    expect(Object.fromEntries(sums)).toEqual({
      'fields:email': 1,
      'fields:session': 1,
      'fields:ssn': 4,
      'fields:debug': 2,
      'fields:gen_ai': 2,
      'secrets/context:password': 1,
    });
  });

  it('take the path first, then the key, then patterns, and of several the strictest', () => {
    const data = { user: { id: 'u-1', ssn: '078' }, id: 'x' };
    expect(dataOf({ 'user.*': 'mask', 'user.id': 'keep' }, data)).toMatchObject({
      user: { id: 'u-1', ssn: '<:user:>' },
    });
    expect(dataOf({ id: 'drop', 'user.id': 'keep' }, data)).toEqual({ user: { id: 'u-1', ssn: '078' } });
    expect(dataOf({ 'user.*': 'keep', '*.ssn': 'mask' }, data)).toMatchObject({ user: { ssn: '<:ssn:>' } });
    expect(dataOf({ '*.ssn': 'mask', 'u*.ssn': 'drop' }, data)).toMatchObject({ user: { id: 'u-1' } });
    expect(dataOf({ 'user.ssn': 'keep', User_SSN: 'mask', 'USER.SSN': 'mask' }, data)).toMatchObject({
      user: { ssn: '<:ssn:>' },
    });
  });

  it('keep what is inside a field, but for fields in it that have policies of their own', () => {
    const data = { trace: { notes: [SECRET, { a: SECRET, ssn: '078' }], n: 4111111111111111 } };
    expect(dataOf({ trace: 'keep', ssn: 'mask' }, data, { packs: 'all' })).toEqual({
      trace: { notes: [SECRET, { a: SECRET, ssn: '<:ssn:>' }], n: 4111111111111111 },
    });
  });

  it('leave what an event has beside its data', () => {
    const { event } = masked({ '*': 'mask', timestamp: 'drop', data: 'drop' }, { a: 'b', timestamp: 'c' });
    expect(event).toMatchObject({ timestamp: '2026-01-01T00:00:00Z', data: { a: '<:field:>' } });
  });

  it('fail closed: what a policy replaces is not looked into, and what it keeps is', () => {
    const body = Buffer.from('secret');
    expect(dataOf({ body: 'mask' }, { body })).toEqual({ body: '<:body:>' });
    expect(() => dataOf({ body: 'keep' }, { body })).toThrow(/cannot mask a value of type Uint8Array/);
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    process.env.MILLRACE_TEST_FIELDS = 'a key of the tests';
    const hmac = { hmac: { key_env: 'MILLRACE_TEST_FIELDS' } };
    expect(dataOf({ cycle: hmac }, { cycle })).toEqual({
      cycle: expect.stringMatching(/^<:cycle:[0-9a-f]{12}:>$/),
    });
  });

  it('are those of lines of JSON as well, which stay JSON', () => {
    const line = `  {"user": {"email":"not an address", "id": 12345678901234567890} , "debug":{"a":1,"b" : [2]},"ssn":"078\\"05", "n":1.50, "session":"x","${'a'}":"password=Tr0ub4dor&3"}`;
    expect(maskedLine(policies, line)).toBe(
      `  {"user": {"email":"<:email:ess:>", "id": 12345678901234567890} , "debug":{},"ssn":"<:ssn:>", "n":1.50,"a":"password=<:password:>"}`,
    );
    expect(maskedLine(policies, `INFO done {"ssn":1}`)).toBe('INFO done {"ssn":"<:ssn:>"}');
    expect(maskedLine(policies, `[{"session":1},{"session":1,"a":2},{"a":2,"session":1}]`)).toBe(
      '[{},{"a":2},{"a":2}]',
    );
    expect(maskedLine(policies, '{"ssn":1,"ssn":2,"\\u0073sn":3}')).toBe(
      '{"ssn":"<:ssn:>","ssn":"<:ssn:>","\\u0073sn":"<:ssn:>"}',
    );
    // Other text has no fields.
    expect(maskedLine(policies, 'ssn=078 {"ssn":')).toBe('ssn=078 {"ssn":');
    expect(dataOf(policies, { line: '{"ssn":1}' })).toEqual({ line: '{"ssn":"<:ssn:>"}' });
    expect(dataOf({ line: 'mask' }, { line: 'anything' })).toEqual({ line: '<:line:>' });
    expect(maskedLine({ line: 'mask' }, 'anything')).toBe(undefined);
  });

  it('make of lines of JSON what they make of events', () => {
    const key = fc.constantFrom('ssn', 'session', 'user', 'email', 'debug', 'a', 'trace', 'x"y', 'gen_ai.b');
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<unknown>('text', 'é"\\\n', 1, -0.5, true, null),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(key, tie('json'), { maxKeys: 4 }),
      ),
    }));
    const { trace_id: _, ...strict } = policies;
    const { ctx } = processContext(parse(strict));
    fc.assert(
      fc.property(fc.dictionary(key, json, { maxKeys: 4 }), fc.constantFrom(0, 1), (data, indent) => {
        const [event] = plugin.process({ ctx, event: collectedEvent(data, '2026-01-01T00:00:00Z') });
        const written = JSON.stringify(data, null, indent).replaceAll('\n', ' ');
        const [line] = plugin.process({
          ctx,
          event: collectedEvent({ json: written }, '2026-01-01T00:00:00Z'),
        });
        expect(JSON.parse(String(line?.data.json))).toEqual(JSON.parse(JSON.stringify(event?.data)));
      }),
    );
  });
});

describe('createRedactor({ fields, keys })', () => {
  const redactor = createRedactor({
    fields: { 'user.email': { hmac: { key: 'k' } }, 'debug.*': 'drop', trace: 'keep' },
    keys: ['ssn', '*_pin'],
  });

  it('has the same policies, for values of any kind and for text of JSON', () => {
    const value = {
      user: { email: 'x' },
      ssn: 1n,
      card_pin: () => 1,
      debug: { a: 1 },
      trace: SECRET,
      data: { ssn: 1 },
    };
    const email = redactor.redact(value).user.email;
    expect(email).toMatch(/^<:email:[0-9a-f]{12}:>$/);
    expect(redactor.redact(value)).toEqual({
      user: { email },
      ssn: '<:ssn:>',
      card_pin: '<:pin:>',
      debug: {},
      trace: SECRET,
      data: { ssn: '<:ssn:>' },
    });
    const line = '{"user":{"email":"x"},"ssn":1}';
    expect(redactor.redact(line)).toBe(`{"user":{"email":"${email}"},"ssn":"<:ssn:>"}`);
    expect(redactor.redactJson(line)).toBe(redactor.redact(line));
    expect(redactor.redact(redactor.redact(line))).toBe(redactor.redact(line));
    expect(redactor.report().masked['fields:ssn']).toBeGreaterThan(0);
  });

  it('has them in streams, wherever they are cut', () => {
    const line = '{"a":"b","user":{"email":"someone"},"ssn":"078-05"}\n';
    for (let cut = 0; cut <= line.length; cut++) {
      const stream = redactor.stream();
      const text = stream.write(line.slice(0, cut)) + stream.write(line.slice(cut)) + stream.end();
      expect(text).toBe(`${redactor.redact(line.trimEnd())}\n`);
    }
  });

  it('refuses policies that there are not', () => {
    expect(() => createRedactor({ fields: { a: 'hide' as never } })).toThrow(/fields\.a must be 'keep'/);
    expect(() => createRedactor({ keys: 'ssn' as never })).toThrow(TypeError);
  });
});
