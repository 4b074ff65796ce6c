import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { AnalyticsConfigShape, PipelineConfig } from '../src/sdk/config.ts';
import { ROOT } from './support/build.ts';
import { allBuiltinPlugins } from './support/built-in-plugins.ts';

/*
 * The tables of docs/configuration.md and docs/specification.md list the fields of the schemas, all of them and no
 * others. Fields below the first level, such as `delivery.attempts`, count as their first part.
 */

const plugins = (await allBuiltinPlugins()).map(({ kind, name, plugin }) => ({
  kind,
  name,
  fields: fieldsOf(plugin.get_config_schema()),
}));

describe('docs/configuration.md', () => {
  const page = read('docs/configuration.md');

  it.each(plugins)('lists the fields of $kind $name', ({ kind, name, fields }) => {
    const section = between(page, new RegExp(`^### ${name}(?: \\(${kind}\\))?$`, 'm'), /^##/m);
    // `noop` has no table.
    expect(name === 'noop' ? ['plugin'] : tableFields(section)).toEqual(fields);
  });

  it.each([
    { heading: 'Top level', schema: AnalyticsConfigShape },
    { heading: 'Pipelines', schema: PipelineConfig },
  ])('lists the keys of $heading', ({ heading, schema }) => {
    const section = between(page, new RegExp(`^## ${heading}$`, 'm'), /^##/m);
    expect(tableFields(section)).toEqual(fieldsOf(schema));
  });
});

/** Plugins that the specification does not have. */
const ADDED = [
  'redact',
  'stdin',
  'exec',
  'journald',
  'filter',
  'multiline',
  'map',
  'parse',
  'stdout',
  'noop',
  's3',
  'http',
  'kafka',
  'nats',
  'elasticsearch',
  'loki',
  'syslog',
  'splunk_hec',
  'datadog',
  'otlp',
];

describe('docs/specification.md', () => {
  const page = read('docs/specification.md');
  const sections = { collect: '2.7', process: '2.8', forward: '2.9' };

  it.each(plugins.filter(({ name }) => !ADDED.includes(name)))(
    'lists the fields of $kind $name',
    ({ kind, name, fields }) => {
      const section = between(page, new RegExp(`^### ${sections[kind]} `, 'm'), /^##/m);
      const part = between(section, new RegExp(`^\\*\\*${name}\\*\\*`, 'm'), /^\*\*|^\| Event /m);
      const [, additions = ''] = /^\*Optional additions\*: ([^;]*)/m.exec(part) ?? [];
      const added = Array.from(additions.matchAll(/`(\w+)`/g), ([, field = '']) => field);
      expect([...tableFields(part), ...added].sort()).toEqual(fields);
    },
  );

  it.each([
    { heading: '2.1 AnalyticsConfig', schema: AnalyticsConfigShape },
    { heading: '2.2 PipelineConfig', schema: PipelineConfig },
  ])('lists the fields of $heading', ({ heading, schema }) => {
    expect(tableFields(between(page, new RegExp(`^### ${heading}$`, 'm'), /^##/m))).toEqual(fieldsOf(schema));
  });
});

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The part of a text between the first match of one expression and the next match of another. */
function between(text: string, start: RegExp, end: RegExp): string {
  const { 0: heading = '', index = Number.NaN } = start.exec(text) ?? {};
  if (Number.isNaN(index)) throw new Error(`nothing matches ${start}`);
  const rest = text.slice(index + heading.length);
  const length = rest.search(end);
  return length === -1 ? rest : rest.slice(0, length);
}

/** The names in the first column of the first table, sorted. */
function tableFields(section: string): string[] {
  const [table = ''] = /^\|.*(?:\n\|.*)*/m.exec(section) ?? [];
  const cells = Array.from(table.matchAll(/^\| (`[^|]*)/gm), ([, cell = '']) => cell);
  const names = cells.flatMap((cell) =>
    Array.from(cell.matchAll(/`(\w+)(?:\.\w+)?`/g), ([, name = '']) => name),
  );
  return [...new Set(names)].sort();
}

function fieldsOf(schema: object): string[] {
  return Object.keys((schema as { shape: object }).shape).sort();
}
