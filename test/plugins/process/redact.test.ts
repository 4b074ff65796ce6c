import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { Subject } from 'rxjs';
import type { RedactRule } from '../../../operators/masks/redact/redact-rule.ts';
import parser from '../../../plugins/process/parse.ts';
import * as plugin from '../../../plugins/process/redact.ts';
import type { PipelineConfig } from '../../../src/sdk/config.ts';
import { PluginError } from '../../../src/sdk/errors.ts';
import { collectedEvent } from '../../../src/sdk/events.ts';
import { deepFreeze } from '../../support/deep-freeze.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { processContext } from './context.ts';

const folder = tempFolder();
const schema = plugin.get_config_schema();
const KEYS: RedactRule = { match: 'BEGIN[\\s\\S]*?END' };
const parse = (fields: Record<string, unknown> = {}) =>
  schema.parse({ plugin: 'redact', packs: [], rules: { PIN: 'pin-[0-9]+' }, ...fields });
const problems = (fields: Record<string, unknown>) =>
  plugin.checkConfig({ config: parse(fields) }).map(({ path, message, severity = 'error' }) => ({
    at: path.join('.'),
    message,
    severity,
  }));
const refused = (fields: Record<string, unknown>) =>
  schema
    .safeParse({ plugin: 'redact', ...fields })
    .error?.issues.map(({ path, message }) => ({ at: path.join('.'), message }));

const TIME = '2026-01-01T00:00:00.000Z';
function run(fields: Record<string, unknown>, data: Record<string, unknown>) {
  const { ctx, masked } = processContext(parse(fields));
  const events = plugin.process({ ctx, event: deepFreeze(collectedEvent(data, TIME)) });
  return { data: events[0]?.data, count: events.length, masked };
}

