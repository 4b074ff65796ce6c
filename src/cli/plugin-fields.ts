import type { z } from 'zod';
import { jsonSchemaOf } from '../checks/apply-schema.ts';
import { formatNumber } from '../checks/describe.ts';
import type { ConfigSchema } from '../sdk/plugin.ts';
import { counted } from './format.ts';

type Schema = z.core.JSONSchema.JSONSchema;

/** One field of a plugin's configuration, in words. */
export interface PluginField {
  readonly name: string;
  readonly type: string;
  /** `required`, `optional` or the default. */
  readonly need: string;
  readonly bounds: string;
  readonly description: string;
}

/** The fields of a plugin's schema, those of nested objects included as `delay_range.minimum`. */
export function pluginFields(schema: ConfigSchema): PluginField[] {
  return fieldsOf(jsonSchemaOf(schema) ?? {}, '');
}

function fieldsOf(schema: Schema, prefix: string): PluginField[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    if (typeof property !== 'object') return [];
    const name = `${prefix}${key}`;
    const field = {
      name,
      type: typeName(property),
      need: need(property, schema.required?.includes(key) === true),
      bounds: bounds(property),
      description: property.description ?? '',
    };
    const object = [property, ...(property.anyOf ?? [])].find(
      (choice): choice is Schema => typeof choice === 'object' && choice.properties !== undefined,
    );
    return object === undefined ? [field] : [field, ...fieldsOf(object, `${name}.`)];
  });
}

/** `text`, `list of text`, `object of text`, `text or list of text`, `"a" or "b"` */
export function typeName(schema: Schema | boolean | undefined): string {
  if (typeof schema !== 'object') return 'any';
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeName))].join(' or ');
  switch (schema.type) {
    case 'array':
      return `array of ${Array.isArray(schema.items) ? 'any' : typeName(schema.items)}`;
    case 'object':
      return schema.properties === undefined
        ? `object of ${typeName(schema.additionalProperties)}`
        : 'object';
    case undefined:
      return 'any';
    default:
      return String(schema.type);
  }
}

function need(schema: Schema, required: boolean): string {
  if (schema.default !== undefined) return `default ${JSON.stringify(schema.default)}`;
  return required ? 'required' : 'optional';
}

/** `> 0, < 9223372036854775807`, `exactly 1 character`, `each at least 1 character` */
export function bounds(schema: Schema | boolean | undefined): string {
  if (typeof schema !== 'object') return '';
  const choices = (schema.anyOf ?? schema.oneOf ?? []).map(bounds).filter((text) => text !== '');
  const items = [schema.additionalProperties, ...[schema.items].flat()].map(bounds);
  const each = items.filter((text) => text !== '').map((text) => `each ${text}`);
  return [...ownBounds(schema), ...new Set([...choices, ...each])].join(', ');
}

function ownBounds(schema: Schema): string[] {
  const found: string[] = [];
  const add = (words: string, value: unknown) => {
    if (typeof value === 'number') found.push(`${words} ${formatNumber(value)}`);
  };
  add('>', schema.exclusiveMinimum);
  add('≥', schema.minimum);
  add('<', schema.exclusiveMaximum);
  add('≤', schema.maximum);
  const { minLength, maxLength } = schema;
  const characters = (n: number) => counted(n, 'character');
  if (minLength !== undefined && minLength === maxLength) found.push(`exactly ${characters(minLength)}`);
  else {
    if (minLength !== undefined) found.push(`at least ${characters(minLength)}`);
    if (maxLength !== undefined) found.push(`at most ${characters(maxLength)}`);
  }
  const { minItems, maxItems } = schema;
  if (minItems !== undefined) found.push(`at least ${counted(minItems, 'item')}`);
  if (maxItems !== undefined) found.push(`at most ${counted(maxItems, 'item')}`);
  return found;
}
