import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import * as beacons from '../../plugins/collect/beacons.ts';
import * as file from '../../plugins/collect/file.ts';
import * as hostExec from '../../plugins/collect/host_exec.ts';
import * as testCollect from '../../plugins/collect/test.ts';
import * as disk from '../../plugins/forward/disk.ts';
import * as noop from '../../plugins/forward/noop.ts';
import * as testForward from '../../plugins/forward/test.ts';
import * as entropyMask from '../../plugins/process/entropy_mask.ts';
import * as regexMask from '../../plugins/process/regex_mask.ts';
import * as testProcess from '../../plugins/process/test.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import {
  AnalyticsConfigShape,
  CollectConfigBase,
  ForwardConfigBase,
  PipelineConfig,
  ProcessConfigBase,
} from '../../src/sdk/config.ts';
import type { PipelineRunContext } from '../../src/sdk/context.ts';
import { defineProcessor } from '../../src/sdk/define-plugin.ts';
import { BeaconCollectedEvent, CollectedEvent, CollectedLineEvent, HostEvent } from '../../src/sdk/events.ts';
import type { ConfigSchema } from '../../src/sdk/plugin.ts';
import { testPipeline } from '../../src/testing/index.ts';
import { parseNow } from '../support/parse-now.ts';

// The tables of SPEC sections 2 and 8, typed from the page. A row is a line of it:
// [field, type, required, default (NONE if the page has none), bounds].
const NONE = Symbol('no default');
const LARGEST = 9223372036854775807n;

type Type =
  | 'string'
  | 'path'
  | 'date-time'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'object'
  | 'strings'
  | 'anys';
type Bound = {
  above?: number;
  below?: bigint;
  atLeast?: number;
  atMost?: number;
  length?: number;
  minLength?: number;
};
type Row = readonly [field: string, type: Type, required: boolean, fallback: unknown, bound?: Bound];
type Table = readonly [
  section: string,
  schema: ConfigSchema,
  valid: Record<string, unknown>,
  rows: readonly Row[],
];

const STAMP = '2026-01-02T03:04:05.000Z';
const plugin: Row = ['plugin', 'string', true, NONE];

