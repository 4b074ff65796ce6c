// Runs a pipeline with the chunks that were built, and writes beside them what V8 made of their code, and of RxJS's
// that they import: so a start has it to begin with. The names of RxJS's files come as JSON from standard input.
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';
import { rolldown } from 'rolldown';

const chunks = resolve('dist/src/chunks');
const main = join(chunks, '../cli/main.cjs');
const { CompiledModules } = await moduleOf('src/cli/compiled-modules.ts');
const { COMPILED, sumOf, thisNode, writtenCompiled } = await moduleOf('src/cli/compiled-code.ts');

/** What V8 keeps in its code, and shows in stacks: not where this was built. */
const PLACES = { 'rxjs/': '/node_modules/rxjs/dist/cjs/', '': '/node_modules/millrace/dist/src/chunks/' };

const kept = new Map();
class Keeping extends CompiledModules {
  compile(name, source, options) {
    const [prefix, place] = Object.entries(PLACES).find(([prefix]) => name.startsWith(prefix));
    const script = new vm.Script(source, { ...options, filename: join(place, name.slice(prefix.length)) });
    kept.set(name, { script, text: sumOf(readFileSync(options.filename)) });
    return script;
  }
}

// Node must load what imports: see `importModule`.
const own = [...readdirSync(chunks).map((name) => join(chunks, name)), main].filter(
  (path) => path.endsWith('.cjs') && !/\bimport\(/.test(readFileSync(path, 'utf8')),
);
const names = [...own.map((path) => relative(chunks, path)), ...JSON.parse(readFileSync(0, 'utf8'))];
const modules = new Keeping(chunks, new Map(names.map((name) => [name, { text: -1, code: undefined }])));

const folder = mkdtempSync(join(tmpdir(), 'millrace-build-'));
// The run ends the process.
process.on('exit', (code) => {
  rmSync(folder, { recursive: true });
  if (code !== 0) return;
  try {
    write();
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
});
modules
  .require(main)
  .main(['run', sampleIn(folder), '--once', '--state-dir', join(folder, 'state')], () => {});

function write() {
  // V8 takes code only where its flags are those that it had, and the masks set this one.
  v8.setFlagsFromString('--no-enable-experimental-regexp-engine-on-excessive-backtracks');
  const engine = [...kept.keys()].filter((name) =>
    /^(?:cli|run|engine|masks|operators)-/.test(basename(name)),
  );
  if (engine.length < 5) throw new Error(`of the chunks of a run these alone can be compiled: ${engine}`);
  const code = names.map((name) => kept.get(name)?.script.createCachedData() ?? Buffer.alloc(0));
  const files = names.map((name, i) => [name, { text: kept.get(name)?.text ?? 0, size: code[i].length }]);
  const path = join(chunks, COMPILED);
  writeFileSync(`${path}.new`, writtenCompiled({ node: thisNode(), files: Object.fromEntries(files) }, code));
  renameSync(`${path}.new`, path);
}

/** A configuration as users have it: a file, three rules, a file. */
function sampleIn(folder) {
  const log = join(folder, 'in.log');
  writeFileSync(log, '2026-01-01 KEY::0123456789 ada@example.com 10.0.0.1\n'.repeat(1000));
  const rules = {
    SECRET: 'KEY::[0-9]{10}',
    IP: '\\b[0-9]{1,3}(\\.[0-9]{1,3}){3}\\b',
    EMAIL: '[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}',
  };
  const config = {
    collectors: { log: { plugin: 'file', paths: [log], backfill: true } },
    processors: { mask: { plugin: 'regex_mask', rules } },
    forwarders: { out: { plugin: 'disk', path: folder, filename: 'out.jsonl' } },
    pipelines: { main: { collect: 'log', process: 'mask', forward: 'out' } },
    host_config: {},
  };
  const path = join(folder, 'millrace.json');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** A module of the sources. */
async function moduleOf(input) {
  const build = await rolldown({ input, platform: 'node' });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}
