import { describe, expect, it } from '@jest/globals';
import * as z from 'zod';
import { FileCollectConfig } from '../../../plugins/collect/file.ts';
import { jsonSchema } from '../../../src/config/json-schema.ts';
import { applySchema, jsonSchemaOf } from '../../../src/sdk/checks/apply-schema.ts';
import { isMapping } from '../../../src/sdk/checks/problem.ts';
import { bytesIn, millisecondsIn } from '../../../src/sdk/quantities.ts';
import { bytes, seconds } from '../../../src/sdk/schema-parts.ts';
import { allBuiltinPlugins } from '../../support/built-in-plugins.ts';

describe('quantities', () => {
  it.each([
    ['250ms', 250],
    ['5s', 5000],
    ['5 s', 5000],
    ['1.5m', 90_000],
    ['1m30s', 90_000],
    ['1m3.003s', 63_003],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
  ])('%s is %d ms', (text, ms) => {
    expect(millisecondsIn(text)).toBe(ms);
  });

  it.each([
    ['10B', 10],
    ['64KiB', 65_536],
    ['64 kib', 65_536],
    ['10kB', 10_000],
    ['10KB', 10_000],
    ['1.5MiB', 1_572_864],
    ['4MB', 4_000_000],
    ['2GiB', 2_147_483_648],
    ['1TB', 1e12],
  ])('%s is %d bytes', (text, size) => {
    expect(bytesIn(text)).toBe(size);
  });

  it.each(['', '5', 's', '5 sec', '-5s', '1s1m', '1M', '1Mx', 'MiB', '1e3s', '1,5s', '0x1B'])(
    '%j is none',
    (text) => {
      expect(millisecondsIn(text)).toBeUndefined();
      expect(bytesIn(text)).toBeUndefined();
    },
  );
});

describe('a model', () => {
  const schema = z.strictObject({
    wait: seconds().gt(0).default(5),
    size: bytes().min(1).optional(),
    count: z.number().optional(),
    name: z.string().optional(),
    rest: z.union([z.literal(false), z.strictObject({ timeout: seconds().nullable() })]).optional(),
    list: z.array(seconds()).optional(),
  });

  it('may have units wherever a number has one, and nowhere else', () => {
    const model = { wait: '500ms', size: '1KiB', name: '5s', rest: { timeout: '1m' }, list: ['1s', 2] };
    const data = { wait: 0.5, size: 1024, name: '5s', rest: { timeout: 60 }, list: [1, 2] };
    expect(applySchema(schema, model)).toEqual({ success: true, data });
    for (const wrong of [{ count: '5s' }, { wait: '1MiB' }, { wait: '0s' }, { size: '1s' }, { size: '0.5B' }])
      expect(applySchema(schema, wrong)).toMatchObject({ success: false });
  });

  it('has a whole number of bytes', () => {
    expect(
      applySchema(FileCollectConfig, { plugin: 'file', paths: ['a'], max_line_bytes: '1.5MiB' }),
    ).toMatchObject({
      data: { max_line_bytes: 1_572_864 },
    });
  });
});

describe('the fields of the built-in plugins', () => {
  /** Numbers whose descriptions speak of seconds or bytes. */
  function quantitiesIn(schema: unknown, path: string): { path: string; unit: unknown; words: string }[] {
    if (!isMapping(schema)) return [];
    const { type, unit, description = '', properties, anyOf = [], items } = schema;
    const own = type === 'number' || type === 'integer' ? [{ path, unit, words: String(description) }] : [];
    const inside = Object.entries(isMapping(properties) ? properties : {}).flatMap(([key, value]) =>
      quantitiesIn(value, `${path}.${key}`),
    );
    const alternatives = (anyOf as unknown[]).flatMap((one) =>
      quantitiesIn(isMapping(one) ? { description, ...one } : one, path),
    );
    return [...own, ...inside, ...alternatives, ...quantitiesIn(items, path)];
  }

  it('take units wherever a number is one of seconds or bytes', async () => {
    const plugins = await allBuiltinPlugins();
    const all = plugins.flatMap(({ kind, name, plugin }) =>
      quantitiesIn(jsonSchemaOf(plugin.get_config_schema()), `${kind} ${name}`),
    );
    const timed = all.filter(({ words }) => /^(?:The (?:short|long)est delay, in s|S)econds\b/.test(words));
    const sized = all.filter(
      ({ words, path }) => /bytes/.test(path) || /^(?:The most b|B)ytes\b/.test(words),
    );
    expect(timed.length).toBeGreaterThan(10);
    expect(sized.length).toBeGreaterThan(5);
    expect(timed.filter(({ unit }) => unit !== 'seconds')).toEqual([]);
    expect(sized.filter(({ unit }) => unit !== 'bytes')).toEqual([]);
  });

  it('take units in the JSON Schema for editors, too', async () => {
    const text = JSON.stringify(await jsonSchema());
    expect(text).not.toContain('"unit"');
    expect(text).toContain('^\\\\s*\\\\d[\\\\d.\\\\s]*[a-zA-Z]');
  });
});
