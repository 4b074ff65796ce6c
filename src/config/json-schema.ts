import { jsonSchemaOf } from '../sdk/checks/apply-schema.ts';
import { formatNumber } from '../sdk/checks/describe.ts';
import { isMapping } from '../sdk/checks/problem.ts';
import { AnalyticsConfigShape, PipelineConfig } from '../sdk/config.ts';
import type { ConfigSchema, PluginKind } from '../sdk/plugin.ts';
import { TestFile } from './read-files.ts';
import { builtinPlugins } from './registry.ts';
import { PLUGIN_SECTIONS, SECTIONS } from './sections.ts';
import { testDefinition } from './tests/test-definition.ts';

type JsonSchema = Record<string, unknown>;

/** How `JSON.stringify` rounds 2^63 where it stands as a value. */
const LARGEST_AS_JSON = /(?<=": )9223372036854776000(?=,?$)/gm;

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  collectors: 'Where events come from, by name.',
  processors: 'What is done to events, by name.',
  forwarders: 'Where events go, by name.',
  pipelines: 'Which collectors, processors and forwarders work together, by name.',
  host_config: 'Free form. The standalone host reads id, role, beacons and functions.',
  admin: 'Where `millrace run` serves metrics and health; nowhere without it.',
  tests: 'Tests of the pipelines in virtual time, by name; `millrace test` runs them.',
};

/**
 * The JSON Schema (draft 2020-12) of a whole configuration, for editors. An entry's schema is that of the
 * built-in plugin it names; other names may be modules, of which only `plugin` is known.
 */
export async function jsonSchema(): Promise<JsonSchema> {
  const top = modelSchema(AnalyticsConfigShape);
  const properties: JsonSchema = { ...(isMapping(top.properties) ? top.properties : {}) };
  const definitions: JsonSchema = {
    pipeline: modelSchema(PipelineConfig),
    test: modelSchema(testDefinition()),
  };
  Object.assign(definitions, takeDefinitions(definitions.test as JsonSchema));
  for (const [kind, section] of Object.entries(PLUGIN_SECTIONS) as [PluginKind, string][]) {
    definitions[kind] = await entrySchema(kind);
    properties[section] = namesOf(kind);
  }
  properties.pipelines = namesOf('pipeline');
  properties.tests = namesOf('test');
  for (const name of SECTIONS.keys()) {
    const section = properties[name];
    properties[name] = { description: DESCRIPTIONS[name], ...(isMapping(section) ? section : {}) };
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...top,
    title: 'millrace configuration',
    properties,
    $defs: definitions,
  };
}

/** The JSON Schema of a file of tests, `*.test.yaml`. */
export function testsJsonSchema(): JsonSchema {
  const file = modelSchema(TestFile);
  const properties = isMapping(file.properties) ? file.properties : {};
  const test = modelSchema(testDefinition());
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...file,
    title: 'millrace tests',
    properties: { ...properties, tests: { description: DESCRIPTIONS.tests, ...namesOf('test') } },
    required: ['tests'],
    $defs: { test, ...takeDefinitions(test) },
  };
}

/** {@link jsonSchema} as text, with the bound of the specification's counts in full. */
export async function jsonSchemaText({ tests = false } = {}): Promise<string> {
  const text = JSON.stringify(tests ? testsJsonSchema() : await jsonSchema(), null, 2);
  return text.replace(LARGEST_AS_JSON, (digits) => formatNumber(Number(digits)));
}

/** Definitions inside a schema, which refers to them as if it were the whole. */
function takeDefinitions(schema: JsonSchema): JsonSchema {
  const { $defs } = schema;
  delete schema.$defs;
  return isMapping($defs) ? $defs : {};
}

function namesOf(definition: string): JsonSchema {
  return { type: 'object', additionalProperties: { $ref: `#/$defs/${definition}` } };
}

async function entrySchema(kind: PluginKind): Promise<JsonSchema> {
  const plugins = [...(await builtinPlugins(kind))];
  const names = plugins.map(([name]) => name);
  const isNamed = (name: string) => ({ properties: { plugin: { const: name } }, required: ['plugin'] });
  return {
    type: 'object',
    properties: {
      plugin: {
        description: `A built-in ${kind} plugin, the path of a module, or a package.`,
        anyOf: [{ enum: names }, { type: 'string', minLength: 1 }],
      },
    },
    required: ['plugin'],
    allOf: plugins.map(([name, plugin]) => {
      const schema = modelSchema(plugin.get_config_schema());
      const description = plugin.description === undefined ? {} : { description: plugin.description };
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      return { if: isNamed(name), then: { ...description, ...schema } };
    }),
  };
}

/** The schema of a model as it may be written in a file. */
function modelSchema(schema: ConfigSchema): JsonSchema {
  const { $schema: _, ...rest } = jsonSchemaOf(schema) ?? {};
  const result = asWritten(rest);
  return isMapping(result) ? result : {};
}

/**
 * Where unknown keys are refused, private ones are allowed; a number may be an environment variable's, or have a unit.
 */
function asWritten(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(asWritten);
  if (!isMapping(schema)) return schema;
  const { alsoCalled: _, ...own } = schema;
  const result = Object.fromEntries(Object.entries(own).map(([key, value]) => [key, asWritten(value)]));
  if (schema.additionalProperties === false) return { ...result, patternProperties: { '^_': {} } };
  const isText = !['number', 'integer', 'boolean'].includes(String(schema.type));
  if (isText) return result;
  const { description, unit, examples, ...bare } = result;
  const pattern = unit === undefined ? '\\$\\{' : '\\$\\{|^\\s*\\d[\\d.\\s]*[a-zA-Z]';
  const shown = examples === undefined ? {} : { examples };
  const written = { ...shown, anyOf: [bare, { type: 'string', pattern }] };
  return description === undefined ? written : { description, ...written };
}
