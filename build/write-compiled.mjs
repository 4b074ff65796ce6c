// Runs a pipeline with the chunks that were built, and writes beside them what V8 made of their code, and of RxJS's
// that they import: so `millrace run` has it to begin with. The paths of RxJS's files come as JSON from standard input.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import v8 from 'node:v8';
import { rolldown } from 'rolldown';

const chunks = resolve('dist/src/chunks');
const rxjsFiles = JSON.parse(readFileSync(0, 'utf8'));
const main = join(chunks, '../cli/main.cjs');

const { COMPILED, CompiledModules, sumOf, THIS_NODE } = await moduleOf('src/cli/compiled-modules.ts');

const all = readdirSync(chunks).filter((name) => name.endsWith('.cjs'));
// Node must load what imports: see `importModule`.
const own = [main, ...all.map((name) => join(chunks, name)).filter((path) => !imports(path))];
const modules = new CompiledModules(chunks, {
  node: 'none',
  own: uncompiled(own.map((path) => relative(chunks, path))),
  rxjs: uncompiled(rxjsFiles),
});

const sample = mkdtempSync(join(tmpdir(), 'millrace-build-'));
writeFileSync(join(sample, 'in.log'), '2026-01-01 KEY::0123456789 ada@example.com 10.0.0.1\n'.repeat(1000));
writeFileSync(
  join(sample, 'p.yaml'),
  `
collectors: { log: { plugin: file, paths: [${sample}/in.log], backfill: true } }
processors:
  mask:
    plugin: regex_mask
    rules:
      SECRET: 'KEY::[0-9]{10}'
      IP: '\\b[0-9]{1,3}(\\.[0-9]{1,3}){3}\\b'
      EMAIL: '[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}'
forwarders: { out: { plugin: disk, path: ${sample}/out.jsonl } }
pipelines: { main: { collect: log, process: mask, forward: out } }
host_config: {}
`,
);
// It ends the process.
process.on('exit', (code) => {
  if (code !== 0) return;
  write();
  rmSync(sample, { recursive: true });
});
modules.require(main).main(['run', join(sample, 'p.yaml'), '--once', '--state-dir', join(sample, 'state')]);

function write() {
  // V8 takes code back only where its flags are those that it had, and the masks set this one.
  v8.setFlagsFromString('--no-enable-experimental-regexp-engine-on-excessive-backtracks');
  const rxjsFolder = dirname(dirname(createRequire(main).resolve('rxjs/internal/Observable')));
  const { cache } = createRequire(main);
  const left = Object.keys(cache).filter((path) => dirname(path) === chunks && !own.includes(path));
  if (!left.every((path) => basename(path).startsWith('imports-'))) throw new Error(`not compiled: ${left}`);
  const groups = [
    { folder: chunks, paths: own.filter((path) => cache[path] !== undefined) },
    { folder: rxjsFolder, paths: rxjsFiles.map((path) => join(rxjsFolder, path)) },
  ].map(({ folder, paths }) => {
    const parts = paths.map((path) => modules.scripts.get(path).createCachedData());
    const files = paths.map((path, i) => ({ path: relative(folder, path), size: parts[i].length }));
    return { parts, group: { sum: sumOf(paths.map((path) => readFileSync(path))), files } };
  });
  const [ofChunks, ofRxjs] = groups.map(({ group }) => group);
  const header = `${JSON.stringify({ node: THIS_NODE, own: ofChunks, rxjs: ofRxjs })}\n`;
  writeFileSync(
    join(chunks, COMPILED),
    Buffer.concat([Buffer.from(header), ...groups.flatMap(({ parts }) => parts)]),
  );
}

function imports(path) {
  return /\bimport\(/.test(readFileSync(path, 'utf8'));
}

function uncompiled(paths) {
  return { sum: -1, files: paths.map((path) => ({ path, size: 0 })) };
}

/** A module of the sources. */
async function moduleOf(input) {
  const build = await rolldown({ input, platform: 'node' });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}
