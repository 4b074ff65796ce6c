import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';

const page = readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8');
const named = (pattern: RegExp) => [...new Set(Array.from(page.matchAll(pattern), ([, name = '']) => name))];

it('docs/reliability.md names every test of a fault, and no other', () => {
  const faults = readdirSync(join(ROOT, 'test/faults'))
    .filter((name) => name.endsWith('.fault.ts'))
    .map((name) => name.slice(0, -'.fault.ts'.length));
  expect(named(/`(\d\d-[\w-]+)`/g).sort()).toEqual(faults.sort());
});

it('docs/reliability.md names tests that there are', () => {
  const paths = named(/`(test\/[^`]+\.test\.ts)`/g);
  expect(paths).not.toEqual([]);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