describe('redact: configuration', () => {
  it('has the packs of secrets by default, and sees through encodings', () => {
    expect(schema.parse({ plugin: 'redact' })).toEqual({
      plugin: 'redact',
      packs: ['secrets/context', 'secrets/providers', 'secrets/keys'],
      disable: [],
      confidence: 'medium',
      allow: { values: [], keys: [] },
      decode: { json: 2, percent: true, base64: 2 },
      blocks: { lines: 200, timeout: 5 },
      action: { default: 'name' },
      fields: {},
      mode: 'mask',
      rules: {},
    });
  });

  it.each<[string, unknown[], unknown[]]>([
    ['packs', [[], ['secrets/keys'], 'secrets/keys', 'all'], [['secrets/kyes'], 'secrets/kyes']],
    ['confidence', ['high', 'low'], ['none', 1]],
    ['allow', [{ values: ['^a$'] }, { keys: ['a'] }, {}], [{ values: ['('] }, { other: [] }]],
    ['decode', [false, {}, { json: 0 }], [true, { json: 5 }, { percent: 1 }]],
    ['blocks', [false, { lines: 1 }], [true, { lines: 0 }, { timeout: 0 }]],
    ['entropy', [false, {}, { threshold: 0.8 }], [{ length: 1 }, { delimiter: ',' }]],
    [
      'action',
      [{ default: 'name' }, { 'pii/*': { keep_last: 4 } }, { A: { mask_char: '*' } }],
      [{ A: 'drop' }],
    ],
    ['action', [{ A: { hmac: { key_env: 'K' } } }], [{ A: { hmac: { key_env: 'K', length: 4 } } }]],
    [
      'rules',
      [{ A: 'b' }, { A: { match: '(b)', mask: 1, check: { entropy: 3 } } }],
      [{ A: '(' }, { A: { mask: 1 } }],
    ],
    ['rules', [], [JSON.parse('{"__proto__":"a"}'), { A: { match: 'a', chekc: 'card' } }]],
  ])('%s takes %j and refuses %j', (field, good, bad) => {
    for (const value of good) expect(schema.safeParse({ plugin: 'p', [field]: value }).success).toBe(true);
    for (const value of bad) expect(schema.safeParse({ plugin: 'p', [field]: value }).success).toBe(false);
  });

  it('has an example that is valid', () => {
    for (const entry of Object.values(load(plugin.example) as object)) {
      expect(plugin.checkConfig({ config: schema.parse(entry) })).toEqual([]);
    }
  });

  it('refuses rules that cannot work, each at its place', () => {
    expect(refused({ rules: { A: '(a|a?b?)+(?=c)$', B: '(b|b?c?)+(?=d)$' } })).toEqual(
      ['rules.A', 'rules.B'].map((at) => ({ at, message: expect.stringMatching(/could take for ever/) })),
    );
    expect(problems({ rules: { A: { match: '(a)', mask: 2 } } })).toEqual([
      {
        at: 'rules.A',
        severity: 'error',
        message: expect.stringContaining('mask: 2 is not a group of it; it has 1'),
      },
    ]);
    expect(problems({ rules: { A: { match: '()' } } })).toEqual([
      expect.objectContaining({ at: 'rules.A.match', severity: 'warning' }),
    ]);
  });

  it('refuses to disable what is no rule of the packs, with a suggestion', () => {
    const at = (disable: string[]) =>
      plugin.checkConfig({ config: parse({ packs: ['secrets/keys'], disable }) });
    expect(at(['secrets/keys:jwk', 'secrets/keys:p*', '*:age-*'])).toEqual([]);
    const unknown = expect.stringContaining('must name a rule of the packs here (secrets/keys)');
    expect(at(['secrets/keys:jwkk'])).toEqual([
      { path: ['disable', 0], message: unknown, suggestion: 'secrets/keys:jwk' },
    ]);
    expect(at(['jwk'])).toMatchObject([{ suggestion: 'secrets/keys:jwk' }]);
    expect(at(['secret/keys:*'])).toMatchObject([{ suggestion: 'secrets/keys:*' }]);
    expect(at(['secrets/context:password', ''])).toMatchObject([
      { path: ['disable', 0], message: unknown },
      { path: ['disable', 1], message: unknown },
    ]);
    expect(at(['PIN'])).toMatchObject([{ message: expect.stringContaining('remove it from `rules`') }]);
  });

  it('refuses to disable every rule', () => {
    const fields = { packs: ['secrets/keys'], rules: {}, disable: ['*'] };
    expect(problems(fields)).toEqual([
      { at: 'disable', severity: 'error', message: expect.stringContaining('nothing would be masked') },
    ]);
    expect(problems({ ...fields, rules: { PIN: 'pin-[0-9]+' } })).toEqual([]);
    expect(problems({ ...fields, confidence: 'low' })).toEqual([]);
  });

  it('refuses allowed values that are all values, and keys that are none', () => {
    for (const value of [
      '',
      '.*',
      '^',
      '$',
      '.',
      '\\w',
      '^\\S+$',
      '(?i)[a-z0-9]',
      '[a-z]|[A-Z]|[0-9]',
      'x*',
      '[a-z0-9]',
      '[0-9]',
      '^[A-Za-z0-9+/=#!$&._-]+$',
    ]) {
      expect({ value, problems: problems({ allow: { values: ['^a$', value] } }) }).toEqual({
        value,
        problems: [
          {
            at: 'allow.values.1',
            severity: 'error',
            message: expect.stringContaining('this expression matches every value'),
          },
        ],
      });
    }
    const useful = [
      '^build-[0-9]+$',
      '^(?:build-[0-9]+)?$',
      '^[0-9a-f]{32}$',
      '^[0-9]+$',
      '^[a-z]+$',
      'test',
      '^.{1,6}$',
      '^v[0-9.]+',
    ];
    expect(problems({ allow: { values: useful, keys: ['trace_id', 'X-Id'] } })).toEqual([]);
    expect(refused({ allow: { values: ['(a|a?b?)+(?=c)$'] } })).toMatchObject([{ at: 'allow.values.0' }]);
    expect(problems({ allow: { keys: ['', '.*', 'trace_*'] } })).toEqual(
      [0, 1].map((index) => ({
        at: `allow.keys.${index}`,
        severity: 'error',
        message: expect.stringContaining('must have names of keys'),
      })),
    );
  });

  it('searches allowed values anywhere in a value, and between ^ and $ in all of it', () => {
    const lines = (values: string[]) =>
      run(
        { packs: ['secrets/context'], rules: {}, allow: { values } },
        { a: 'password=build-4711 password=build-4711x password="my-build-4711"', password: 'build-4712' },
      ).data;
    expect(lines(['^build-[0-9]+$'])).toEqual({
      a: 'password=build-4711 password=<:password:> password="<:password:>"',
      password: 'build-4712',
    });
    expect(lines(['build-'])).toEqual({
      a: 'password=build-4711 password=build-4711x password="my-build-4711"',
      password: 'build-4712',
    });
  });

  it('refuses actions that name no rule, and warns of no rules', () => {
    expect(problems({ action: { 'P*': 'name', 'high-entropy': 'name', Q: 'name' } })).toEqual([
      { at: 'action.Q', severity: 'error', message: expect.stringContaining('is named Q') },
    ]);
    expect(problems({ rules: {} })).toEqual([expect.objectContaining({ at: 'packs', severity: 'warning' })]);
  });

  it('takes `default` for the default packs', () => {
    const [defaults, more] = [['default'], ['default', 'pii/payment', 'secrets/keys']].map(
      (packs) => schema.parse({ plugin: 'redact', packs }).packs,
    );
    expect(defaults).toEqual(schema.parse({ plugin: 'redact' }).packs);
    expect(more).toEqual([...(defaults ?? []), 'pii/payment']);
  });

  it('refuses an hmac without its key', () => {
    const action = { PIN: { hmac: { key_env: 'MILLRACE_TEST_NO_KEY' } } };
    expect(problems({ action })).toEqual([
      {
        at: 'action.PIN.hmac.key_env',
        severity: 'error',
        message: expect.stringContaining('MILLRACE_TEST_NO_KEY is not set'),
      },
    ]);
  });

  it('says what needs the order of lines, and refuses it in workers', () => {
    const told = (fields: Record<string, unknown>, workers = 2) => {
      const config = parse(fields);
      const place = { name: 'r', config, before: [], after: [], pipeline: { workers } as PipelineConfig };
      const problems = plugin
        .checkPipeline(place)
        .map(({ message }) => message.replace(/, which needs .* or/, ','));
      expect(plugin.traits.needsOrder({ config })).toBe(workers === 1 || problems.length > 0);
      return problems;
    };
    const refused = '`r`, a `redact` processor, cannot run in a worker with';
    expect(told({})).toEqual([expect.stringContaining(`${refused} \`blocks\`, set \`blocks: false\``)]);
    expect(told({ blocks: false })).toEqual([]);
    expect(told({ blocks: false, mode: 'report' })).toEqual([
      `${refused} \`mode: report\`, set \`mode: mask\``,
    ]);
    expect(told({ blocks: false, audit: { path: 'a' } })).toEqual([`${refused} \`audit\`, remove \`audit\``]);
    expect(told({}, 1)).toEqual([]);
  });
});