const TABLES: readonly Table[] = [
  [
    '2.1 AnalyticsConfig',
    AnalyticsConfigShape,
    { collectors: {}, forwarders: {}, pipelines: {}, host_config: {} },
    [
      ['collectors', 'object', true, NONE],
      ['processors', 'object', false, NONE],
      ['forwarders', 'object', true, NONE],
      ['pipelines', 'object', true, NONE],
      ['host_config', 'object', true, NONE],
    ],
  ],
  [
    '2.2 PipelineConfig',
    PipelineConfig,
    { collect: ['c'], forward: ['f'] },
    [
      ['collect', 'strings', true, NONE],
      ['process', 'strings', false, NONE],
      ['forward', 'strings', true, NONE],
      ['enabled', 'boolean', false, true],
      ['restart', 'boolean', false, true],
    ],
  ],
  ['2.3 CollectConfigBase', CollectConfigBase, { plugin: 'p' }, [plugin]],
  ['2.3 ProcessConfigBase', ProcessConfigBase, { plugin: 'p' }, [plugin]],
  ['2.3 ForwardConfigBase', ForwardConfigBase, { plugin: 'p' }, [plugin]],
  [
    '2.4 CollectedEvent',
    CollectedEvent,
    { data: {} },
    [
      ['data', 'object', true, NONE],
      ['timestamp', 'date-time', false, expect.stringMatching(/Z$/)],
    ],
  ],
  [
    '2.5 HostEvent',
    HostEvent,
    { tag: 't', stamp: STAMP, data: {}, raw_data: {} },
    [
      ['tag', 'string', true, NONE],
      ['stamp', 'date-time', true, NONE],
      ['data', 'object', true, NONE],
      ['raw_data', 'object', true, NONE],
    ],
  ],
  [
    '2.7 BeaconsConfig',
    beacons.get_config_schema(),
    { plugin: 'beacons', beacons: ['b'] },
    [plugin, ['beacons', 'strings', true, NONE]],
  ],
  [
    '2.7 BeaconCollectedEvent',
    BeaconCollectedEvent,
    { data: {}, beacon: 'b', tag: 't', stamp: STAMP, raw_data: {} },
    [
      ['data', 'object', true, NONE],
      ['beacon', 'string', true, NONE],
      ['tag', 'string', true, NONE],
      ['stamp', 'date-time', true, NONE],
      ['raw_data', 'object', true, NONE],
      ['timestamp', 'date-time', false, expect.stringMatching(/Z$/)],
    ],
  ],
  [
    '2.7 FileCollectConfig',
    file.get_config_schema(),
    { plugin: 'file', paths: ['/var/log/a'] },
    [plugin, ['paths', 'strings', true, NONE], ['backfill', 'boolean', false, false]],
  ],
  [
    '2.7 CollectedLineEvent',
    CollectedLineEvent,
    { data: { line: '', source: '/a' } },
    [
      ['data', 'object', true, NONE],
      ['backfill', 'boolean', false, false],
    ],
  ],
  [
    '2.7 CollectedLineEvent.data',
    CollectedLineEvent.shape.data,
    { line: '', source: '/a' },
    [
      ['line', 'string', true, NONE],
      ['source', 'path', true, NONE],
    ],
  ],
  [
    '2.7 and 8 TestCollectConfig',
    testCollect.get_config_schema(),
    { plugin: 'test' },
    [
      plugin,
      ['interval', 'number', false, 0.1, { above: 0 }],
      ['count', 'integer', false, LARGEST, { above: 0, below: LARGEST }],
    ],
  ],
  [
    '2.7 HostExecConfig',
    hostExec.get_config_schema(),
    { plugin: 'host_exec' },
    [
      plugin,
      ['interval', 'number', false, 5],
      ['fn', 'string', false, 'test.ping'],
      ['args', 'anys', false, []],
      ['kwargs', 'object', false, {}],
    ],
  ],
  [
    '2.8 and 8 TestProcessConfig',
    testProcess.get_config_schema(),
    { plugin: 'test' },
    [
      plugin,
      ['delay', 'number', false, NONE, { above: 0 }],
      ['delay_range', 'object', false, null],
      ['child_events_count', 'integer', false, NONE, { above: 0, below: LARGEST }],
    ],
  ],
  [
    '2.8 DelayRange',
    testProcess.DelayRange,
    { minimum: 1, maximum: 10 },
    [
      ['minimum', 'number', true, NONE],
      ['maximum', 'number', true, NONE],
    ],
  ],
  [
    '2.8 and 8 RegexMaskProcessConfig',
    regexMask.get_config_schema(),
    { plugin: 'regex_mask', rules: { EMAIL: '\\S+@\\S+' } },
    [
      plugin,
      ['rules', 'object', true, NONE],
      ['mask_char', 'string', false, NONE, { length: 1 }],
      ['mask_prefix', 'string', false, '<:'],
      ['mask_suffix', 'string', false, ':>'],
    ],
  ],
  [
    '2.8 and 8 EntropyMaskProcessConfig',
    entropyMask.get_config_schema(),
    { plugin: 'entropy_mask' },
    [
      plugin,
      ['mask_str', 'string', false, 'HIGH-ENTROPY'],
      ['mask_char', 'string', false, NONE, { length: 1 }],
      ['mask_prefix', 'string', false, '<:'],
      ['mask_suffix', 'string', false, ':>'],
      ['h_threshold', 'number', false, 0.9, { atLeast: 0, atMost: 1 }],
      ['length_threshold', 'integer', false, 16, { above: 1 }],
      ['delimeter', 'string', false, ' ', { length: 1 }],
      [
        'alphabet',
        'string',
        false,
        'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=',
        { minLength: 1 },
      ],
    ],
  ],
  [
    '2.9 DiskConfig',
    disk.get_config_schema(),
    { plugin: 'disk', path: '/out' },
    [
      plugin,
      ['path', 'path', true, NONE],
      ['filename', 'string', false, NONE],
      ['pretty_print', 'boolean', false, false],
    ],
  ],
  ['2.9 noop', noop.get_config_schema(), { plugin: 'noop' }, [plugin]],
  [
    '2.9 TestForwardConfig',
    testForward.get_config_schema(),
    { plugin: 'test' },
    [
      plugin,
      ['sleep', 'number', false, 0.0],
      ['path', 'path', false, NONE],
      ['message', 'string', false, NONE],
      ['dump_event', 'boolean', false, false],
      ['add_event_to_shared_cache', 'boolean', false, false],
    ],
  ],
];

/** Values of each type, and values that are not of it. */
const VALUES: Readonly<Record<Type, readonly [good: readonly unknown[], bad: readonly unknown[]]>> = {
  string: [['a'], [1, true, null, ['a'], {}]],
  path: [
    ['/a', 'a/b'],
    [1, true, null, ['a'], {}, ''],
  ],
  'date-time': [
    [STAMP, '2026-01-02T03:04:05'],
    ['yesterday', 1, null, '2026-02-30T00:00:00Z'],
  ],
  number: [
    [1, 2.5],
    ['1', true, null, [], Number.NaN],
  ],
  integer: [
    [2, 17],
    [2.5, '2', true, null, []],
  ],
  boolean: [
    [true, false],
    ['true', 'yes', 0, 1, null],
  ],
  // What an object must hold differs: the field's own valid value is taken.
  object: [[], ['a', 1, null, [], true]],
  strings: [
    [['a'], ['a', 'b']],
    [1, null, [1], {}, [null]],
  ],
  anys: [
    [[], [1, 'a', null, {}]],
    ['a', 1, null, {}],
  ],
};

