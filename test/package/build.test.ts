import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ROOT, upToDateBuild } from '../support/build.ts';

jest.setTimeout(120_000);

const DIST = join(ROOT, 'dist');
const LICENSES = join(DIST, 'src/chunks/LICENSES.txt');

/** What of `dist` each module is in, those of packages included, by the source maps. */
let modules: { readonly path: string; readonly chunk: string }[];
const chunksOf = (wanted: string) => modules.flatMap(({ path, chunk }) => (path === wanted ? [chunk] : []));

beforeAll(async () => {
  await upToDateBuild();
  const chunks = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  modules = chunks.flatMap((chunk) => {
    const { sources }: { sources: string[] } = JSON.parse(readFileSync(join(DIST, `${chunk}.map`), 'utf8'));
    return sources.map((source) => ({ path: relative(ROOT, join(DIST, dirname(chunk), source)), chunk }));
  });
});

describe('the build', () => {
  it('has each module once: a class is the same one, whichever entry it is imported by', () => {
    expect(chunksOf('src/errors.ts')).toHaveLength(1);
    expect(modules.filter(({ path }) => chunksOf(path).length > 1)).toEqual([]);
  });

  it('has the file of the workers beside the chunk that starts them', () => {
    const [chunk = ''] = chunksOf('src/workers/worker-pool.ts');
    expect(existsSync(join(DIST, dirname(chunk), 'line-worker.js'))).toBe(true);
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
