// Writes the JavaScript of `dist`; the compiler writes the types beside it.
//
// Linking a file takes Node a millisecond or two, and a run would load 700. So the sources, and the packages that are
// in them, become a few chunks that the entries share: each module is there once, whichever entry it is imported by.
//
// In Node they are CommonJS, which V8's compiled code can be kept of (build/write-compiled.mjs); a module that imports
// an entry gets the same code by way of a facade. Browsers and bundlers get modules, so that a bundle has what it uses.
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { licensesOf } from './build/licenses.mjs';
import { filesOfRxjs, partsOfRxjs, usedOfRxjs } from './build/rxjs.mjs';
import { sharedChunks } from './build/shared-chunks.mjs';

const OUT = 'dist';
const CHUNKS = 'src/chunks';
/** What the chunks require as `#rxjs`. */
const RXJS_PARTS = `${CHUNKS}/rxjs.cjs`;

/** The same for those that cannot load CommonJS, or had better not. */
const ESM = 'esm';

const MAIN = 'src/cli/main.ts';
const BIN = 'src/cli/bin.ts';
/** What programs import. */
const ENTRIES = ['src/index.ts', 'src/testing/index.ts', 'operators/index.ts', 'operators/node.ts'];
/** In a file of its own, which shares nothing: each worker loads it anew. Beside the chunk that starts it. */
const WORKER = { [`${CHUNKS}/line-worker`]: 'src/workers/line-worker.ts' };

/** A dependency for its types, which plugins see; a quarter of its code is needed here. */
const IN_CHUNKS_TOO = ['zod'];
const { version, dependencies, optionalDependencies, peerDependencies } = JSON.parse(
  readFileSync('package.json', 'utf8'),
);
const external = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).filter(
  (name) => !IN_CHUNKS_TOO.includes(name),
);

/** As a text: to find and read the manifest would take a start longer than to read the command line. */
const VERSION = 'src/version.ts';
const versionModule = `export const version = () => ${JSON.stringify(version)};`;

/** Node's streams in place of the copy of them that winston's packages bring. */
const STREAMS = new Map([
  ['readable-stream', "module.exports = require('node:stream');"],
  ['readable-stream/lib/_stream_writable.js', "module.exports = require('node:stream').Writable;"],
]);

const inNode = await bundle(named([MAIN, ...ENTRIES]), { format: 'cjs', ...sharedChunks() });
const outputs = [
  ...inNode,
  ...(await bundle(named([BIN]))),
  ...(await bundle(WORKER)),
  ...(await bundle(named(ENTRIES, ESM), { folder: `${ESM}/chunks`, ...sharedChunks() })),
];
const facades = inNode.filter(({ isEntry, facadeModuleId }) => isEntry && facadeModuleId !== resolve(MAIN));
for (const { fileName, exports } of facades) {
  writeFileSync(join(OUT, facadeOf(fileName)), facadeText(basename(fileName), exports));
}
// It is of no use to other chunks.
rmSync(join(OUT, CHUNKS, 'compiled.bin'), { force: true });
const modules = outputs.flatMap((output) => Object.keys(output.modules ?? {}));
const rxjs = usedOfRxjs(inNode.map(({ code }) => code ?? ''));
writeFileSync(join(OUT, CHUNKS, 'LICENSES.txt'), licensesOf(modules));
writeFileSync(join(OUT, RXJS_PARTS), partsOfRxjs(rxjs));
for (const { fileName } of outputs) {
  if (fileName.endsWith('.map')) leaveOutPackages(join(OUT, fileName));
  if (fileName.startsWith(`${ESM}/`)) allowCommonJs(join(OUT, fileName));
}
removeOthers([
  ...outputs.map(({ fileName }) => fileName),
  ...facades.map(({ fileName }) => facadeOf(fileName)),
  RXJS_PARTS,
]);
chmodSync(join(OUT, 'src/cli/bin.js'), 0o755);
const { NODE_OPTIONS, ...env } = process.env;
// In a process of its own, which it ends, and of which V8 has no flags but its own.
execFileSync(process.execPath, ['build/write-compiled.mjs'], {
  input: JSON.stringify(filesOfRxjs(rxjs)),
  // What it says is told if it fails.
  stdio: 'pipe',
  env,
});

async function bundle(input, { format = 'esm', folder = CHUNKS, plugins = [], codeSplitting = false } = {}) {
  const build = await rolldown({
    input,
    platform: 'node',
    tsconfig: 'tsconfig.json',
    // Of winston's packages, the half that is for its own development is left out.
    transform: { target: 'node20', define: { 'process.env.NODE_ENV': '"production"' } },
    // As it says itself, where a bundler sees its manifest: a worker needs nothing of it.
    treeshake: { moduleSideEffects: [{ test: /^rxjs/, sideEffects: false }] },
    external: (id) => external.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [
      ...plugins,
      { name: 'version', load: (id) => (id === resolve(VERSION) ? versionModule : undefined) },
      {
        name: 'streams',
        resolveId: (id) => (STREAMS.has(id) ? `\0${id}` : undefined),
        load: (id) => STREAMS.get(id.slice(1)),
      },
    ],
  });
  const extension = format === 'cjs' ? 'cjs' : 'js';
  const { output } = await build.write({
    dir: OUT,
    format,
    strict: true,
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `${folder}/[name]-[hash].${extension}`,
    // The manifest says what this is: `partsOfRxjs` in Node, `rxjs` elsewhere.
    paths: { rxjs: '#rxjs' },
    // Whoever bundles modules has the code of them, which is not minified.
    sourcemap: folder === CHUNKS,
    // One character of more makes V8 hold the whole file, and read it, with two bytes for each.
    charset: 'ascii',
    comments: { legal: true, annotation: true, jsdoc: false },
    codeSplitting,
  });
  await build.close();
  return output;
}

/** Entries by their names, which say where they are written to. */
function named(entries, folder = '.') {
  return Object.fromEntries(entries.map((entry) => [join(folder, entry.replace(/\.ts$/, '')), entry]));
}

/** Where the module is that exports what a CommonJS one does: beside it. */
function facadeOf(fileName) {
  return fileName.replace(/\.cjs$/, '.js');
}

function facadeText(file, exports) {
  return `import entry from './${file}';\nexport const { ${exports.join(', ')} } = entry;\n`;
}

/** What earlier builds left. Not before the build: tests may be running the last one. */
function removeOthers(written) {
  for (const name of readdirSync(OUT, { recursive: true })) {
    if (/\.c?js(?:\.map)?$/.test(name) && !written.includes(name)) rmSync(join(OUT, name));
  }
}

/** In modules: a bundle of them that is CommonJS has no `import.meta`. */
function allowCommonJs(path) {
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replaceAll('(import.meta.url)', '(import.meta.url ?? __filename)'));
}

/** From a source map, the text of packages, which npm has: half of all. */
function leaveOutPackages(path) {
  const map = JSON.parse(readFileSync(path, 'utf8'));
  const isOurs = (index) => !map.sources[index].includes('node_modules/');
  const sourcesContent = map.sourcesContent.map((text, index) => (isOurs(index) ? text : null));
  writeFileSync(path, JSON.stringify({ ...map, sourcesContent }));
}
