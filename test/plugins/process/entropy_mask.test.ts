import { describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import * as plugin from '../../../plugins/process/entropy_mask.ts';
import { PluginError } from '../../../src/sdk/errors.ts';
import { collectedEvent } from '../../../src/sdk/events.ts';
import { deepFreeze } from '../../support/deep-freeze.ts';
import { processContext } from './context.ts';

const KEY = 'qGr4Kd0xT9bLw2Zp5v';
const schema = plugin.get_config_schema();
const parse = (fields: Record<string, unknown> = {}) => schema.parse({ plugin: 'entropy_mask', ...fields });

describe('entropy_mask: configuration', () => {
  it('has the defaults of the specification', () => {
    expect(parse()).toEqual({
      plugin: 'entropy_mask',
      mask_str: 'HIGH-ENTROPY',
      mask_prefix: '<:',
      mask_suffix: ':>',
      h_threshold: 0.9,
      length_threshold: 16,
      delimeter: ' ',
      alphabet: 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=',
    });
  });

  it.each<[string, unknown[], unknown[]]>([
    ['mask_char', ['*', '😀', ' '], ['', '**', 5, null]],
    ['h_threshold', [0, 1, 0.5], [-0.001, 1.001, '0.5']],
    ['length_threshold', [2, 16, 1e6], [1, 1.5, 2.5, 0, -3]],
    ['delimeter', [',', '\t', '😀'], ['', ', ']],
    ['alphabet', ['a', 'aa'], ['']],
    ['mask_str', ['', 'x'], [1]],
    ['delimiter', [], [',']],
  ])('%s takes %j and refuses %j', (field, good, bad) => {
    for (const value of good) expect(schema.safeParse({ plugin: 'p', [field]: value }).success).toBe(true);
    for (const value of bad) expect(schema.safeParse({ plugin: 'p', [field]: value }).success).toBe(false);
  });

  it('has an example that is valid', () => {
    for (const entry of Object.values(load(plugin.example) as object))
      expect(schema.safeParse(entry).success).toBe(true);
  });
});

describe('entropy_mask: process', () => {
  it('masks every field, reports what it masked, and writes to nothing', () => {
    const { ctx, masked } = processContext(parse());
    const event = deepFreeze({
      ...collectedEvent({ keys: [`${KEY} ok ${KEY}`] }, '2026-01-01T00:00:00.000Z'),
      tag: KEY,
    });
    expect(plugin.process({ ctx, event })).toEqual([
      {
        timestamp: '2026-01-01T00:00:00.000Z',
        data: { keys: ['<:HIGH-ENTROPY:> ok <:HIGH-ENTROPY:>'] },
        tag: '<:HIGH-ENTROPY:>',
      },
    ]);
    expect(masked).toEqual([
      ['HIGH-ENTROPY', 2],
      ['HIGH-ENTROPY', 1],
    ]);
    expect(plugin.traits.masks).toBe('strings');
  });

  it('applies its options', () => {
    const { ctx, masked } = processContext(
      parse({ mask_str: 'X', delimeter: ',', mask_prefix: '', mask_suffix: '' }),
    );
    expect(plugin.process({ ctx, event: collectedEvent({ a: `a,${KEY}` }) })[0]?.data).toEqual({ a: 'a,X' });
    expect(masked).toEqual([['X', 1]]);
  });

  it('fails closed, with an error that may be logged', () => {
    const { ctx } = processContext(parse());
    const event = collectedEvent({ m: new Map([[KEY, KEY]]) });
    expect(() => plugin.process({ ctx, event })).toThrow(PluginError);
  });
});