/** Fields where a value of the right type must mean something: any number would not do. */
const OWN_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  h_threshold: [0.5, 1],
  mask_char: ['*'],
  delimeter: [','],
  minimum: [1, 2.5],
  maximum: [10, 22.5],
  delay_range: [{ minimum: 1, maximum: 2 }, null],
};

/** DelayRange is an object by the page, and null by its default. */
const NULLABLE = new Set(['delay_range']);

describe.each(TABLES)('SPEC %s', (_section, schema, valid, rows) => {
  const accepts = (change: Record<string, unknown>) => schema.safeParse({ ...valid, ...change }).success;
  const parsed = () => {
    const result = schema.safeParse(valid);
    if (!result.success) throw new Error(JSON.stringify(result.error.issues));
    return result.data as Record<string, unknown>;
  };
  const without = (field: string) =>
    Object.fromEntries(Object.entries(valid).filter(([key]) => key !== field));

  it('has no other required field', () => {
    const required = rows.filter((row) => row[2]).map((row) => row[0]);
    const only = Object.fromEntries(Object.entries(valid).filter(([key]) => required.includes(key)));
    expect(schema.safeParse(only).success).toBe(true);
  });

  describe.each(rows)('%s: %s', (field, type, required, fallback, bound = {}) => {
    it(required ? 'is required' : 'is not required', () => {
      expect(schema.safeParse(without(field)).success).toBe(!required);
    });

    if (!required) {
      it('has its default', () => {
        const found = parsed()[field];
        if (fallback === NONE) expect(found).toBeUndefined();
        else if (fallback === LARGEST) expect(found).toBe(Number(LARGEST));
        else expect(found).toEqual(fallback);
      });
    }

    const [good, bad] = VALUES[type];
    const taken = OWN_VALUES[field] ?? (type === 'object' ? [valid[field] ?? {}] : good);
    it.each(taken.map((value) => [value]))('takes %j', (value) => {
      expect(accepts({ [field]: value })).toBe(true);
    });
    const refused = bad.filter((value) => !(value === null && NULLABLE.has(field)));
    it.each(refused.map((value) => [value]))('refuses %j', (value) => {
      expect(accepts({ [field]: value })).toBe(false);
    });

    const inside: unknown[] = [];
    const outside: unknown[] = [];
    if (bound.above !== undefined) {
      const step = type === 'integer' ? 1 : Number.MIN_VALUE;
      inside.push(bound.above + step);
      outside.push(bound.above, bound.above - 1);
    }
    if (bound.below !== undefined) {
      // The number before 2^63 that JavaScript has.
      inside.push(Number(bound.below) - 1024);
      outside.push(Number(bound.below), Number.POSITIVE_INFINITY);
    }
    if (bound.atLeast !== undefined) {
      inside.push(bound.atLeast);
      outside.push(bound.atLeast - 1e-9);
    }
    if (bound.atMost !== undefined) {
      inside.push(bound.atMost);
      outside.push(bound.atMost + 1e-9);
    }
    if (bound.length !== undefined) {
      inside.push('x'.repeat(bound.length), '😀');
      outside.push('', 'x'.repeat(bound.length + 1));
    }
    if (bound.minLength !== undefined) {
      inside.push('x'.repeat(bound.minLength));
      outside.push('x'.repeat(bound.minLength - 1));
    }
    if (inside.length > 0) {
      it.each(inside)('has %j inside its bounds', (value) => {
        expect(accepts({ [field]: value })).toBe(true);
      });
      it.each(outside)('has %j outside its bounds', (value) => {
        expect(accepts({ [field]: value })).toBe(false);
      });
    }
  });
});

