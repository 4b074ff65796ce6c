import * as z from 'zod';
import type { ConfigSchema } from '../sdk/plugin.ts';
import { isMapping, type Path } from './path.ts';

/** The keys that a schema knows at a path, for suggestions; empty if the schema does not tell. */
export function knownKeys(schema: ConfigSchema, path: Path): string[] {
  return schema instanceof Object && '_zod' in schema ? keysAt(jsonSchemaOf(schema), path) : [];
}

/** The JSON Schema of what a zod schema takes; undefined if it cannot be told. */
export function jsonSchemaOf(schema: ConfigSchema): Record<string, unknown> | undefined {
  try {
    return z.toJSONSchema(schema as unknown as z.core.$ZodType, { io: 'input', unrepresentable: 'any' });
  } catch {
    return undefined;
  }
}

function keysAt(schema: unknown, path: Path): string[] {
  if (!isMapping(schema)) return [];
  const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) =>
    Array.isArray(list) ? list.flatMap((alternative) => keysAt(alternative, path)) : [],
  );
  const properties = isMapping(schema.properties) ? schema.properties : {};
  const [step, ...rest] = path;
  if (step === undefined) return [...alternatives, ...Object.keys(properties)];
  const below = typeof step === 'number' ? schema.items : (properties[step] ?? schema.additionalProperties);
  return [...alternatives, ...keysAt(below, rest)];
}
