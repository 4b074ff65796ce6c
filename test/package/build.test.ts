import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { build } from 'esbuild';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { folderWith } from '../support/cli.ts';

jest.setTimeout(120_000);

const DIST = join(ROOT, 'dist');
const LICENSES = join(DIST, 'src/chunks/LICENSES.txt');

const WORKER = 'src/chunks/line-worker.js';
/** What Node loads is CommonJS; workers and browsers get modules. */
const isOfNode = (chunk: string): boolean => chunk.endsWith('.cjs');

/** What of `dist` each module is in, those of packages included, by the source maps. */
let modules: { readonly path: string; readonly chunk: string }[];
const chunksOf = (wanted: string) => modules.flatMap(({ path, chunk }) => (path === wanted ? [chunk] : []));

beforeAll(async () => {
  await upToDateBuild();
  // One without a map has no module, but names for those of another.
  const chunks = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.c?js$/.test(name) && existsSync(join(DIST, `${name}.map`)),
  );
  modules = chunks.flatMap((chunk) => {
    const { sources }: { sources: string[] } = JSON.parse(readFileSync(join(DIST, `${chunk}.map`), 'utf8'));
    return sources.map((source) => ({ path: relative(ROOT, join(DIST, dirname(chunk), source)), chunk }));
  });
});

describe('the build', () => {
  it('has each module once: a class is the same one, whichever entry it is imported by', () => {
    expect(chunksOf('src/errors.ts').filter(isOfNode)).toHaveLength(1);
    const inNode = modules.filter(({ chunk }) => isOfNode(chunk)).map(({ path }) => path);
    expect(inNode.filter((path, i) => inNode.indexOf(path) < i)).toEqual([]);
  });

  it('has the file of the workers beside the chunk that starts them, and whole', () => {
    const [chunk = ''] = chunksOf('src/workers/worker-pool.ts').filter(isOfNode);
    expect(join(dirname(chunk), 'line-worker.js')).toBe(WORKER);
    // To load RxJS, which it does not use, would take it as long as all else.
    expect(readFileSync(join(DIST, WORKER), 'utf8')).not.toMatch(/from ["']\.|#rxjs/);
  });

  it('lets an application load the engine without the command line', () => {
    const loaded = new Set(['src/index.js']);
    for (const chunk of loaded) {
      const text = readFileSync(join(DIST, chunk), 'utf8');
      for (const [, path = ''] of text.matchAll(/^(?:import |const ).*["'](\.[^"']+\.cjs)["']\)?;$/gm)) {
        loaded.add(join(dirname(chunk), path));
      }
    }
    const sources = modules.filter(({ chunk }) => loaded.has(chunk)).map(({ path }) => path);
    expect(sources).toContain('src/manager.ts');
    expect(sources.filter((path) => /^src\/cli\/|\/(?:commander|winston)\//.test(path))).toEqual([]);
  });

  it.each([
    ['esm', 'program.mjs'],
    ['cjs', 'program.cjs'],
  ] as const)('can be put into the bundle of a program: %s', async (format, name) => {
    const program = `
      import { Manager } from 'millrace';
      import { regexMask } from 'millrace/operators';
      import { of } from 'rxjs';
      of('PIN 1234').pipe(regexMask({ rules: { PIN: '[0-9]{4}' } })).subscribe((text) => console.log(text, typeof Manager));
    `;
    const outfile = join(folderWith(), name);
    await build({
      stdin: { contents: program, resolveDir: ROOT },
      bundle: true,
      platform: 'node',
      format,
      external: ['systeminformation'],
      outfile,
      logLevel: 'silent',
    });
    const stdout = execFileSync(process.execPath, [outfile], { encoding: 'utf8' });
    expect(stdout).toBe('PIN <:PIN:> function\n');
  });

  it.each(['src/index', 'src/testing/index', 'operators/index', 'operators/node'])(
    'exports the same to all: %s',
    async (entry) => {
      const names = async (path: string) =>
        Object.keys(await import(join(DIST, path))).filter(
          (name) => !/^(default|module\.exports)$/.test(name),
        );
      const wanted = Object.keys(createRequire(import.meta.url)(join(DIST, `${entry}.cjs`)));
      expect((await names(`${entry}.js`)).sort()).toEqual(wanted.sort());
      expect((await names(`esm/${entry}.js`)).sort()).toEqual(wanted.sort());
    },
  );

  it('takes of RxJS the parts that it uses, which are those of the application', () => {
    const require = createRequire(import.meta.url);
    const parts = Object.entries<unknown>(require(join(DIST, 'src/chunks/rxjs.cjs')));
    expect(parts.length).toBeGreaterThan(20);
    expect(parts.filter(([name, part]) => part === undefined || part !== require('rxjs')[name])).toEqual([]);
  });

  it('leaves RxJS to the application, and has the licences of the packages that it holds', () => {
    const packages = modules.flatMap(
      ({ path }) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    );
    expect(packages).toContain('zod');
    expect(packages).not.toContain('rxjs');
    const licenses = readFileSync(LICENSES, 'utf8');
    for (const name of new Set(packages)) expect(licenses).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });
});