describe('SPEC 2, objects of a given shape', () => {
  const rules = (value: unknown) =>
    regexMask.get_config_schema().safeParse({ plugin: 'regex_mask', rules: value }).success;
  const range = (value: unknown) =>
    testProcess.get_config_schema().safeParse({ plugin: 'test', delay_range: value }).success;
  const entries = (key: string, value: unknown) =>
    AnalyticsConfigShape.safeParse({
      collectors: {},
      forwarders: {},
      pipelines: {},
      host_config: {},
      [key]: value,
    }).success;

  it('2.1: names lead to plugin configurations and pipelines; host_config is free', () => {
    for (const key of ['collectors', 'processors', 'forwarders']) {
      expect(entries(key, { a: { plugin: 'p', any: 1 } })).toBe(true);
      expect(entries(key, { a: {} })).toBe(false);
      expect(entries(key, { a: 'p' })).toBe(false);
    }
    expect(entries('pipelines', { a: { collect: ['c'], forward: ['f'] } })).toBe(true);
    expect(entries('pipelines', { a: { collect: ['c'] } })).toBe(false);
    expect(entries('host_config', { a: [{ b: null }] })).toBe(true);
  });

  it('2.8: rules are object: string -> string', () => {
    expect(rules({})).toBe(true);
    expect(rules({ A: 'a', B: 'b' })).toBe(true);
    for (const value of [{ A: 1 }, { A: null }, { A: ['a'] }, ['a']]) expect(rules(value)).toBe(false);
  });

  it('2.8: delay_range is a DelayRange', () => {
    expect(range({ minimum: 1, maximum: 2 })).toBe(true);
    for (const value of [{ minimum: 1 }, { maximum: 1 }, { minimum: '1', maximum: 2 }, {}]) {
      expect(range(value)).toBe(false);
    }
  });

  it('2.9: noop has the base only', () => {
    expect(noop.get_config_schema().safeParse({ plugin: 'noop', x: 1 }).success).toBe(false);
  });

  it('2.7 and 8: the largest count is exact in the tables and 2^63 in JavaScript', () => {
    expect(Number(LARGEST)).toBe(2 ** 63);
    const schema = z.toJSONSchema(testCollect.get_config_schema(), { io: 'input', unrepresentable: 'any' });
    expect(schema.properties?.count).toMatchObject({ exclusiveMinimum: 0, exclusiveMaximum: 2 ** 63 });
  });
});

describe('SPEC 2.6 PipelineRunContext', () => {
  it('has the configuration, both caches and the AnalyticsConfig, read-only', async () => {
    const config = await parseConfig({
      collectors: { ticks: { plugin: 'test', count: 1 } },
      processors: { look: { plugin: 'look', word: 'a' } },
      forwarders: { out: { plugin: 'noop' } },
      pipelines: { main: { collect: 'ticks', process: 'look', forward: 'out' } },
      host_config: {},
    });
    await testPipeline(config, { collect: { ticks: { marbles: 'a|' } } });
    const [ctx] = contexts;
    expect(ctx).toMatchObject({ config: { plugin: 'look', word: 'a' }, cache: {}, shared_cache: {} });
    expect(ctx?.pipeline_config).toEqual(config);
    expect(ctx?.config.parent).toBe(ctx?.pipeline_config);
    expect(() => Object.assign(ctx ?? {}, { pipeline_config: {} })).toThrow(TypeError);
  });

  const contexts: PipelineRunContext[] = [];
  beforeAll(() => {
    const look = defineProcessor({
      schema: ProcessConfigBase.extend({ word: z.string() }),
      process({ ctx, event }) {
        contexts.push(ctx);
        return event;
      },
    });
    registerPlugin('process', 'look', look);
  });
  afterAll(() => void unregisterPlugin('process', 'look'));
});

describe('SPEC 2, all models', () => {
  const config = () =>
    parseNow({
      _note: 'private',
      collectors: { ticks: { plugin: 'test', _note: 'private' } },
      processors: { slow: { plugin: 'test', delay_range: { minimum: 1, maximum: 2, _note: 'private' } } },
      forwarders: { out: { plugin: 'noop' } },
      pipelines: { main: { collect: 'ticks', process: ['slow'], forward: ['out'], _note: 'private' } },
      host_config: { nested: { list: [1] } },
    });

  const objects = (value: unknown): object[] =>
    typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(objects)] : [];

  it('are immutable, at every depth', () => {
    const all = objects(config());
    expect(all.length).toBeGreaterThan(12);
    expect(all.filter((value) => !Object.isFrozen(value))).toEqual([]);
    expect(() => Object.assign(config().host_config, { x: 1 })).toThrow(TypeError);
  });

  it('treat underscore-prefixed attributes as private', () => {
    expect(JSON.stringify(config())).not.toContain('_note');
  });

  it('2.3: parent is read-only and returns the AnalyticsConfig', () => {
    const parsed = config();
    for (const entry of [parsed.collectors.ticks, parsed.processors.slow, parsed.forwarders.out]) {
      expect(entry?.parent).toBe(parsed);
      expect(() => Object.assign(entry ?? {}, { parent: {} })).toThrow(TypeError);
      expect(Object.keys(entry ?? {})).not.toContain('parent');
    }
  });

  it('1: loaded_plugin is read-only and returns the module', () => {
    const { ticks } = config().collectors;
    expect(ticks?.loaded_plugin.collect).toBe(testCollect.collect);
    expect(() => Object.assign(ticks ?? {}, { loaded_plugin: {} })).toThrow(TypeError);
  });
});
