import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ROOT, upToDateBuild } from '../support/build.ts';

jest.setTimeout(120_000);

const DIST = join(ROOT, 'dist');
const LICENSES = join(DIST, 'src/chunks/LICENSES.txt');

/** The modules of `dist`, those of packages included, by the source maps of what the entries share. */
let modules: string[];

beforeAll(async () => {
  await upToDateBuild();
  const maps = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js.map'),
  );
  modules = maps.flatMap((name) => {
    const { sources }: { sources: string[] } = JSON.parse(readFileSync(join(DIST, name), 'utf8'));
    return sources.map((source) => relative(ROOT, join(DIST, dirname(name), source)));
  });
});

describe('the build', () => {
  it('has each module once: a class is the same one, whichever entry it is imported by', () => {
    expect(modules).toContain('src/errors.ts');
    expect(modules.filter((path, index) => modules.indexOf(path) !== index)).toEqual([]);
  });

  it('leaves RxJS to the application, and has the licences of the packages that it holds', () => {
    const packages = modules.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    expect(packages).toContain('zod');
    expect(packages).not.toContain('rxjs');
    const licenses = readFileSync(LICENSES, 'utf8');
    for (const name of new Set(packages)) expect(licenses).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });
});
