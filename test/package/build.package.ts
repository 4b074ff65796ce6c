import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { folderWith } from '../support/cli.ts';

const DIST = join(ROOT, 'dist');
const ENTRIES = [
  ...['src/index.js', 'src/testing/index.js', 'operators/index.js', 'operators/node.js'],
  'redact/pino-transport.js',
];
const CLI = 'src/cli/bin.js';
const WORKER = 'src/chunks/line-worker.js';

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

beforeAll(upToDateBuild);

/** What a file of `dist` imports: at once, and at some time. */
function importsOf(file: string): { readonly now: string[]; readonly later: string[] } {
  const text = readFileSync(join(DIST, file), 'utf8');
  const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, path = '']) => path);
  return {
    now: found(/^(?:import|export) (?:[^"'\n]* from )?["']([^"']+)["'];$/gm),
    later: found(/\b(?:import|createRequire\(import\.meta\.url\))\(["']([^"']+)["']\)/g),
  };
}

/** The files that are loaded with some, which are in the result, and the packages. */
function loadedWith(entries: readonly string[], andLater = false) {
  const files = new Set(entries);
  const packages = new Set<string>();
  for (const file of files) {
    const { now, later } = importsOf(file);
    for (const path of andLater ? [...now, ...later] : now) {
      if (path.startsWith('.')) files.add(join(dirname(file), path));
      else if (!path.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] as string);
    }
  }
  return { files: [...files], packages: [...packages].sort() };
}

/** The modules that are in a file of `dist`, by its source map. */
function sourcesOf(file: string): string[] {
  if (!existsSync(join(DIST, `${file}.map`))) return [];
  const { sources }: { sources: string[] } = JSON.parse(readFileSync(join(DIST, `${file}.map`), 'utf8'));
  return sources.map((source) => relative(ROOT, join(DIST, dirname(file), source)));
}

