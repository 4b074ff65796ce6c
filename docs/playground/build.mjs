// Bundles the playground: `npm run playground` writes docs/playground/playground.js, which index.html loads.
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { inlineModules } from '../../build/inline-modules.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));

/**
 * Packages that only work in Node, or take over the messages of the worker (simple-sha1). In place of their functions
 * there are some that say that they are not there.
 */
const ABSENT = ['simple-sha1', 'tail', 'undici'];

/**
 * Modules of Node, and packages that need it. What the testing part calls is in `node/`. The rest, such as sockets and
 * processes, is only imported by plugins, for which others stand in during a test.
 */
const nodeModules = {
  name: 'node-modules',
  resolveId(source, _importer, { kind }) {
    if (source.startsWith('\0node:')) return source;
    if (/^[./\0]/.test(source)) return null;
    const name = source.replace(/^node:/, '');
    if (isBuiltin(source)) return `\0node:${name}`;
    if (ABSENT.includes(source)) return `\0node:${source}`;
    // Loaded on first use by plugins that work for real, which none does here.
    const isOptional = kind === 'dynamic-import' && source !== 'fast-check';
    return isOptional ? { id: source, external: true } : null;
  },
  async load(id) {
    if (!id.startsWith('\0node:')) return null;
    const name = id.slice('\0node:'.length);
    const file = resolve(HERE, 'node', `${name.replace('/', '_')}.mjs`);
    const own = existsSync(file) ? Object.keys(await import(pathToFileURL(file))) : [];
    const real = await import(isBuiltin(name) ? `node:${name}` : name);
    const missing = Object.keys(real).filter((key) => !own.includes(key) && /^[A-Za-z_$][\w$]*$/.test(key));
    return [
      own.length === 0 ? '' : `export * from ${JSON.stringify(file)};`,
      own.includes('default') ? `export { default } from ${JSON.stringify(file)};` : '',
      `const absent = (what) => function () { throw new Error(what + ' is not available in a browser'); };`,
      ...missing.map((key) => {
        if (key === 'default') return `import * as self from ${JSON.stringify(id)}; export default self;`;
        const isFunction = typeof real[key] === 'function';
        const value = isFunction ? `absent('${name}.${key}')` : (JSON.stringify(real[key]) ?? '{}');
        return `const x_${key} = ${value}; export { x_${key} as ${key} };`;
      }),
    ].join('\n');
  },
};

/** The engine runs in a worker, which the page can end. It is part of the page's script: pages from files load no others. */
const plugins = [nodeModules, await inlineModules()];
// Before everything else: modules look for `process` and `Buffer` as soon as they are loaded.
const globals = await bundle(resolve(HERE, 'node/globals.mjs'), plugins);
const engine = `${globals}\n${await bundle(resolve(HERE, 'worker.ts'), plugins)}`;
const examples = ['fan-out', 'quickstart', 'redaction', 'restart'].map((name) => ({
  name,
  text: readFileSync(resolve(HERE, `../../examples/${name}.yaml`), 'utf8'),
}));
const inlined = new Map(Object.entries({ 'inlined:engine': engine, 'inlined:examples': examples }));
const inline = {
  name: 'inline',
  resolveId: (source) => (inlined.has(source) ? `\0${source}` : null),
  load: (id) => {
    const value = inlined.get(id.slice(1));
    return value === undefined ? null : `export default ${JSON.stringify(value)};`;
  },
};
await bundle(resolve(HERE, 'page.ts'), [inline], process.argv[2] ?? resolve(HERE, 'playground.js'));

async function bundle(input, plugins, file) {
  const build = await rolldown({
    input,
    platform: 'browser',
    resolve: { conditionNames: ['es2015', 'browser', 'import', 'default'] },
    tsconfig: resolve(HERE, 'tsconfig.json'),
    transform: { target: 'es2022', define: { 'import.meta.url': JSON.stringify('file:///millrace.js') } },
    plugins,
    treeshake: true,
  });
  const output = { format: 'iife', minify: true, codeSplitting: false, ...(file && { file }) };
  const { output: chunks } = await (file ? build.write(output) : build.generate(output));
  await build.close();
  return chunks[0].code;
}
