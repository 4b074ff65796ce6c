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
    [
      resolve('plugins/packs/pack-files.ts'),
      {
        code: await packsModule(),
        // So much data needs no source map.
        map: { mappings: '' },
      },
    ],
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

/** The module that has the packs as JSON. */
export async function packsModule() {
  return `const files = ${JSON.stringify(await readPacks())};\nexport const packFiles = () => files;`;
}

async function readPacks() {
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
