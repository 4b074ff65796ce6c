import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { fill, Random } from '../../plugins/pack-tests/templates.ts';
import { resolvePackRules } from '../../plugins/packs/load-packs.ts';
import { ROOT, upToDateBuild } from '../support/build.ts';

beforeAll(upToDateBuild);

const operator = (name: string) => `export { ${name} } from './operators/dist/index.js';`;

/** The bytes that a page loads for a module, minified and compressed by brotli (quality 11), without RxJS. */
async function sizeOf(contents: string): Promise<number> {
  const { metafile, outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT },
    ...{ bundle: true, minify: true, splitting: true, format: 'esm', target: 'es2022' },
    ...{ external: ['rxjs'], write: false, metafile: true, outdir: 'out', absWorkingDir: ROOT },
  });
  const loaded = new Set(['out/stdin.js']);
  for (const file of loaded) {
    const imports = metafile.outputs[file]?.imports ?? [];
    for (const { path, kind } of imports)
      if (kind === 'import-statement' && path !== 'rxjs') loaded.add(path);
  }
  return outputFiles
    .filter(({ path }) => loaded.has(path.slice(ROOT.length)))
    .reduce((bytes, { contents }) => bytes + brotliCompressSync(contents).length, 0);
}

describe('what a page loads for a single operator', () => {
  it.each([
    ['dedupe', 950],
    ['orderedMap', 1100],
    ['regexMask', 7500],
    ['entropyMask', 6400],
  ])('%s: at most %d bytes', async (name, most) => {
    const bytes = await sizeOf(operator(name));
    expect(bytes).toBeGreaterThan(300);
    expect(bytes).toBeLessThanOrEqual(most);
  });
});

describe('what a page loads for redactStream', () => {
  const secretRules = "export { secretRules } from './redact/dist/redact/secrets.js';";

  it('without packs: at most 95,000 bytes', async () => {
    expect(await sizeOf(operator('redactStream'))).toBeLessThanOrEqual(95_000);
  });

  it('with the default packs: at most 165,000 bytes', async () => {
    expect(await sizeOf(operator('redactStream') + secretRules)).toBeLessThanOrEqual(165_000);
  });

  it('with all packs: at most 180,000 bytes', async () => {
    const packRules = "export { packRules } from './redact/dist/redact/index.js';";
    expect(await sizeOf(operator('redactStream') + packRules)).toBeLessThanOrEqual(180_000);
  });

  it('has the rules of the default packs and no others from @millrace/redact/secrets', async () => {
    const [{ secretRules }, { packRules }] = [
      await import('@millrace/redact/secrets'),
      await import('@millrace/redact'),
    ];
    expect(secretRules()).toEqual(packRules());
    expect(secretRules(['secrets/providers:*'])).toEqual(packRules('default', ['secrets/providers:*']));
  });

  it('without the tests of the packs, and with all that finds values', async () => {
    const lean = await import('@millrace/redact');
    const whole = await import('millrace/redact');
    expect(JSON.stringify(lean.packRules('all'))).not.toMatch(/"(?:tests|miss|example)":/);
    const packs = lean.packNames();
    const [a, b] = [lean.createRedactor({ packs }), whole.createRedactor({ packs })];
    const r = new Random(22);
    for (const { tests } of Object.values(resolvePackRules(packs)))
      for (const template of tests.matches.slice(0, 2)) {
        const { text } = fill(template, r);
        expect(a.redact(text)).toBe(b.redact(text));
      }
    expect(a.report()).toEqual(b.report());
  });
});

describe('what a program loads for millrace/redact', () => {
  it.each(['index', 'node', 'secrets', 'pino', 'winston', 'console'])('%s: neither RxJS nor zod', (entry) => {
    const files = new Set([join(ROOT, `dist/redact/${entry}.js`)]);
    const packages = new Set<string>();
    for (const file of files) {
      for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import) "([^"]+)";/g)) {
        if (name.startsWith('.')) files.add(join(dirname(file), name));
        else packages.add(name);
      }
    }
    expect(files.size).toBeGreaterThan(1);
    expect([...packages].filter((name) => /^(?:rxjs|zod|js-yaml)/.test(name))).toEqual([]);
  });
});
