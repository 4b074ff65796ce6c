import * as z from 'zod';
import { counted } from '../../../operators/internal.ts';
import { nearest } from '../nearest.ts';
import type { ConfigSchema, ConfigSchemaIssue } from '../plugin.ts';
import { either, formatNumber } from './describe.ts';
import { isMapping, type Path, type Problem, valueAt } from './problem.ts';
import { hasQuantities, withoutUnits } from './units.ts';

/** An issue as zod gives it; only `message` and `path` are sure to be there. */
export interface Issue extends ConfigSchemaIssue {
  readonly [detail: string]: unknown;
}

type JsonSchema = Readonly<Record<string, unknown>>;

type SchemaResult =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly issues: readonly Issue[] };

/**
 * Applies a schema to a model. Keys that begin with an underscore are private: those of the model itself are
 * dropped, and deeper ones where the schema would call them unknown, so that names in free mappings stay.
 */
export function applySchema(schema: ConfigSchema, input: Readonly<Record<string, unknown>>): SchemaResult {
  const isPrivate = ([key]: [string, unknown]) => key.startsWith('_') && key !== '__proto__';
  const written = Object.fromEntries(Object.entries(input).filter((entry) => !isPrivate(entry)));
  let value: unknown = hasQuantities(written) ? inPlainNumbers(schema, written) : written;
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

/** A model in which quantities with units, such as `5s`, are the numbers that the schema takes. */
function inPlainNumbers(schema: ConfigSchema, model: unknown): unknown {
  const json = '_zod' in schema ? jsonSchemaOf(schema) : undefined;
  return withoutUnits(model, (path) => schemasAt(json, path).find(({ unit }) => unit !== undefined)?.unit);
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

/** The keys that a schema knows at a path, for suggestions; empty if the schema does not tell. */
export function knownKeys(schema: ConfigSchema, path: Path): string[] {
  return schema instanceof Object && '_zod' in schema ? keysAt(jsonSchemaOf(schema), path) : [];
}

const jsonSchemas = new WeakMap<ConfigSchema, JsonSchema | undefined>();

/**
 * The JSON Schema of what a zod schema takes; undefined if it cannot be told. It is created once for each schema, since a test
 * of a pipeline may ask for it in each of hundreds of runs.
 */
export function jsonSchemaOf(schema: ConfigSchema): JsonSchema | undefined {
  if (!jsonSchemas.has(schema)) jsonSchemas.set(schema, createJsonSchema(schema));
  return jsonSchemas.get(schema);
}

function createJsonSchema(schema: ConfigSchema): JsonSchema | undefined {
  try {
    return z.toJSONSchema(schema as unknown as z.core.$ZodType, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        // Zod leaves out the examples of a schema that transforms its input; ours are examples of the input.
        const examples = z.globalRegistry.get(zodSchema)?.examples;
        if (Array.isArray(examples)) jsonSchema.examples = examples;
        if (jsonSchema.writeOnly === true) delete jsonSchema.default;
      },
    });
  } catch {
    return undefined;
  }
}

/** The first example that a schema gives at a path, in YAML's flow style. */
export function exampleAt(schema: ConfigSchema, path: Path): string | undefined {
  if (!(schema instanceof Object && '_zod' in schema)) return undefined;
  const examples = schemasAt(jsonSchemaOf(schema), path).flatMap(({ examples: own }) =>
    Array.isArray(own) ? own : [],
  );
  return examples.length === 0 ? undefined : yamlText(examples[0]);
}

/** The parts of a JSON Schema at a path, from the outer to the inner. */
function schemasAt(schema: unknown, path: Path): Record<string, unknown>[] {
  if (!isMapping(schema)) return [];
  const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) =>
    Array.isArray(list) ? list.flatMap((alternative) => schemasAt(alternative, path)) : [],
  );
  const [step, ...rest] = path;
  if (step === undefined) return [schema, ...alternatives];
  const properties = isMapping(schema.properties) ? schema.properties : {};
  const below = typeof step === 'number' ? schema.items : (properties[step] ?? schema.additionalProperties);
  return [...alternatives, ...schemasAt(below, rest)];
}

/** The setting that makes a mapping take a key, or this value of it, as `type: disk` does; undefined if there is none. */
export function settingOfOtherForm(schema: ConfigSchema, path: Path, value?: unknown): string | undefined {
  const key = path.at(-1) as string;
  for (const { properties } of schemasAt(jsonSchemaOf(schema), path.slice(0, -1))) {
    const taken = isMapping(properties) ? properties[key] : undefined;
    if (!isMapping(properties) || !isMapping(taken)) continue;
    if (value !== undefined && !(Array.isArray(taken.enum) && taken.enum.includes(value))) continue;
    const form = Object.entries(properties).find(
      ([, one]) => isMapping(one) && typeof one.const === 'string',
    );
    if (form !== undefined) return `${form[0]}: ${(form[1] as { const: string }).const}`;
  }
  return undefined;
}

