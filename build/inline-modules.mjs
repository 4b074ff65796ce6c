import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { load } from 'js-yaml';
import { rolldown } from 'rolldown';

/** A plugin for rolldown that puts data in place of the modules which read it when millrace runs from its sources. */
export async function inlineModules() {
  const { version, dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const modules = new Map([
    // Inlined, so that it is also right in a program that bundles millrace.
    [
      resolve('src/version.ts'),
      {
        code: `export const version = () => ${JSON.stringify(version)};
export const ownDependencies = () => ${JSON.stringify(Object.keys({ ...dependencies, ...peerDependencies }))};`,
      },
    ],
    // The packs as JSON, with what is known of their expressions, so that a start parses no YAML and analyses no expression.
    ...packModules(await readPacks()),
    [
      resolve('plugins/pack-tests/ordinary-templates.ts'),
      {
        code: `const templates = ${JSON.stringify(load(readFileSync('plugins/pack-tests/ordinary.yaml', 'utf8')))};
export const ordinaryTemplates = () => templates;`,
        map: { mappings: '' },
      },
    ],
  ]);
  return { name: 'inline-modules', load: (id) => modules.get(id) };
}

/** The module that has all packs as JSON. */
export const packsModule = async () =>
  `const files = ${JSON.stringify(await readPacks())};\nexport const packFiles = () => files;`;

/** The modules that have packs as JSON: the default ones, and all. */
function packModules(packs) {
  const isDefault = (name) => name.startsWith('secrets/');
  const defaults = Object.fromEntries(Object.entries(packs).filter(([name]) => isDefault(name)));
  const all = Object.entries(packs).map(
    ([name, json]) =>
      `${JSON.stringify(name)}: ${isDefault(name) ? `defaults[${JSON.stringify(name)}]` : JSON.stringify(json)}`,
  );
  return [
    [
      'default-pack-files',
      `const files = ${JSON.stringify(defaults)};\nexport const defaultPackFiles = () => files;`,
    ],
    [
      'pack-files',
      `import { defaultPackFiles } from './default-pack-files.ts';
const defaults = defaultPackFiles();
const files = { ${all.join(',\n')} };
export const packFiles = () => files;`,
    ],
    // So much data needs no source map.
  ].map(([name, code]) => [resolve(`plugins/packs/${name}.ts`), { code, map: { mappings: '' } }]);
}

/** A plugin for rolldown that leaves out of packs what only their tests and readers need: two fifths of what a page loads of them. */
export async function leanPacks() {
  const entries = Object.entries(await readPacks());
  const packs = Object.fromEntries(
    entries.map(([name, json]) => [name, JSON.stringify(leanPack(JSON.parse(json)))]),
  );
  const modules = new Map(packModules(packs));
  return { name: 'lean-packs', load: (id) => modules.get(id) };
}

function leanPack({ rules, vocabulary, ...pack }) {
  const rulesOnly = Object.entries(rules).map(([name, { tests, description, source, ...rule }]) => [
    name,
    rule,
  ]);
  const withoutExamples = ({ example, miss, ...rest }) => rest;
  return {
    ...pack,
    rules: Object.fromEntries(rulesOnly),
    vocabulary: vocabulary && {
      ...vocabulary,
      names: vocabulary.names.map(({ keys, not, ...name }) => name),
      notations: vocabulary.notations.map(withoutExamples),
      guards: vocabulary.guards.map(withoutExamples),
    },
  };
}

/** @type {Promise<Record<string, string>> | undefined} */
let packs;

function readPacks() {
  packs ??= readAndAnalysePacks();
  return packs;
}

async function readAndAnalysePacks() {
  const file = resolve(`dist/read-pack-files-${process.pid}.mjs`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await bundleReader());
  try {
    const { readPackFiles, withExpressions } = await import(pathToFileURL(file));
    return withExpressions(readPackFiles(pathToFileURL(`${resolve('plugins/packs')}/`)));
  } finally {
    rmSync(file);
  }
}

/** The reader of packs is TypeScript, which Node 20 cannot run: this is all of it as one JavaScript module. */
export async function bundleReader() {
  const build = await rolldown({
    input: resolve('plugins/packs/packs-from-yaml.ts'),
    platform: 'node',
    external: /^[^./]/,
  });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  return output[0].code;
}
