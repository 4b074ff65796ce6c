import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import type { RedactRule } from '../../../operators/masks/redact/redact-rule.ts';
import * as plugin from '../../../plugins/process/redact.ts';
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
      mode: 'mask',
      rules: {},
    });
  });

  it.each<[string, unknown[], unknown[]]>([
    ['packs', [[], ['secrets/keys']], [['secrets/kyes'], 'secrets/keys']],
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
    expect(problems({ rules: { A: '(a|a?b?)+(?=c)$' } })).toEqual([
      expect.objectContaining({ at: 'rules.A', severity: 'error' }),
    ]);
    expect(problems({ rules: { A: { match: '(a)', mask: 2 } } })).toEqual([
      {
        at: 'rules.A',
        severity: 'error',
        message: expect.stringContaining('mask: 2 is not a group of it; it has 1'),
      },
    ]);
    expect(problems({ rules: { A: { match: 'a', check: 'crad' } } })).toEqual([
      { at: 'rules.A.check', severity: 'error', message: expect.stringContaining('there is no check crad') },
    ]);
    expect(problems({ rules: { A: { match: '()' } } })).toEqual([
      expect.objectContaining({ at: 'rules.A.match', severity: 'warning' }),
    ]);
  });

  it('warns of names that name no rule, and of no rules', () => {
    expect(problems({ disable: ['PIN', 'PNI'], action: { 'P*': 'name', Q: 'name' } })).toEqual([
      { at: 'disable.1', severity: 'warning', message: expect.stringContaining('is named PNI') },
      { at: 'action.Q', severity: 'warning', message: expect.stringContaining('is named Q') },
    ]);
    expect(problems({ rules: {} })).toEqual([expect.objectContaining({ at: 'packs', severity: 'warning' })]);
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

  it('says what needs the order of lines', () => {
    const needed = (fields: Record<string, unknown>) => plugin.needsOrder({ config: parse(fields) });
    expect(needed({})).toBe('blocks');
    expect(needed({ blocks: false })).toBeUndefined();
    expect(needed({ blocks: false, mode: 'report' })).toBe('mode: report');
    expect(needed({ blocks: false, audit: { path: 'a' } })).toBe('audit');
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

  it('fails closed: what it cannot look into is an error', () => {
    expect(() => run({}, { a: new Map() })).toThrow(PluginError);
  });

  it('masks fields with secret keys if the pack of secrets by context is on', () => {
    const data = { dbPassword: 'hunter2', user: 'ada' };
    expect(run({ packs: ['secrets/context'] }, data).data).toEqual({
      ...data,
      dbPassword: '<:secret-field:>',
    });
    const disable = ['secrets/context:secret-field'];
    expect(run({ packs: ['secrets/context'], disable }, { dbPassword: 'x y' }).data).toEqual({
      dbPassword: 'x y',
    });
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
      { timestamp: expect.any(String), rule: 'PIN', file: 'a.log', offset: 2, length: 6 },
      { timestamp: expect.any(String), rule: 'PIN', file: 'a.log', offset: 9, length: base64.length },
    ]);
    expect(text).not.toMatch(/pin-|nothing/);
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