/** The key that a schema has in place of an unknown one, as `meta({ alsoCalled })` of its schema says. */
export function otherNameOf(schema: ConfigSchema, path: Path): string | undefined {
  const isMeant = (setting: unknown) =>
    isMapping(setting) && Array.isArray(setting.alsoCalled) && setting.alsoCalled.includes(path.at(-1));
  return schemasAt(jsonSchemaOf(schema), path.slice(0, -1))
    .flatMap(({ properties }) => (isMapping(properties) ? Object.entries(properties) : []))
    .find(([, setting]) => isMeant(setting))?.[0];
}

function yamlText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(yamlText).join(', ')}]`;
  if (isMapping(value)) {
    return `{ ${Object.entries(value)
      .map(([key, item]) => `${key}: ${yamlText(item)}`)
      .join(', ')} }`;
  }
  const isPlain = typeof value !== 'string' || /^(?![\d.]+$)[A-Za-z0-9][\w ./-]*$/.test(value);
  return isPlain ? String(value) : `'${value}'`;
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

/** What an explanation needs of the value that a schema refused. */
interface ExplainContext {
  readonly prefix: Path;
  readonly input: unknown;
  knownKeys(path: Path): readonly string[];
  /** What the schema gives as an example at a path inside the model, as YAML; undefined if it gives none. */
  example?(path: Path): string | undefined;
  /** The setting with which the mapping around a path takes this key, or this value of it. */
  otherForm?(path: Path, value?: unknown): string | undefined;
  /** The name that a schema has for a key at a path that another tool or library calls so. */
  otherName?(path: Path): string | undefined;
  /** The value at a path of the configuration in the words of a message. */
  describe(path: Path): string;
}

/** Puts a schema's issue into sentences: what was found and what is expected. */
export function explainIssue(issue: Issue, context: ExplainContext, base: Path = []): Problem[] {
  const path = [...base, ...issuePath(issue)];
  const here = [...context.prefix, ...path];
  if (issue.code === 'unrecognized_keys') return explainUnknownKeys(issue, context, path);
  const value = valueAt(context.input, path);
  const branch = issue.code === 'invalid_union' ? matchingBranch(issue, value) : undefined;
  if (branch !== undefined) {
    const keys = typeof value === 'string' ? context.knownKeys(path) : [];
    return branch.flatMap((inner) => explainIssue(withMapping(inner, keys), context, path));
  }

  const wanted = wantedBy(issue, value);
  if (issue.code === 'invalid_key') {
    const key = path.at(-1);
    return [{ path: here, at: 'key', message: `found the name \`${key}\`; expected ${wanted}` }];
  }
  if (value === undefined) {
    return [
      {
        path: here,
        message: wanted === undefined ? issue.message : `missing; expected ${wanted}`,
        foreign: true,
      },
    ];
  }
  // A message about a whole mapping says itself what is wrong in it.
  if (wanted === undefined || (issue.code === 'custom' && typeof value === 'object')) {
    return [{ path: here, message: issue.message, foreign: true }];
  }
  const found = context.describe(here);
  // A list of one is easily written without its brackets.
  const [, single] = (wanted === 'a list' && /^the \w+ "([\w./*-]+)"$/.exec(found)) || [];
  const values = issue.code === 'invalid_value' && Array.isArray(issue.values) ? issue.values : [];
  const suggestion = typeof value === 'string' ? nearest(value, values.map(String)) : undefined;
  const isOfAnotherForm = ['invalid_type', 'invalid_union', 'invalid_value'].includes(String(issue.code));
  const isExplained = !isOfAnotherForm || suggestion !== undefined || /such as|a finite number/.test(wanted);
  const given = isExplained ? undefined : context.example?.(path);
  const example = single === undefined ? given : `[${single}]`;
  const hint = example === undefined ? quotingHint(value, wanted, found) : `, such as \`${example}\``;
  const form = values.length > 0 ? context.otherForm?.(path, value) : undefined;
  const otherwise = form === undefined ? '' : `; to use \`${String(value)}\`, set \`${form}\``;
  const message = `found ${found}; expected ${wanted}${hint}${otherwise}`;
  const foreign = issue.code === 'custom';
  return [{ path: here, message, foreign, suggestion }];
}

/** A choice of words with the mapping that may stand in their place, if that has one key. */
function withMapping(issue: Issue, keys: readonly string[]): Issue {
  if (issue.code !== 'invalid_value' || issue.path.length > 0 || keys.length !== 1) return issue;
  return { ...issue, values: [...(issue.values as readonly unknown[]), `{ ${keys[0]}: … }`] };
}

