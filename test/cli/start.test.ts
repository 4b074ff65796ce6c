import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import module from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import { describe, expect, it, jest } from '@jest/globals';
import { mayBeSet } from '../../src/cli/v8-flags.ts';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { folderWith, runCli, runShell, startProcess } from '../support/cli.ts';

const DIST = join(ROOT, 'dist');

const loaded = new Map<string, ReturnType<typeof filesLoadedBy>>();

/** What a command loads, by what V8 writes down for coverage. Each command is run once. */
function loadedBy(...args: readonly string[]) {
  const command = args.join(' ');
  const result = loaded.get(command) ?? filesLoadedBy(args);
  loaded.set(command, result);
  return result;
}

/** Preloaded: half a second after the start, when more is loaded, never comes. A slow machine would get there. */
const NO_HALF_SECOND = `data:text/javascript,${encodeURIComponent(`
const { setInterval } = globalThis;
globalThis.setInterval = (act, ms, ...args) => setInterval(act, ms === 500 ? 2 ** 31 - 1 : ms, ...args);`)}`;

async function filesLoadedBy(args: readonly string[]) {
  const folder = folderWith();
  const env = { NODE_V8_COVERAGE: folder, NODE_OPTIONS: `--import=${NO_HALF_SECOND}` };
  const result = await runCli(args, { cwd: maskingFolder(), env });
  expect(result).toMatchObject({ code: 0 });
  const reports = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  const urls: string[] = reports.flatMap(({ result }) => result.map(({ url }: { url: string }) => url));
  const files = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
  const chunks = files.filter((file) => !relative(DIST, file).startsWith('..'));
  const packages = files.map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]);
  return {
    files,
    chunks,
    /** The sources that are in the chunks. */
    sources: chunks.flatMap(sourcesOf),
    packages: [...new Set(packages)].filter((name) => name !== undefined),
  };
}

function sourcesOf(chunk: string): string[] {
  if (!existsSync(`${chunk}.map`)) return [];
  const { sources }: { sources: string[] } = JSON.parse(readFileSync(`${chunk}.map`, 'utf8'));
  return sources.map((source) => relative(ROOT, join(dirname(chunk), source)));
}

/** A folder with a configuration that masks a file, and the file. */
const maskingFolder = () =>
  folderWith({
    'in.log': 'KEY::0123456789\n',
    'p.yaml': `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors: { mask: { plugin: regex_mask, rules: { KEY: 'KEY::[0-9]{10}' } } }
forwarders: { out: { plugin: disk, path: ., filename: out.jsonl } }
pipelines: { main: { collect: log, process: mask, forward: out, restart: false } }
host_config: {}
`,
  });

