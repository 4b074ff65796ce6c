import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { pluginFields } from '../../src/cli/plugins.ts';
import { jsonSchemaOf } from '../../src/sdk/checks/apply-schema.ts';
import { formatNumber } from '../../src/sdk/checks/describe.ts';
import type { ConfigSchema } from '../../src/sdk/plugin.ts';
import { allBuiltinPlugins } from '../support/built-in-plugins.ts';

const BOUNDS = [
  ...['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'pattern'],
];

/** Every bound in a JSON Schema, with the field that it is found in, however deep. Those of a secret are not shown. */
function boundsIn(schema: unknown, field = '', path = field): { field: string; value: string }[] {
  if (typeof schema !== 'object' || schema === null || 'writeOnly' in schema) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === 'properties') {
      return Object.entries(value as object).flatMap(([name, property]) =>
        boundsIn(property, path === '' ? name : `${path}.${name}`),
      );
    }
    const isBound = BOUNDS.includes(key);
    return isBound
      ? [{ field, value: typeof value === 'number' ? formatNumber(value) : String(value) }]
      : boundsIn(value, field, key === 'additionalProperties' ? `${path}.NAME` : path);
  });
}

const fieldsOf = (schema: ConfigSchema) => new Map(pluginFields(schema).map((field) => [field.name, field]));

const plugins = await allBuiltinPlugins();

describe('the fields of a plugin', () => {
  it.each(plugins)('have all bounds that there are: $kind $name', ({ plugin }) => {
    const schema = plugin.get_config_schema();
    const fields = fieldsOf(schema);
    const found = boundsIn(jsonSchemaOf(schema));
    expect(found.length).toBeGreaterThan(0);
    const missing = found.filter(({ field, value }) => fields.get(field)?.bounds?.includes(value) !== true);
    expect(missing).toEqual([]);
  });

  it.each([
    [z.number().min(1).nullable(), '≥ 1'],
    [
      z.array(z.string().min(1)).min(2).max(3),
      'at least 2 items, at most 3 items, each at least 1 character',
    ],
    [z.record(z.string(), z.number().gt(0)), 'each > 0'],
    [z.union([z.number().min(1), z.string().length(2)]), '≥ 1, exactly 2 characters'],
    [z.boolean(), ''],
  ])('has its bounds in words: %#', (type, bounds) => {
    expect(fieldsOf(z.object({ field: type })).get('field')?.bounds).toBe(bounds);
  });
});