/** YAML reads a number, `true` and `null` as such unless they are in quotes. */
function quotingHint(value: unknown, wanted: string, found: string): string {
  const isText = typeof value === 'string';
  if (wanted === 'a string' && (typeof value === 'number' || typeof value === 'boolean')) {
    const [, variable] = /^the value of (\$\{\w+\})$/.exec(found) ?? [];
    return `; write it in quotes: '${variable ?? found}'`;
  }
  const isUnquoted = wanted === 'a number' ? /^-?\d+(?:\.\d+)?$/ : /^(?:true|false)$/;
  const takesNoQuotes = wanted === 'a number' || wanted === 'true or false';
  if (!isText || !takesNoQuotes || !isUnquoted.test(value)) return '';
  // Such a number is a string with and without quotes.
  const isTooLarge = Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER;
  return isTooLarge ? ` of at most ${Number.MAX_SAFE_INTEGER}` : '; write it without quotes';
}

function explainUnknownKeys(issue: Issue, context: ExplainContext, path: Path): Problem[] {
  const keys = Array.isArray(issue.keys) ? issue.keys.map(String) : [];
  const known = context.knownKeys(path);
  return keys.map((key) => {
    const form = context.otherForm?.([...path, key]);
    return {
      path: [...context.prefix, ...path, key],
      at: 'key',
      message: `unknown key \`${key}\`${form === undefined ? '' : `; to use it, set \`${form}\``}`,
      suggestion:
        form === undefined ? (context.otherName?.([...path, key]) ?? nearest(key, known)) : undefined,
    };
  });
}

/** The alternative of a union that the value was meant for: the one whose own type fits. That of `false` is not, for `true`. */
function matchingBranch(issue: Issue, value: unknown): readonly Issue[] | undefined {
  const others = typeof value === 'string' ? ['invalid_type'] : ['invalid_type', 'invalid_value'];
  return branches(issue)
    .filter((issues) =>
      issues.every((inner) => inner.path.length > 0 || !others.includes(String(inner.code))),
    )
    .toSorted((a, b) => unknownKeysIn(a) - unknownKeysIn(b) || a.length - b.length)[0];
}

/** A mapping is meant for the alternative that has its keys, whatever is wrong inside them. */
const unknownKeysIn = (issues: readonly Issue[]): number =>
  issues.filter(({ code, path }) => code === 'unrecognized_keys' && path.length === 0).length;

function branches(issue: Issue): readonly (readonly Issue[])[] {
  return Array.isArray(issue.errors) ? issue.errors : [];
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  map: 'a mapping',
  null: 'null',
};

/** What the schema expects, or undefined if only its message tells. */
function wantedBy(issue: Issue, value: unknown): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'number' && typeof value === 'number') return 'a finite number';
      return TYPES[String(issue.expected)] ?? `a value of type ${String(issue.expected)}`;
    case 'invalid_union':
      return wantedByUnion(issue, value);
    case 'invalid_key':
      return (Array.isArray(issue.issues) && either(wantedByAll(issue.issues, value))) || issue.message;
    case 'too_small':
      return bound(issue, issue.minimum, issue.inclusive === false ? 'greater than' : 'at least');
    case 'too_big':
      return bound(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most');
    case 'not_multiple_of':
      return `a multiple of ${String(issue.divisor)}`;
    case 'invalid_value':
      return Array.isArray(issue.values)
        ? either(
            issue.values.map((wanted) => (typeof wanted === 'string' ? `\`${wanted}\`` : String(wanted))),
          )
        : undefined;
    case 'invalid_format':
      if (issue.format !== 'regex') return `a valid ${issue.format}`;
      if (issue.message.includes(String(issue.pattern))) return `a string that matches ${issue.pattern}`;
      return namesWhatIsWanted(issue.message) ? issue.message : undefined;
    case 'custom':
      return namesWhatIsWanted(issue.message) ? issue.message : undefined;
    default:
      return undefined;
  }
}

function wantedByUnion(issue: Issue, value: unknown): string | undefined {
  if (Array.isArray(issue.options)) {
    // Undefined stands for a key that may be left out.
    const options = issue.options.filter((option) => option !== undefined);
    return either(options.map((option) => `\`${String(option)}\``));
  }
  const wanted = wantedByAll(branches(issue).flat(), value);
  return wanted.length === 0 ? undefined : either(wanted);
}

function wantedByAll(issues: readonly Issue[], value: unknown): string[] {
  return issues.map((issue) => wantedBy(issue, value)).filter((wanted) => wanted !== undefined);
}

function bound(issue: Issue, limit: unknown, comparison: string): string {
  const amount = typeof limit === 'number' || typeof limit === 'bigint' ? formatNumber(limit) : String(limit);
  const units: Readonly<Record<string, string>> = {
    string: 'character',
    array: 'item',
    set: 'item',
    map: 'entry',
  };
  const unit = units[String(issue.origin)];
  if (unit === undefined) {
    return comparison.endsWith('than')
      ? `a number ${comparison} ${amount}`
      : `a number of ${comparison} ${amount}`;
  }
  return `${issue.exact === true ? 'exactly' : comparison} ${counted(Number(limit), unit, amount)}`;
}

/** Custom messages of millrace's schemas name what is expected; those of others may be sentences. */
function namesWhatIsWanted(message: string): boolean {
  return /^(an?|another|at (least|most)|exactly|one of|only|text)\b/.test(message);
}