describe('redact: process', () => {
  it('masks every field, reports what it masked, and writes to nothing', () => {
    const { data, masked } = run({}, { a: ['pin-1', { b: 'x pin-2 pin-3' }], n: 1 });
    expect(data).toEqual({ a: ['<:PIN:>', { b: 'x <:PIN:> <:PIN:>' }], n: 1 });
    expect(masked).toEqual([
      ['PIN', 1],
      ['PIN', 2],
    ]);
  });

  it('masks keys, but not the names of fields of millrace, and loses no value', () => {
    const data = { line: 'a', 'pin-1': 1, '<:PIN:>': 2, x: { 'of pin-2': { 'pin-3': 'pin-4' } }, 'pin-5': 3 };
    const result = run({ rules: { PIN: 'pin-[0-9]+|line' } }, data);
    expect(result.data).toEqual({
      line: 'a',
      '<:PIN:>_2': 1,
      '<:PIN:>': 2,
      x: { 'of <:PIN:>': { '<:PIN:>': '<:PIN:>' } },
      '<:PIN:>_3': 3,
    });
    expect(result.masked).toHaveLength(5);
    // Keys that were clean before, and one that is allowed.
    expect(run({ allow: { keys: ['pin-1'] } }, { 'pin-1': 'pin-1', a: 1 }).data).toEqual({
      'pin-1': 'pin-1',
      a: 1,
    });
    const own = JSON.parse('{"__proto__":{"pin-1":1},"pin-2":2}') as Record<string, unknown>;
    expect(JSON.stringify(run({}, own).data)).toBe('{"__proto__":{"<:PIN:>":1},"<:PIN:>":2}');
  });

  it('masks numbers by rules with a check, behind every key', () => {
    const card = 4111111111111111;
    const data = { n: card, list: [card, 1790000000000], f: 4111111111111111.5, other: 4111111111111112 };
    expect(run({ packs: ['pii/payment'], rules: { DIGITS: '[0-9]+' } }, data).data).toEqual({
      ...data,
      n: '<:card:>',
      list: ['<:card:>', 1790000000000],
    });
    expect(run({ packs: ['pii/payment'], allow: { keys: ['n'] } }, { n: card }).data).toEqual({ n: card });
  });

  it('masks what parse makes of a line: keys, numbers, and words that are no logfmt', () => {
    const key = `AKIA${'Q3ZK7WLMP2XYZT4R'}`;
    const behindParse = (format: string, line: string) => {
      const { data: config } = parser.get_config_schema().safeParse({ plugin: 'parse', format }) as {
        data: unknown;
      };
      const parsed = parser.process({
        ctx: processContext(config as never).ctx as never,
        event: deepFreeze(collectedEvent({ line }, TIME)),
      }) as ReturnType<typeof collectedEvent>[];
      return run({ packs: ['secrets/providers', 'pii/payment', 'pii/contact'] }, parsed[0]?.data ?? {}).data;
    };
    expect(behindParse('json', `{"${key}":{"a":1},"card":4111111111111111}`)).toEqual({
      '<:aws-access-key-id:>': { a: 1 },
      card: '<:card:>',
    });
    expect(behindParse('logfmt', `level=info ${key}=x`)).toEqual({
      level: 'info',
      '<:aws-access-key-id:>': 'x',
    });
    const prose = behindParse('logfmt', `level=info retry with ${key} for bob@corp-mail.net`);
    expect(JSON.stringify(prose)).not.toMatch(/AKIA|bob@/);
  });

  it('masks columns of CSV by their names behind parse', () => {
    const columns = ['time', 'user', 'password', 'api_key'];
    const { data: config } = parser
      .get_config_schema()
      .safeParse({ plugin: 'parse', format: 'csv', columns }) as { data: unknown };
    const [parsed] = parser.process({
      ctx: processContext(config as never).ctx as never,
      event: deepFreeze(
        collectedEvent({ line: '12:00,ada,"river, zephyr 7",q8Zk2mVx7LpR4tYw9BnC3dFg' }, TIME),
      ),
    }) as ReturnType<typeof collectedEvent>[];
    expect(run({ packs: ['secrets/context'] }, parsed?.data ?? {}).data).toEqual({
      time: '12:00',
      user: 'ada',
      password: '<:password:>',
      api_key: '<:token:>',
    });
  });

  it('fails closed: what it cannot look into is an error', () => {
    expect(() => run({}, { a: new Map() })).toThrow(PluginError);
  });

  it('says that a value is too long for an expression, and what to do', () => {
    const tooLong = () => run({ packs: ['secrets/context'] }, { line: `token=${'aB3'.repeat(2 << 20)}` });
    expect(tooLong).toThrow(PluginError);
    expect(tooLong).toThrow(
      /^a value is too long for the expression of a rule; expected at most \d+ MiB, so let its sender split or shorten it; collectors that read lines, .* `max_line_bytes`/,
    );
  });

  it('finds fields by their keys with the rules that find keys in text', () => {
    const data = { dbPassword: 'hunter2', user: 'ada' };
    const masked = { dbPassword: '<:password:>', user: 'ada' };
    expect(run({ packs: ['secrets/context'] }, data).data).toEqual(masked);
    expect(run({ packs: ['secrets/context'], disable: ['secrets/context:password'] }, data).data).toEqual(
      data,
    );
    expect(run({ packs: ['secrets/context'], allow: { keys: ['db_password'] } }, data).data).toEqual(data);
    expect(run({}, data).data).toEqual(data);
  });

  it('replaces values as actions say: the rule itself, then patterns in their order, then default', () => {
    process.env.MILLRACE_TEST_KEY = 'a key of this test';
    const rules = { A1: 'a1\\w*', A2: 'a2\\w*', B: 'b\\w*', C: 'c\\w*' };
    const action = {
      default: { mask_char: '*' },
      'A*': { hmac: { key_env: 'MILLRACE_TEST_KEY', length: 12 } },
      A1: 'name',
      B: { keep_last: 4 },
    };
    const { data } = run({ rules, action }, { t: 'a1x a2x a2x a2y b123 b2345678 b2345678901234567 c12' });
    const [one, two, three, four, ...rest] = String(data?.t).split(' ');
    expect(one).toBe('<:A1:>');
    expect(two).toMatch(/^<:A2:[0-9a-f]{12}:>$/);
    expect([three === two, four === two]).toEqual([true, false]);
    expect(rest).toEqual(['<:B:3:>', '<:B:78:>', '<:B:4567:>', '***']);
    delete process.env.MILLRACE_TEST_KEY;
  });

  it('follows blocks through the lines of a source, in events as well', () => {
    const block = { contains: 'BEGIN', start: 'BEGIN', end: 'END' };
    const rules = { KEY: { ...KEYS, block }, PIN: 'pin-[0-9]+' };
    const config = { ...parse(), rules } as never;
    const { ctx } = processContext(config as ReturnType<typeof parse>);
    const line = (text: string, source = 'a.log', more = {}) =>
      plugin.process({ ctx, event: collectedEvent({ line: text, source, ...more }, TIME) })[0]?.data;
    expect(line('x pin-1')).toEqual({ line: 'x <:PIN:>', source: 'a.log' });
    expect(line('y pin-2 BEGIN')).toEqual({ line: 'y <:PIN:> <:KEY:>', source: 'a.log' });
    expect(line('other', 'b.log')).toEqual({ line: 'other', source: 'b.log' });
    expect(line('body', 'a.log', { more: 'pin-3' })).toEqual({
      line: '<:KEY:>',
      source: 'a.log',
      more: '<:PIN:>',
    });
    expect(line('END z')).toEqual({ line: '<:KEY:> z', source: 'a.log' });
    expect(line('z')).toEqual({ line: 'z', source: 'a.log' });
  });

  it('masks with `blocks: false` a key in one string, and only the first line of a key whose lines are events', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trimEnd();
    const { ctx } = processContext(schema.parse({ plugin: 'redact', blocks: false }));
    const masked = (line: string) =>
      plugin.process({ ctx, event: collectedEvent({ line }, TIME) })[0]?.data.line;
    const [first = '', ...others] = key.split('\n');
    expect(masked(key)).toBe('<:private-key:>');
    expect(masked(first)).toBe('<:private-key:>');
    expect(others.map(masked)).toEqual(others);
  });
});

