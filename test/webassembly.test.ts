import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from './support/build.ts';
import { tempFolder } from './support/temp-folder.ts';

const CODE = [
  'src/sdk/json-lines/json-lines-code.ts',
  'src/sdk/json-lines/written-lines-code.ts',
  'operators/masks/bytes/byte-masks-code.ts',
];

describe('WebAssembly', () => {
  const folder = tempFolder();

  it('is what its text says today; `npm run wat` rewrites it', () => {
    execFileSync(process.execPath, [join(ROOT, 'build/write-wat.mjs'), folder()]);
    const read = (path: string) => readFileSync(path, 'utf8');
    const written = readdirSync(folder()).map((name) => read(folder(name)));
    expect(written.toSorted()).toEqual(CODE.map((path) => read(join(ROOT, path))).toSorted());
  });
});
