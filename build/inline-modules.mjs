import { readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** A plugin for rolldown that puts data in place of the modules which read it when millrace runs from its sources. */
export async function inlineModules() {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const modules = new Map([
    // Inlined, so that it is also right in a program that bundles millrace.
    [resolve('src/version.ts'), `export const version = () => ${JSON.stringify(version)};`],
    // The packs as JSON, with what their expressions cost, so that a start parses no YAML and analyses no expression.
    [
      resolve('plugins/packs/pack-files.ts'),
      `const files = ${JSON.stringify(await readPacks())};\nexport const packFiles = () => files;`,
    ],
  ]);
  return { name: 'inline-modules', load: (id) => modules.get(id) };
}

/** The reader of packs is TypeScript, which Node 20 cannot run: it is bundled to a file of its own first. */
async function readPacks() {
  const file = resolve(`dist/read-pack-files-${process.pid}.mjs`);
  const build = await rolldown({
    input: 'plugins/packs/read-pack-files.ts',
    platform: 'node',
    external: /^[^./]/,
  });
  await build.write({ format: 'esm', file });
  await build.close();
  try {
    const { readPackFiles, withCosts } = await import(pathToFileURL(file));
    return withCosts(readPackFiles(pathToFileURL(`${resolve('plugins/packs')}/`)));
  } finally {
    rmSync(file);
  }
}
