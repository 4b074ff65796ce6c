import { describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { z } from 'zod';
import * as plugin from '../../../plugins/process/regex_mask.ts';
import { PluginError } from '../../../src/sdk/errors.ts';
import { collectedEvent } from '../../../src/sdk/events.ts';
import { deepFreeze } from '../../support/deep-freeze.ts';
import { processContext } from './context.ts';

const schema = plugin.get_config_schema();
const parse = (fields: Record<string, unknown>) => schema.parse({ plugin: 'regex_mask', ...fields });
const issues = (fields: unknown) =>
  schema.safeParse(fields).error?.issues.map(({ path, message }) => ({ path, message }));

describe('regex_mask: configuration', () => {
  it('has the defaults of the specification', () => {
    expect(parse({ rules: {} })).toEqual({
      plugin: 'regex_mask',
      rules: {},
      mask_prefix: '<:',
      mask_suffix: ':>',
    });
  });

  it('names each rule that is no expression, with the reason', () => {
    expect(issues({ plugin: 'p', rules: { OK: 'a', A: '(', B: '[b-a]' } })).toEqual([
      { path: ['rules', 'A'], message: 'a valid regular expression (Unterminated group)' },
      { path: ['rules', 'B'], message: 'a valid regular expression (Range out of order in character class)' },
    ]);
  });

  it('refuses a rule named __proto__, which would be lost', () => {
    const fields = JSON.parse('{"plugin":"p","rules":{"__proto__":"a"}}');
    expect(issues(fields)).toEqual([{ path: ['rules', '__proto__'], message: 'another name for this rule' }]);
  });

  it.each([
    { plugin: 'p' },
    { plugin: 'p', rules: { A: 5 } },
    { plugin: 'p', rules: [] },
    { plugin: 'p', rules: null },
  ])('refuses %j', (fields) => expect(schema.safeParse(fields).success).toBe(false));

  it.each(['', 'ab', '😀😀'])('refuses %p as mask_char', (mask_char) => {
    expect(schema.safeParse({ plugin: 'p', rules: {}, mask_char }).success).toBe(false);
  });

  it('has rules in its JSON Schema, required', () => {
    expect(z.toJSONSchema(schema, { io: 'input' })).toMatchObject({
      required: ['plugin', 'rules'],
      properties: { rules: { type: 'object', additionalProperties: { type: 'string' } } },
    });
  });

  it('has an example that is valid', () => {
    for (const entry of Object.values(load(plugin.example) as object)) expect(issues(entry)).toBeUndefined();
  });
});

describe('regex_mask: process', () => {
  it('masks every field, reports what it masked, and writes to nothing', () => {
    const { ctx, masked } = processContext(parse({ rules: { PIN: '\\d{4}', A: 'a' } }));
    const event = deepFreeze({
      ...collectedEvent({ pins: '1234 1234', n: 1234 }, '2026-01-01T00:00:00.000Z'),
      tag: 'a',
    });
    expect(plugin.process({ ctx, event })).toEqual([
      { timestamp: '2026-01-01T00:00:00.000Z', data: { pins: '<:PIN:> <:PIN:>', n: 1234 }, tag: '<:A:>' },
    ]);
    expect(masked).toEqual([
      ['PIN', 2],
      ['A', 1],
    ]);
    expect(plugin.traits.masks).toBe('strings');
  });

  it('uses mask_char', () => {
    const { ctx } = processContext(parse({ rules: { PIN: '\\d{4}' }, mask_char: '#' }));
    expect(plugin.process({ ctx, event: collectedEvent({ a: '1234' }, 't') })[0]?.data).toEqual({
      a: '####',
    });
  });

  it('keeps contexts apart that share a configuration', () => {
    const config = parse({ rules: { A: 'a' } });
    const [one, two] = [processContext(config), processContext(config)];
    plugin.process({ ctx: one.ctx, event: collectedEvent({ a: 'a' }) });
    plugin.process({ ctx: two.ctx, event: collectedEvent({ a: 'aa' }) });
    expect([one.masked, two.masked]).toEqual([[['A', 1]], [['A', 2]]]);
  });

  it('fails closed, with an error that may be logged', () => {
    const { ctx } = processContext(parse({ rules: { A: 'secret' } }));
    const attempt = () => plugin.process({ ctx, event: collectedEvent({ blob: Buffer.from('secret') }) });
    expect(attempt).toThrow(PluginError);
    expect(attempt).toThrow('type Uint8Array (at data.*)');
  });
});