describe('the build', () => {
  it('has each module once: a class is the same one, whichever entry it is imported by', () => {
    const sources = loadedWith([...ENTRIES, CLI], true).files.flatMap(sourcesOf);
    expect(sources).toContain('src/sdk/errors.ts');
    expect(sources.filter((path, i) => sources.indexOf(path) < i)).toEqual([]);
  });

  it('has nothing of packages, and imports those that the manifest names', () => {
    const { files, packages } = loadedWith([...ENTRIES, CLI, WORKER], true);
    expect(files.flatMap(sourcesOf).filter((path) => path.includes('node_modules'))).toEqual([]);
    // What wraps objects of these packages needs their types only.
    const isTypeOnly = (name: string) => name === 'ai' || name.startsWith('@opentelemetry/');
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
      .filter((name) => !isTypeOnly(name))
      .sort();
    expect(packages.filter((name) => !builtinModules.includes(name))).toEqual(declared);
  });

  it('has the file of the workers beside the chunk that starts them, which loads `redact` and its packs later, and never RxJS', () => {
    const chunk = loadedWith(ENTRIES).files.find((file) =>
      sourcesOf(file).includes('src/worker-pool/worker-pool.ts'),
    );
    expect(join(dirname(chunk as string), 'line-worker.js')).toBe(WORKER);
    // A worker loads cel-js only if one of its processors has expressions.
    const packages = ['@eslint-community/regexpp', '@marcbachmann/cel-js', '@noble/hashes'];
    const all = loadedWith([WORKER], true);
    expect(all.packages).toEqual(packages);
    const isOfRedact = (file: string) => file.endsWith('/worker-redact-masking.js');
    expect(all.files.filter(isOfRedact)).toHaveLength(1);
    expect(loadedWith([WORKER]).files.filter(isOfRedact)).toEqual([]);
  });

  it('lets an application load the engine without the command line', () => {
    const { files, packages } = loadedWith(['src/index.js']);
    const sources = files.flatMap(sourcesOf);
    expect(sources).toContain('src/engine/manager.ts');
    expect(sources.filter((path) => path.startsWith('src/cli/'))).toEqual([]);
    expect(packages).not.toContain('commander');
    expect(packages).not.toContain('winston');
  });

  it('lets an application load the operators without the engine', () => {
    const later = loadedWith(['operators/index.js'], true);
    expect(later.packages).toEqual(['@eslint-community/regexpp', 'rxjs']);
    expect(later.files.flatMap(sourcesOf).filter((path) => path.startsWith('src/'))).toEqual([]);
    const sources = loadedWith(['operators/node.js']).files.flatMap(sourcesOf);
    expect(sources.filter((path) => path.startsWith('src/'))).toEqual([]);
  });

  it('lets an application load the redactor without RxJS, the engine and its schemas', () => {
    const { files, packages } = loadedWith(['redact/index.js', 'redact/node.js'], true);
    expect(packages.filter((name) => !name.startsWith('@noble/'))).toEqual(['@eslint-community/regexpp']);
    const sources = files.flatMap(sourcesOf);
    expect(sources.filter((path) => /^src\/|^plugins\/process\//.test(path))).toEqual([]);
  });
});

describe('the bundle of a program', () => {
  it.each([
    { format: 'esm', external: [] },
    { format: 'cjs', external: [] },
    { format: 'esm', external: ['rxjs'] },
    { format: 'cjs', external: ['rxjs'] },
  ] as const)('has one RxJS: by esbuild, $format, external: $external', async ({ format, external }) => {
    const folder = folderOfProgram();
    const outfile = join(folder, format === 'esm' ? 'bundle.mjs' : 'bundle.cjs');
    await build({
      ...{ entryPoints: [join(folder, 'program.mjs')], outfile, bundle: true, platform: 'node', format },
      ...{ external: [...ALWAYS_EXTERNAL, ...external], logLevel: 'silent' },
      // For packages that are CommonJS and require modules of Node, esbuild leaves this to the program.
      ...(format === 'esm' ? { banner: { js: REQUIRE } } : {}),
    });
    expect(printedBy(outfile)).toEqual(PRINTED);
  });

  it.each([[[]], [['rxjs', 'rxjs/testing']]])('has one RxJS: by rolldown, external: %j', (external) => {
    const folder = folderOfProgram();
    const file = join(folder, 'bundle.mjs');
    const options = ['--platform', 'node', '--no-code-splitting', '--format', 'esm', '--file', file];
    const externals = [...ALWAYS_EXTERNAL, ...external].flatMap((name) => ['--external', name]);
    const rolldown = join(ROOT, 'node_modules/rolldown/bin/cli.mjs');
    execFileSync(process.execPath, [rolldown, ...options, ...externals, 'program.mjs'], { cwd: folder });
    expect(printedBy(file)).toEqual(PRINTED);
  });
});

const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);";

/** It is large: a program that bundles millrace leaves it outside. */
const ALWAYS_EXTERNAL = ['systeminformation'];

function folderOfProgram(): string {
  const folder = folderWith({ 'program.mjs': PROGRAM });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/millrace'));
  for (const name of ['rxjs', ...ALWAYS_EXTERNAL])
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  return folder;
}

const printedBy = (file: string) => JSON.parse(execFileSync(process.execPath, [file], { encoding: 'utf8' }));

/** Prints what it masks, what it delays by an hour of virtual time, and whether there is one RxJS. */
const PROGRAM = `
import { Manager, parseConfig } from 'millrace';
import { delayRange, poll, regexMask } from 'millrace/operators';
import { lastValueFrom, Observable, of } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';

const delayed = [];
new TestScheduler(() => {}).run(() => {
  of('a').pipe(delayRange({ minimum: 3_600_000, maximum: 3_600_000 })).subscribe((value) => delayed.push(value));
});
const isOneRxjs = poll(() => [], { interval: 1 }) instanceof Observable;

async function run() {
  const config = await parseConfig({
    collectors: { ticks: { plugin: 'test', count: 1 } },
    forwarders: { nowhere: { plugin: 'noop' } },
    pipelines: { main: { collect: 'ticks', forward: 'nowhere' } },
    host_config: {},
  });
  const { state } = new Manager(config).states().main;
  const masked = await lastValueFrom(of('PIN 1234').pipe(regexMask({ rules: { PIN: '[0-9]{4}' } })));
  console.log(JSON.stringify({ masked, delayed, isOneRxjs, state }));
}
run();
`;
const PRINTED = { masked: 'PIN <:PIN:>', delayed: ['a'], isOneRxjs: true, state: 'idle' };
