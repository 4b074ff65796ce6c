import type { ConfigSchema, ConfigSchemaIssue } from '../sdk/plugin.ts';
import { isMapping, type Path } from './path.ts';

/** An issue as zod gives it; only `message` and `path` are sure to be there. */
export interface Issue extends ConfigSchemaIssue {
  readonly [detail: string]: unknown;
}

export type SchemaResult =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly issues: readonly Issue[] };

/**
 * Applies a schema to a model. Keys that begin with an underscore are private: those of the model itself are
 * dropped, and deeper ones where the schema would call them unknown, so that names in free mappings stay.
 */
export function applySchema(schema: ConfigSchema, input: Readonly<Record<string, unknown>>): SchemaResult {
  const isPrivate = ([key]: [string, unknown]) => key.startsWith('_') && key !== '__proto__';
  let value: unknown = Object.fromEntries(Object.entries(input).filter((entry) => !isPrivate(entry)));
  for (;;) {
    // For the few objects of a configuration, zod would take longer to compile a check than to go without.
    const result = schema.safeParse(value, { jitless: true });
    if (result.success) return result;
    const issues: readonly Issue[] = result.error.issues.map((issue) => ({ ...issue }));
    const unknown = unknownPrivateKeys(issues, []);
    if (unknown.length === 0) return { success: false, issues };
    for (const path of unknown) value = without(value, path);
  }
}

function unknownPrivateKeys(issues: readonly Issue[], prefix: Path): Path[] {
  return issues.flatMap((issue) => {
    const path = [...prefix, ...issuePath(issue)];
    const keys = issue.code === 'unrecognized_keys' && Array.isArray(issue.keys) ? issue.keys : [];
    const here = keys.filter((key) => typeof key === 'string' && key.startsWith('_') && key !== '__proto__');
    const branches: readonly (readonly Issue[])[] = Array.isArray(issue.errors) ? issue.errors : [];
    return [
      ...here.map((key: string) => [...path, key]),
      ...branches.flatMap((branch) => unknownPrivateKeys(branch, path)),
    ];
  });
}

/** An issue's path without symbols, which no configuration has. */
export function issuePath(issue: ConfigSchemaIssue): Path {
  return issue.path.filter((step) => typeof step !== 'symbol');
}

function without(value: unknown, path: Path): unknown {
  const [step, ...rest] = path;
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? without(item, rest) : item));
  if (!isMapping(value)) return value;
  const entries = Object.entries(value);
  if (rest.length === 0) return Object.fromEntries(entries.filter(([key]) => key !== step));
  return Object.fromEntries(entries.map(([key, item]) => [key, key === step ? without(item, rest) : item]));
}
