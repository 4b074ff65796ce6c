import { brotliCompressSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { ROOT, upToDateBuild } from '../support/build.ts';

beforeAll(upToDateBuild);

/** The bytes that a page loads for one operator of the package, minified and compressed by brotli (quality 11), without RxJS. */
async function sizeOf(name: string): Promise<number> {
  const { metafile, outputFiles } = await build({
    stdin: { contents: `export { ${name} } from './operators/dist/index.js';`, resolveDir: ROOT },
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
    ['orderedMap', 1050],
    ['regexMask', 7500],
    ['entropyMask', 6100],
  ])('%s: at most %d bytes', async (name, most) => {
    const bytes = await sizeOf(name);
    expect(bytes).toBeGreaterThan(300);
    expect(bytes).toBeLessThanOrEqual(most);
  });
});
