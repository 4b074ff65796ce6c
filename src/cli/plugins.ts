import type { z } from 'zod';
import { builtinPlugins, kindsOf, loadPlugin, pluginNames } from '../config/registry.ts';
import { suggestPlugin } from '../config/suggest-plugin.ts';
import { jsonSchemaOf } from '../sdk/checks/apply-schema.ts';
import { formatNumber, nameListing } from '../sdk/checks/describe.ts';
import { nearest } from '../sdk/nearest.ts';
import type { ConfigSchema, ExampleEvent, Plugin, PluginKind } from '../sdk/plugin.ts';
import { ExitCode, UsageError } from './errors.ts';
import { counted, table, wrap } from './format.ts';
import { type Colours, coloursFor } from './terminal.ts';

const KINDS: readonly PluginKind[] = ['collect', 'process', 'forward'];

/** `millrace plugins [KIND [NAME]]`: the built-in plugins, or the fields, description and example of one. */
export async function plugins(kindText?: string, name?: string, { json = false } = {}): Promise<number> {
  const colours = coloursFor(process.stdout);
  const columns = process.stdout.columns ?? 100;
  const kind = kindText === undefined ? undefined : knownKind(kindText);
  if (json) {
    const described = (kind === undefined ? KINDS : [kind]).flatMap((kind) =>
      (name === undefined ? pluginNames(kind) : [name]).map((each) => describedPlugin(kind, each)),
    );
    process.stdout.write(`${JSON.stringify(await Promise.all(described), null, 2)}\n`);
  } else if (kind === undefined || name === undefined) {
    process.stdout.write(await pluginList(kind === undefined ? KINDS : [kind], columns, colours));
  } else {
    process.stdout.write(pluginText(kind, name, await knownPlugin(kind, name), columns, colours));
  }
  return ExitCode.ok;
}

/** All that the plugin says of itself, for programs that write documentation. */
async function describedPlugin(kind: PluginKind, name: string) {
  const plugin = await knownPlugin(kind, name);
  return {
    kind,
    name,
    description: plugin.description,
    fields: pluginFields(plugin.get_config_schema()),
    example: plugin.example?.trim(),
    example_events: exampleEventsOf(plugin),
  };
}

const exampleEventsOf = (plugin: Plugin): readonly ExampleEvent[] =>
  'exampleEvents' in plugin ? (plugin.exampleEvents ?? []) : [];

function knownKind(text: string): PluginKind {
  const kind = KINDS.find((candidate) => candidate === text);
  if (kind !== undefined) return kind;
  const owners = kindsOf(text);
  if (owners.length > 0) {
    const commands = owners.map((owner) => `millrace plugins ${owner} ${text}`).join('\n  ');
    throw new UsageError(`\`${text}\` is a plugin; name its kind before it:\n  ${commands}`);
  }
  const near = nearest(text, KINDS);
  const hint = near === undefined ? `Kinds are ${nameListing(KINDS)}.` : `Did you mean \`${near}\`?`;
  throw new UsageError(`there is no kind of plugin called \`${text}\`. ${hint}`);
}

async function knownPlugin(kind: PluginKind, name: string): Promise<Plugin> {
  const plugin = await loadPlugin(kind, name);
  if (plugin !== undefined) return plugin;
  const [other] = kindsOf(name);
  if (other !== undefined) {
    throw new UsageError(`\`${name}\` is a ${other} plugin: millrace plugins ${other} ${name}`);
  }
  const names = pluginNames(kind);
  const near = suggestPlugin(kind, name);
  const hint = near === undefined ? `There are ${nameListing(names)}.` : `Did you mean \`${near}\`?`;
  throw new UsageError(`there is not a ${kind} plugin called \`${name}\`. ${hint}`);
}