describe('redact behind parse', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trimEnd();
  const container = ['starting', ...`loaded ${key}`.split('\n'), 'password=hunter2-q9', 'ready'];
  const M = '<:private-key:>';
  const wanted = [
    'starting',
    `loaded ${M}`,
    ...key
      .split('\n')
      .slice(1)
      .map(() => M),
  ];

  /** The data of each line behind `parse` and the default packs. */
  function parsedAndMasked(format: string, lines: readonly string[], source: string | undefined) {
    const parsing = parser.get_config_schema().safeParse({ plugin: 'parse', format });
    const { ctx: first } = processContext(parsing.success && parsing.data);
    const { ctx } = processContext(schema.parse({ plugin: 'redact' }));
    return lines.map((line) => {
      const event = collectedEvent({ line, ...(source !== undefined && { source }) }, TIME);
      const [parsed] = parser.process({ ctx: first as never, event }) as [typeof event];
      return plugin.process({ ctx, event: parsed })[0]?.data as Record<string, unknown>;
    });
  }

  it('masks every line of a key in the logs of Kubernetes', () => {
    const lines = container.map((line) => `2026-01-01T00:00:00.5Z stdout F ${line}`);
    const masked = parsedAndMasked('cri', lines, '/var/log/pods/a/0.log');
    expect(masked.map(({ line }) => line)).toEqual([...wanted, 'password=<:password:>', 'ready']);
  });

  it.each(['/var/lib/docker/containers/a.log', undefined])(
    'masks every line of a key in the logs of Docker',
    (source) => {
      const lines = container.map((log) => JSON.stringify({ log: `${log}\n`, stream: 'stdout', time: TIME }));
      const masked = parsedAndMasked('json', lines, source);
      const logs = [...wanted, 'password=<:password:>', 'ready'].map((line) => `${line}\n`);
      expect(masked.map(({ log }) => log)).toEqual(logs);
      expect(masked.every(({ stream }) => stream === 'stdout')).toBe(true);
    },
  );

  it('masks the rest of a key at the start of a source, and no hash of every event', () => {
    const body = key.split('\n').slice(3, 6);
    const hash = { digest: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9' };
    const lines = [...body, 'ready'].map((message) => JSON.stringify({ message, ...hash }));
    const masked = parsedAndMasked('json', lines, 'b.log');
    const fragment = '<:key-fragment:>';
    expect(masked.map(({ message }) => message)).toEqual([fragment, fragment, fragment, 'ready']);
    expect(masked.every(({ digest }) => digest === hash.digest)).toBe(true);
  });

  it('masks a key in one string, with newlines or what stands for them', () => {
    const texts = [`a ${key} b`, `a ${key.replaceAll('\n', '\\n')} b`, `a ${key.slice(0, 400)}`];
    const lines = texts.map((text, i) => JSON.stringify({ config: { [`tls${i}`]: text } }));
    const masked = parsedAndMasked('json', lines, 'c.log').map(
      ({ config }) => Object.values(config as object)[0],
    );
    expect(masked).toEqual([`a ${M} b`, `a ${M} b`, `a ${M}`]);
  });

  it('masks a key in a list of lines', () => {
    const [masked] = parsedAndMasked('json', [JSON.stringify({ lines: container })], 'd.log');
    expect(masked?.lines).toEqual([...wanted, 'password=<:password:>', 'ready']);
  });
});

