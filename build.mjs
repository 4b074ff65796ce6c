// Writes the JavaScript of `dist`; the compiler writes the types beside it.
//
// Loading a file takes Node half a millisecond, and a run would load 700. So the sources, and the packages that are in
// them, become a few chunks that the entries share: each module is there once, whichever entry it is imported by.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';

const OUT = 'dist';
const CHUNKS = 'src/chunks';

/** A dependency for its types, which plugins see; a quarter of its code is needed here. */
const IN_CHUNKS_TOO = ['zod'];
const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
  readFileSync('package.json', 'utf8'),
);
const external = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });

const { metafile } = await build({
  entryPoints: [
    'src/cli/bin.ts',
    'src/index.ts',
    'src/testing/index.ts',
    'operators/index.ts',
    'operators/node.ts',
    // Where the chunk that starts it looks for it: beside itself.
    { in: 'src/workers/line-worker.ts', out: `${CHUNKS}/line-worker` },
  ].map((entry) => (typeof entry === 'string' ? { in: entry, out: entry.replace(/\.ts$/, '') } : entry)),
  outdir: OUT,
  chunkNames: `${CHUNKS}/[name]-[hash]`,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  external: external.filter((name) => !IN_CHUNKS_TOO.includes(name)),
  plugins: [{ name: 'builtin-modules', setup: provideBuiltinModules }],
  metafile: true,
  logLevel: 'warning',
});
const written = Object.keys(metafile.outputs);
removeOthers(written);
for (const path of written) if (path.endsWith('.map')) leaveOutPackages(path);
writeFileSync(join(OUT, CHUNKS, 'LICENSES.txt'), licensesOf(Object.keys(metafile.inputs)));
chmodSync(join(OUT, 'src/cli/bin.js'), 0o755);

/** ES modules have no `require` with which a CommonJS package could load Node's own modules. */
function provideBuiltinModules({ onLoad, onResolve }) {
  const namespace = 'builtin';
  onResolve({ filter: /^[a-z]/ }, ({ path, kind }) =>
    kind === 'require-call' && isBuiltin(path) ? { path, namespace } : undefined,
  );
  onLoad({ filter: /^/, namespace }, ({ path }) => ({
    contents: `module.exports = process.getBuiltinModule('${path}');`,
  }));
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

/** The licences of the packages that are in the chunks, which want to go where the code goes. */
function licensesOf(inputs) {
  const folders = inputs.map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]);
  const packages = [...new Set(folders)].filter((folder) => folder !== undefined).sort();
  return packages.map(licenseOf).join('\n');
}

function licenseOf(folder) {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${folder} has no licence`);
  return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}