async function pluginList(kinds: readonly PluginKind[], columns: number, colours: Colours): Promise<string> {
  const width = Math.max(...KINDS.flatMap(pluginNames).map((name) => name.length));
  const indent = ' '.repeat(width + 4);
  const blocks: string[] = [];
  for (const kind of kinds) {
    const rows = [...(await builtinPlugins(kind))].map(
      ([name, { description = '' }]) => `  ${name.padEnd(width)}  ${wrap(description, columns, indent)}`,
    );
    blocks.push(`${colours.bold(kind)}\n${rows.join('\n')}\n`);
  }
  return `${blocks.join('\n')}\n${colours.dim('Fields and an example of one: millrace plugins KIND NAME')}\n`;
}

function pluginText(
  kind: PluginKind,
  name: string,
  plugin: Plugin,
  columns: number,
  colours: Colours,
): string {
  const fields = pluginFields(plugin.get_config_schema());
  const rows = table(
    fields.map((field) => [field.name, field.type, field.bounds, field.need, field.description]),
  );
  const sections = [
    `${colours.bold(`${kind}: ${name}`)}\n${wrap(plugin.description ?? '', columns)}`,
    `${colours.bold('Fields')}\n${rows.map((row) => `  ${row}`).join('\n')}`,
  ];
  if (plugin.example !== undefined) {
    sections.push(`${colours.bold('Example')}\n${plugin.example.trim().replace(/^(?=.)/gm, '  ')}`);
  }
  const events = exampleEventsOf(plugin).flatMap(({ given, gives }) => [
    `  ${JSON.stringify(given)}`,
    ...(gives.length === 0 ? ['    → nothing'] : gives.map((data) => `    → ${JSON.stringify(data)}`)),
  ]);
  if (events.length > 0) sections.push(`${colours.bold('What it does to events')}\n${events.join('\n')}`);
  return `${sections.join('\n\n')}\n`;
}

type Schema = z.core.JSONSchema.JSONSchema;

/** One field of a plugin's configuration, in words. */
interface PluginField {
  readonly name: string;
  readonly type: string;
  /** `required`, `optional` or the default. */
  readonly need: string;
  readonly bounds: string;
  readonly description: string;
}

/** The fields of a plugin's schema, those of nested objects included as `delay_range.minimum` or `rules.NAME.match`. */
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
    const each = property.additionalProperties;
    return [
      field,
      ...objectsIn(property).flatMap((object) => fieldsOf(object, `${name}.`)),
      ...[property.items]
        .flat()
        .flatMap(objectsIn)
        .flatMap((object) => fieldsOf(object, `${name}.`)),
      ...objectsIn(each).flatMap((object) => fieldsOf(object, `${name}.NAME.`)),
    ];
  });
}

/** The schemas with fields that a value may have. */
function objectsIn(schema: Schema | boolean | undefined): Schema[] {
  // How secrets are written is the same for all of them.
  if (typeof schema !== 'object' || schema.writeOnly === true) return [];
  return [...(schema.properties === undefined ? [] : [schema]), ...(schema.anyOf ?? []).flatMap(objectsIn)];
}

/** `text`, `list of text`, `object of text`, `text or list of text`, `"a" or "b"` */
function typeName(schema: Schema | boolean | undefined): string {
  if (typeof schema !== 'object') return 'any';
  if (schema.writeOnly === true) return 'secret';
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
  if (typeof schema !== 'object' || schema.writeOnly === true) return '';
  const choices = (schema.anyOf ?? schema.oneOf ?? []).map(bounds).filter((text) => text !== '');
  const items = [schema.additionalProperties, ...[schema.items].flat()].map(bounds);
  const each = items.filter((text) => text !== '').map((text) => `each ${text}`);
  const names = bounds(schema.propertyNames);
  const ofNames = names === '' ? [] : [`each name ${names}`];
  return [...ownBounds(schema), ...ofNames, ...new Set([...choices, ...each])].join(', ');
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
  if (schema.pattern !== undefined) found.push(`of the form ${schema.pattern}`);
  const { minItems, maxItems } = schema;
  if (minItems !== undefined) found.push(`at least ${counted(minItems, 'item')}`);
  if (maxItems !== undefined) found.push(`at most ${counted(maxItems, 'item')}`);
  return found;
}
