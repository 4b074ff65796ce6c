import { describe, expect, it } from '@jest/globals';
import { jsonSchema, jsonSchemaText } from '../../src/config/json-schema.ts';
import { pluginNames } from '../../src/config/registry.ts';
import { valueAt } from '../../src/sdk/checks/problem.ts';

const schema = await jsonSchema();
const at = (...path: (string | number)[]) => valueAt(schema, path);

describe('jsonSchema', () => {
  it('describes the sections', () => {
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['collectors', 'forwarders', 'pipelines', 'host_config'],
      additionalProperties: false,
      patternProperties: { '^_': {} },
    });
    expect(at('properties', 'collectors')).toEqual({
      description: 'Where events come from, by name.',
      type: 'object',
      additionalProperties: { $ref: '#/$defs/collect' },
    });
    expect(at('properties', 'host_config')).toMatchObject({ type: 'object', additionalProperties: {} });
  });

  it('takes a single name for a list of names', () => {
    expect(at('$defs', 'pipeline', 'properties', 'collect')).toEqual({
      anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }],
    });
    expect(at('$defs', 'pipeline')).toMatchObject({
      required: ['collect', 'forward'],
      patternProperties: { '^_': {} },
    });
  });

  it('selects the schema of an entry by its plugin, and allows modules', () => {
    expect(at('$defs', 'forward', 'properties', 'plugin', 'anyOf')).toEqual([
      { enum: pluginNames('forward') },
      { type: 'string', minLength: 1 },
    ]);
    expect(at('$defs', 'forward', 'allOf', 1)).toMatchObject({
      if: { properties: { plugin: { const: 'disk' } }, required: ['plugin'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: {
        description: expect.any(String),
        required: ['plugin', 'path'],
        additionalProperties: false,
        patternProperties: { '^_': {} },
      },
    });
  });

  it('allows an environment variable where a number or a flag is wanted', () => {
    expect(at('$defs', 'pipeline', 'properties', 'enabled')).toEqual({
      anyOf: [
        { type: 'boolean', default: true },
        { type: 'string', pattern: '\\$\\{' },
      ],
    });
  });

  it('is JSON whose largest count is printed in full', async () => {
    const text = await jsonSchemaText();
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(schema)));
    expect(text.match(/"\w+": 9\d{17,}/g)).toEqual([
      '"default": 9223372036854775807',
      '"exclusiveMaximum": 9223372036854775807',
      '"exclusiveMaximum": 9223372036854775807',
      '"exclusiveMaximum": 9223372036854775807',
    ]);
  });
});