describe('redact: audit and report', () => {
  it('writes where values were, and no content', () => {
    const path = join(folder('audit'), 'deep', 'audit.jsonl');
    const { ctx } = processContext(parse({ audit: { path } }));
    const base64 = Buffer.from('what is my pin-5?').toString('base64');
    const event = collectedEvent({ line: `a pin-12 ${base64}`, source: 'a.log' }, TIME);
    expect(plugin.process({ ctx, event })[0]?.data).toEqual({ line: 'a <:PIN:> <:PIN:>', source: 'a.log' });
    plugin.process({ ctx, event: collectedEvent({ ok: 'nothing' }, TIME) });
    const text = readFileSync(path, 'utf8');
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((row) => JSON.parse(row)),
    ).toEqual([
      { timestamp: expect.any(String), rule: 'PIN', file: 'a.log', field: 'line', offset: 2, length: 6 },
      {
        timestamp: expect.any(String),
        rule: 'PIN',
        file: 'a.log',
        field: 'line',
        offset: 9,
        length: base64.length,
      },
    ]);
    expect(text).not.toMatch(/pin-|nothing/);
  });

  it('names the field of each value as `fields` does, and no key that may be content', () => {
    const path = join(folder('audit-fields'), 'audit.jsonl');
    const fields = { '*.ssn': 'mask', 'debug.*': 'drop' };
    const { ctx } = processContext(parse({ packs: 'all', audit: { path }, fields }));
    const mail = 'ada@example.org';
    const data = {
      user: { mail, tags: ['a', mail], ssn: 1, [mail]: { note: 'pin-7' }, 4711: { pin: 'pin-8' } },
      data: { card: 4111111111111111 },
      debug: { x: { y: 1 } },
      line: '{"ssn":"078"}',
    };
    plugin.process({ ctx, event: collectedEvent(data, TIME) });
    const envelope = { timestamp: TIME, source: 'b.log', backfill: true, isTruncated: false };
    plugin.mapLines({ ctx, envelope })?.map('pin-9 {"ssn":1}');
    const text = readFileSync(path, 'utf8');
    const found = text
      .trimEnd()
      .split('\n')
      .map((row) => JSON.parse(row));
    expect(found.map(({ rule, field }) => `${rule.replace(/.*:/, '')} ${field}`).sort()).toEqual(
      [
        ...['card data.card', 'email user.mail', 'email user.tags', 'email undefined', 'ssn user.ssn'],
        ...['PIN user.*.note', 'PIN user.*.pin', 'debug debug.x', 'ssn line', 'ssn line', 'PIN line'],
      ].sort(),
    );
    expect(text).not.toMatch(/ada|4711|4111|078|pin-\d/);
  });

  it.each(['a file', 'nothing'])('writes no audit through a symbolic link to %s', (target) => {
    const other = join(folder(`audit-link-${target.length}`), 'other');
    const path = `${other}.link`;
    mkdirSync(dirname(other), { recursive: true });
    if (target === 'a file') writeFileSync(other, 'theirs');
    symlinkSync(other, path);
    const { ctx } = processContext(parse({ audit: { path } }));
    const event = collectedEvent({ line: 'pin-1' }, TIME);
    expect(() => plugin.process({ ctx, event })).toThrow('it is a symbolic link, and none is followed');
    expect(existsSync(other) && readFileSync(other, 'utf8')).toBe(target === 'a file' && 'theirs');
  });

  it('reopens the audit when the next finding is written, which fails where none can be', () => {
    const path = join(folder('audit-reopen'), 'audit.jsonl');
    const reopen$ = new Subject<void>();
    const { ctx } = processContext(parse({ audit: { path } }));
    const reopening = { ...ctx, reopen$ };
    const event = collectedEvent({ line: 'pin-1' }, TIME);
    const found = () => plugin.process({ ctx: reopening, event });
    found();
    rmSync(path);
    symlinkSync('/dev/null', path);
    reopen$.next();
    reopen$.next();
    expect(found).toThrow('it is a symbolic link, and none is followed');
    rmSync(path);
    found();
    expect(readFileSync(path, 'utf8')).toContain('"rule":"PIN"');
  });

  it('in mode report forwards nothing, counts, and logs places', () => {
    const { ctx, masked } = processContext(parse({ mode: 'report' }));
    const logged: string[] = [];
    const logger = { ...ctx.logger, info: (message: string) => void logged.push(message) };
    const reporting = { ...ctx, logger };
    const event = collectedEvent({ line: 'a pin-12', source: 'a.log' }, TIME);
    expect(plugin.process({ ctx: reporting, event })).toEqual([]);
    expect(masked).toEqual([['PIN', 1]]);
    expect(logged).toEqual(['found PIN in a.log: 6 characters at offset 2']);
    const envelope = { timestamp: TIME, source: 'b.log', backfill: true, isTruncated: false };
    const mapping = plugin.mapLines({ ctx: reporting, envelope });
    expect(mapping?.map('pin-1')).toBeUndefined();
    expect(logged).toHaveLength(2);
  });
});
