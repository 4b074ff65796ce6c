import { nameListing } from '../../checks/describe.ts';
import { findPlugin, kindsOf, pluginNames } from '../../config/registry.ts';
import { nearest } from '../../sdk/nearest.ts';
import type { Plugin, PluginKind } from '../../sdk/plugin.ts';
import { type Colours, coloursFor } from '../colours.ts';
import { ExitCode, UsageError } from '../exit-code.ts';
import { table, wrap } from '../format.ts';
import { pluginFields } from '../plugin-fields.ts';

const KINDS: readonly PluginKind[] = ['collect', 'process', 'forward'];

/** `millrace plugins [KIND [NAME]]`: the built-in plugins, or the fields, description and example of one. */
export function plugins(kindText?: string, name?: string): number {
  const colours = coloursFor(process.stdout);
  const columns = process.stdout.columns ?? 100;
  const kind = kindText === undefined ? undefined : knownKind(kindText);
  if (kind === undefined || name === undefined) {
    process.stdout.write(pluginList(kind === undefined ? KINDS : [kind], columns, colours));
  } else {
    process.stdout.write(pluginText(kind, name, knownPlugin(kind, name), columns, colours));
  }
  return ExitCode.ok;
}

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

function knownPlugin(kind: PluginKind, name: string): Plugin {
  const plugin = findPlugin(kind, name);
  if (plugin !== undefined) return plugin;
  const [other] = kindsOf(name);
  if (other !== undefined) {
    throw new UsageError(`\`${name}\` is a ${other} plugin: millrace plugins ${other} ${name}`);
  }
  const names = pluginNames(kind);
  const near = nearest(name, names);
  const hint = near === undefined ? `There are ${nameListing(names)}.` : `Did you mean \`${near}\`?`;
  throw new UsageError(`there is no ${kind} plugin called \`${name}\`. ${hint}`);
}

function pluginList(kinds: readonly PluginKind[], columns: number, colours: Colours): string {
  const width = Math.max(...KINDS.flatMap(pluginNames).map((name) => name.length));
  const indent = ' '.repeat(width + 4);
  const blocks = kinds.map((kind) => {
    const rows = pluginNames(kind).map((name) => {
      const description = findPlugin(kind, name)?.description ?? '';
      return `  ${name.padEnd(width)}  ${wrap(description, columns, indent)}`;
    });
    return `${colours.bold(kind)}\n${rows.join('\n')}\n`;
  });
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
  return `${sections.join('\n\n')}\n`;
}