describe('what is loaded', () => {
  it('by --version: nothing but what tells it', async () => {
    const { sources, packages } = await loadedBy('--version');
    expect(sources.sort()).toEqual([
      'src/cli/bin.ts',
      'src/cli/start.ts',
      'src/node-version.ts',
      'src/version.ts',
    ]);
    expect(packages).toEqual([]);
  });

  it('by --help: nothing of the engine', async () => {
    const { sources, packages } = await loadedBy('--help');
    expect(sources).not.toContain('src/engine/manager.ts');
    expect(packages.sort()).toEqual(['commander', 'fastest-levenshtein']);
  });

  it('by a run: few files of its own', async () => {
    const { chunks } = await loadedBy('run', 'p.yaml', '--once', '--no-state');
    expect(chunks.length).toBeLessThan(27);
  });

  it.each(['run', 'validate', 'graph'])('by %s: no file twice', async (command) => {
    const once = command === 'run' ? ['--once', '--no-state'] : [];
    const { files } = await loadedBy(command, 'p.yaml', ...once);
    const names = files.map((file) => file.replace(/^.*node_modules\//, ''));
    expect(names.filter((name, i) => names.indexOf(name) < i)).toEqual([]);
  });

  it('by a run: nothing of other commands, and of plain paths no globs', async () => {
    const { sources, packages } = await loadedBy('run', 'p.yaml', '--once', '--no-state');
    expect(sources).toEqual(expect.arrayContaining(['src/cli/run.ts', 'plugins/process/regex_mask.ts']));
    const others = /^src\/(?:testing|graph)\/|^src\/cli\/(?:actions\/(?!run\.)|replay\/|test-)/;
    expect(sources.filter((source) => others.test(source))).toEqual([]);
    for (const name of ['tinyglobby', 'systeminformation', 'winston']) expect(packages).not.toContain(name);
  });

  it('of RxJS: one file, which plugins share, however they import it', async () => {
    const { files } = await loadedBy('run', 'p.yaml', '--once', '--no-state');
    const rxjs = files.filter((file) => file.includes('/node_modules/rxjs/'));
    expect(rxjs.map((file) => file.replace(/^.*\/rxjs\//, ''))).toEqual(['dist/bundles/rxjs.umd.js']);
    const cwd = folderWith({
      'same.mjs': `
import { createRequire } from 'node:module';
import { Observable, map, of } from 'rxjs';
import { delay } from 'rxjs/operators';
import { TestScheduler } from 'rxjs/testing';
import { defineProcessor } from 'millrace/plugin';
const require = createRequire(import.meta.url);
const isSame = require('rxjs').Observable === Observable && require('rxjs/testing').TestScheduler === TestScheduler;
export default defineProcessor({
  process: ({ event }) => of(event).pipe(delay(3_600_000), map(({ data }) => ({ ...event, data: { ...data, isSame } }))),
});
`,
      'p.yaml': `
collectors: { log: { plugin: test } }
processors: { same: { plugin: ./same.mjs } }
forwarders: { out: { plugin: noop } }
pipelines: { main: { collect: log, process: same, forward: out } }
host_config: {}
tests:
  a delay of an hour:
    collect: { log: [{ n: 1 }] }
    expect: { out: { times: [1h], all: { isSame: true } } }
`,
    });
    symlinkSync(join(ROOT, 'node_modules'), join(cwd, 'node_modules'));
    expect(await runCli(['test', 'p.yaml'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  });
});

// Since Node 22.1.
const describeWithCache = 'enableCompileCache' in module ? describe : describe.skip;

describeWithCache('the code that Node compiles', () => {
  it.each([
    ['XDG_CACHE_HOME', 'millrace'],
    ['HOME', '.cache/millrace'],
  ])('is kept in the folder that %s names, under %s', async (variable, path) => {
    const folder = folderWith();
    expect(await runCli(['plugins'], { env: { [variable]: folder } })).toMatchObject({ code: 0 });
    expect(readdirSync(join(folder, path))).toHaveLength(1);
  });
});

describe('V8 flags', () => {
  /** The flags that a run sets. */
  async function flagsSetBy(...execArgv: readonly string[]) {
    // Preloaded: writes each flag that is set.
    const spy = `
import v8 from 'node:v8';
const set = v8.setFlagsFromString;
v8.setFlagsFromString = (flag) => { console.log(flag); set(flag); };`;
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(spy)}` };
    const args = [...execArgv, await upToDateBuild(), 'run', 'p.yaml', '--once', '--no-state'];
    const { stdout } = await startProcess(process.execPath, args, { cwd: maskingFolder(), env }).ended();
    return stdout.split('\n').filter((line) => line !== '');
  }

  it('are set by the command line', async () => {
    expect(await flagsSetBy()).toEqual(['--heap-growing-percent=300']);
  });

  it('stay as they are where Node was given another growth of the heap', async () => {
    expect(await flagsSetBy('--heap_growing_percent=100')).toEqual([]);
  });

  it('let a rule run that doubles with each character, or it is refused where V8 would end the process', async () => {
    const cwd = folderWith({
      'in.log': `${'a'.repeat(40)}!\n`,
      'p.yaml': `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors: { mask: { plugin: regex_mask, rules: { A: '(a+)+b' } } }
forwarders: { out: { plugin: stdout } }
pipelines: { main: { collect: log, process: mask, forward: out } }
host_config: {}
`,
    });
    const { code, stdout, stderr } = await runCli(['run', 'p.yaml', '--once', '--no-state'], { cwd });
    if (mayBeSet) {
      expect(code).toBe(0);
      expect(stdout).toContain(`"line":"${'a'.repeat(40)}!"`);
    } else {
      expect(code).toBe(2);
      expect(stderr).toContain('Only the command line on Node.js 20 can run such expressions');
    }
  });

  (mayBeSet ? it : it.skip)(
    'are never unset by a thread, so that threads agree and the settings of the user last',
    async () => {
      const lines = Array.from(
        { length: 20_000 },
        (_, i) => `${'a'.repeat(40)}! ${i % 10 === 0 ? 'ab' : ''}`,
      );
      const cwd = folderWith({
        'in.log': `${lines.join('\n')}\n`,
        'p.yaml': `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors: { mask: { plugin: regex_mask, rules: { A: '(a+)+b', B: '(?:x+)+y', C: '^(?:a|aa)+$' } } }
forwarders: { out: { plugin: disk, path: ., filename: out.jsonl } }
pipelines: { main: { collect: log, process: mask, forward: out, workers: 4 } }
host_config: {}
`,
      });
      // Preloaded into each thread: writes the flags that are set, and whether those of the user are at the end.
      const spy = `
import { writeSync } from 'node:fs';
import v8 from 'node:v8';
import { isMainThread } from 'node:worker_threads';
const set = v8.setFlagsFromString;
v8.setFlagsFromString = (flag) => { writeSync(2, 'sets ' + flag + '\\n'); set(flag); };
if (isMainThread) process.on('exit', () => writeSync(2, 'knows ' + new RegExp('a', 'l') + '\\n'));`;
      const { code, stderr } = await startProcess(
        process.execPath,
        [
          '--enable-experimental-regexp-engine',
          await upToDateBuild(),
          'run',
          'p.yaml',
          '--once',
          '--no-state',
        ],
        { cwd, env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(spy)}` } },
      ).ended();
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('knows /a/l') });
      expect(stderr).toContain('sets --enable-experimental-regexp-engine\n');
      expect(stderr).not.toContain('sets --no-');
      expect(stderr).not.toContain('could not be masked');
      const masked = readFileSync(join(cwd, 'out.jsonl'), 'utf8').split('\n');
      expect(masked.filter((line) => line.includes('! <:A:>'))).toHaveLength(2000);
    },
  );

  it('are not set by an import', async () => {
    const set = jest.spyOn(v8, 'setFlagsFromString');
    await import('../../src/index.ts');
    await import('../../plugins/process/redact.ts');
    expect(set).not.toHaveBeenCalled();
  });
});

it('with too few descriptors, works, as from Node 22 on, or says how many it needs and how to raise the limit', async () => {
  const { code, stdout, stderr } = await runShell('ulimit -n 40; millrace run p.yaml --once --no-state', {
    cwd: maskingFolder(),
  });
  expect(stdout).toBe('');
  if (code === 0) return;
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^millrace: too many open files: .* needs about 100,.*\n.*`ulimit -n 1024`.*`LimitNOFILE=1024`/,
  );
});
