// Bundles the sources into `dist` as ES modules; the TypeScript compiler writes the types beside them. All packages
// stay outside: npm installs them.
import { chmodSync, cpSync, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { inlineModules, leanPacks } from './build/inline-modules.mjs';

const ENTRIES = [
  ...['src/index', 'src/sdk/index', 'src/testing/index', 'src/cli/bin', 'src/cli/main'],
  ...['operators/index', 'operators/node', 'redact/index', 'redact/node', 'redact/otel'],
  ...[
    'redact/secrets',
    'redact/pino',
    'redact/pino-transport',
    'redact/winston',
    'redact/console',
    'redact/ai',
  ],
];

/**
 * Node takes a fraction of a millisecond to load each file, so modules that are loaded together share one. Each of these
 * chunks has the named modules and all that they import, except for what is in a chunk above it.
 */
const CHUNKS = [
  { name: 'version', test: /src\/version\.ts$/ },
  // What the command line needs of the engine to show an error.
  { name: 'errors', test: /src\/(?:config\/config-error|sdk\/(?:errors|listen-address|nearest))\.ts$/ },
  // The command line needs nothing else of the operators at its start.
  { name: 'counted', test: /operators\/support\/(?:counted|long-work|v8-flags)\.ts$/ },
  // The operators load the second one later, and both without RxJS: what is loaded later cannot be left out of a bundle.
  { name: 'plain-search', test: /operators\/masks\/(?:apply-rule|lines-masker|replacement)\.ts$/ },
  { name: 'planned-search', test: /operators\/masks\/compile-mask-rules\.ts$/ },
  // Workers load this too.
  { name: 'packs', test: /plugins\/packs\/(?:default-)?pack-files\.ts$/ },
  // `millrace/redact` loads this without RxJS, and the operators need most of it.
  {
    name: 'redactor',
    test: /operators\/masks\/(?:redact\/(?:redactor|piece-masker|mask-json)|map-strings|mask-error|python-regex)\.ts$/,
  },
  // Browsers load these two.
  { name: 'masks', test: /operators\/masks\/(?:entropy|regex)-mask\.ts$/ },
  { name: 'operators', test: /operators\/index\.ts$/ },
  { name: 'files', test: /operators\/node\.ts$/ },
  { name: 'plugin', test: /src\/sdk\/index\.ts$/ },
  { name: 'engine', test: /src\/(?:config\/(?:load|parse)-config|engine\/manager|state\/open-state)\.ts$/ },
  // Small modules that several plugins or commands share.
  {
    name: 'plugin-parts',
    test: /plugins\/(?:lines\/collect-lines|time-limits\/bounded-time|expressions\/mask-rule-schema|masks\/(?:around-parse|masking))\.ts$/,
  },
  { name: 'command-line', test: /src\/cli\/(?:errors|format|notices)\.ts$/ },
  { name: 'terminal', test: /src\/cli\/(?:log-line|terminal)\.ts$/ },
  { name: 'run-parts', test: /src\/cli\/(?:closed-output|run-state|signals|summary)\.ts$/ },
].map((group, index, { length }) => ({ ...group, priority: length - index }));

/** By far the largest data, which both bundles below read. */
const PACK_FILES = 'plugins/packs/pack-files.ts';

const inline = await inlineModules();

const entries = Object.fromEntries(ENTRIES.map((entry) => [entry, `${entry}.ts`]));
await bundle({ ...entries, 'src/chunks/pack-files': PACK_FILES }, { groups: CHUNKS });
// Every worker loads this file, so it has all that it needs except `redact`, and no RxJS. It is beside the chunk that
// starts workers. The source maps of the other files have the same sources.
const besideWorker = {
  name: 'beside-worker',
  resolveId: (id) => (id.endsWith('/pack-files.ts') ? { id: './pack-files.js', external: true } : undefined),
};
await bundle(
  // Workers of the command line load the second one too.
  { 'src/chunks/line-worker': 'src/workers/line-worker.ts', 'src/cli/v8-flags': 'src/cli/v8-flags.ts' },
  true,
  { dir: 'dist', chunkFileNames: 'src/chunks/worker-[name].js', sourcemap: false },
  [besideWorker],
);
chmodSync('dist/src/cli/bin.js', 0o755);

// The workspaces, `@millrace/operators` and `@millrace/redact`: the same sources, in packages of their own. Each module is in a
// file of its own, so that bundlers leave out those that a program does not import.
await bundle({ index: 'operators/index.ts', node: 'operators/node.ts' }, true, {
  dir: 'operators/dist',
  preserveModules: true,
});
const OF_REDACT = ENTRIES.filter((entry) => entry.startsWith('redact/'));
await bundle(
  Object.fromEntries(OF_REDACT.map((entry) => [entry, `${entry}.ts`])),
  true,
  { dir: 'redact/dist', preserveModules: true, preserveModulesRoot: '.' },
  [await leanPacks()],
);
// The compiler has written the types, unless only JavaScript is wanted, as by the tests.
if (existsSync('dist/operators')) {
  const isType = (path) => !/\.js(?:\.map)?$|\/internal[\w-]*\.d\.ts$/.test(path);
  cpSync('dist/operators', 'operators/dist', { recursive: true, filter: isType });
  for (const file of typesOf(OF_REDACT.map((entry) => `${entry}.d.ts`)))
    cpSync(`dist/${file}`, `redact/dist/${file}`);
}

/** Files of types in `dist`, and those that they import. */
function typesOf(entries) {
  const files = new Set(entries);
  for (const file of files) {
    for (const [, path] of readFileSync(`dist/${file}`, 'utf8').matchAll(/from '(\.[^']+)\.[tj]s'/g))
      files.add(`${join(dirname(file), path)}.d.ts`);
  }
  return files;
}

async function bundle(input, codeSplitting, output = { dir: 'dist' }, plugins = []) {
  const build = await rolldown({
    input,
    platform: 'node',
    tsconfig: 'tsconfig.json',
    transform: { target: 'node20' },
    external: /^[^./]/,
    plugins: [...plugins, inline],
    treeshake: { moduleSideEffects: [{ external: true, sideEffects: false }] },
  });
  await build.write({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'src/chunks/[name].js',
    sourcemap: true,
    comments: { legal: true, annotation: true, jsdoc: false },
    codeSplitting,
    ...output,
  });
  await build.close();
}
