// Writes docs/plugins/: a page for each built-in plugin, from its own fields, description and examples, and a list of
// all. Needs a build. `npm run plugins`; a test compares, and runs the examples.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = process.argv[2] ?? join(root, 'docs/plugins');
const SECTIONS = { collect: 'collectors', process: 'processors', forward: 'forwarders' };
const HEADINGS = { collect: 'Collectors', process: 'Processors', forward: 'Forwarders' };
const GENERATED = 'This page is written from the plugin itself by `npm run plugins`.';

const cli = join(root, 'dist/src/cli/bin.js');
const plugins = JSON.parse(execFileSync(process.execPath, [cli, 'plugins', '--json'], { encoding: 'utf8' }));

/** A cell of a table, in which `|` and line breaks would end it. */
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const code = (text) => (text === '' ? '' : text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);

function table(headings, rows) {
  const lines = [headings, headings.map(() => '---'), ...rows];
  return lines.map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');
}

function needOf(need) {
  return need.startsWith('default ') ? `default ${code(need.slice('default '.length))}` : need;
}

/** The anchor of the plugin's section in configuration.md, which has the kind if several plugins have the name. */
function headingOf({ kind, name }) {
  return plugins.filter((plugin) => plugin.name === name).length > 1 ? `${name}-${kind}` : name;
}

function pageOf(plugin) {
  const { kind, name, description, fields, example, example_events: events } = plugin;
  const rows = fields.map((field) => [
    code(field.name),
    field.type,
    needOf(field.need),
    field.bounds,
    field.description,
  ]);
  const parts = [
    `# ${kind}: ${name}`,
    description,
    `[configuration.md](../../configuration.md#${headingOf(plugin)}) explains it in detail. ${GENERATED}`,
    '## Fields',
    table(['Field', 'Type', 'Required', 'Bounds', 'Meaning'], rows),
  ];
  if (example !== undefined) {
    parts.push('## Example', `\`\`\`yaml fragment=${SECTIONS[kind]}\n${example}\n\`\`\``);
  }
  if (events.length > 0) {
    const lines = events.flatMap(({ given, gives }) => [
      JSON.stringify(given),
      ...(gives.length === 0 ? ['  → nothing'] : gives.map((data) => `  → ${JSON.stringify(data)}`)),
    ]);
    parts.push('Examples of the `data` of events, before and after:', `\`\`\`\n${lines.join('\n')}\n\`\`\``);
  }
  return `${parts.join('\n\n')}\n`;
}

function indexPage() {
  const parts = Object.entries(HEADINGS).flatMap(([kind, heading]) => [
    `## ${heading}`,
    table(
      ['Plugin', 'What it does'],
      plugins
        .filter((plugin) => plugin.kind === kind)
        .map(({ name, description }) => [`[\`${name}\`](${kind}/${name}.md)`, description]),
    ),
  ]);
  const introduction =
    'The built-in plugins. `millrace plugins` lists them as well, and `millrace plugins KIND NAME` describes one. ' +
    '[Writing plugins](../plugins.md) explains how to write your own.';
  return `${['# Plugins', introduction, ...parts].join('\n\n')}\n`;
}

rmSync(folder, { recursive: true, force: true });
for (const kind of Object.keys(SECTIONS)) mkdirSync(join(folder, kind), { recursive: true });
for (const plugin of plugins) writeFileSync(join(folder, plugin.kind, `${plugin.name}.md`), pageOf(plugin));
writeFileSync(join(folder, 'README.md'), indexPage());
