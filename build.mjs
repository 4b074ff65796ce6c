// Writes the JavaScript of `dist`; the compiler writes the types beside it.
//
// Linking a file takes Node a millisecond or two, and a run would load 700. So the sources, and the packages that are
// in them, become a few chunks that the entries share: each module is there once, whichever entry it is imported by.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { licensesOf } from './build/licenses.mjs';
import { filesOfRxjs, partsOfRxjs, usedOfRxjs } from './build/rxjs.mjs';
import { sharedChunks } from './build/shared-chunks.mjs';

const OUT = 'dist';
const CHUNKS = 'src/chunks';

const ENTRIES = [
  'src/cli/bin.ts',
  'src/index.ts',
  'src/testing/index.ts',
  'operators/index.ts',
  'operators/node.ts',
];
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

/** What each module imports. */
const imports = new Map();
const outputs = [
  ...(await bundle(Object.fromEntries(ENTRIES.map((entry) => [entry.replace(/\.ts$/, ''), entry])), {
    groups: sharedChunks(imports),
  })),
  ...(await bundle(WORKER, false)),
];
removeOthers(outputs.map(({ fileName }) => join(OUT, fileName)));
for (const { fileName } of outputs) if (fileName.endsWith('.map')) leaveOutPackages(join(OUT, fileName));
const modules = outputs.flatMap((output) => Object.keys(output.modules ?? {}));
const rxjs = usedOfRxjs(outputs.map(({ code }) => code ?? ''));
writeFileSync(join(OUT, CHUNKS, 'LICENSES.txt'), licensesOf(modules));
writeFileSync(join(OUT, CHUNKS, 'rxjs.cjs'), partsOfRxjs(rxjs));
writeFileSync(join(OUT, CHUNKS, 'rxjs-files.json'), filesOfRxjs(rxjs));
chmodSync(join(OUT, 'src/cli/bin.js'), 0o755);

async function bundle(input, codeSplitting) {
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
      { name: 'imports', moduleParsed: ({ id, importedIds }) => void imports.set(id, importedIds) },
      { name: 'version', load: (id) => (id === resolve(VERSION) ? versionModule : undefined) },
      {
        name: 'streams',
        resolveId: (id) => (STREAMS.has(id) ? `\0${id}` : undefined),
        load: (id) => STREAMS.get(id.slice(1)),
      },
    ],
  });
  const { output } = await build.write({
    dir: OUT,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: `${CHUNKS}/[name]-[hash].js`,
    // The manifest says what this is: `partsOfRxjs` in Node, `rxjs` elsewhere.
    paths: { rxjs: '#rxjs' },
    sourcemap: true,
    // One character of more makes V8 hold the whole file, and read it, with two bytes for each.
    charset: 'ascii',
    comments: { legal: true, annotation: true, jsdoc: false },
    codeSplitting,
  });
  await build.close();
  return output;
}

/** What earlier builds left. Not before the build: tests may be running the last one. */
function removeOthers(written) {
  for (const name of readdirSync(OUT, { recursive: true })) {
    const path = `${OUT}/${name}`;
    if (/\.js(?:\.map)?$/.test(name) && !written.includes(path)) rmSync(path);
  }
}

/** From a source map, the text of packages, which npm has: half of all. */
function leaveOutPackages(path) {
  const map = JSON.parse(readFileSync(path, 'utf8'));
  const isOurs = (index) => !map.sources[index].includes('node_modules/');
  const sourcesContent = map.sourcesContent.map((text, index) => (isOurs(index) ? text : null));
  writeFileSync(path, JSON.stringify({ ...map, sourcesContent }));
}
