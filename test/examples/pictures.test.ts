import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { upToDateBuild } from '../support/build.ts';
import { tempFolder } from '../support/temp-folder.ts';

const pictures = 'docs/pictures';
const folder = tempFolder();

beforeAll(upToDateBuild);

it('docs/pictures are what the examples draw today; `npm run pictures` redraws them', () => {
  const drawn = folder('pictures');
  execFileSync(process.execPath, ['docs/draw-pictures.mjs', drawn]);
  expect(readdirSync(pictures).sort()).toEqual(readdirSync(drawn).sort());
  for (const name of readdirSync(drawn)) {
    expect({ name, svg: readFileSync(join(pictures, name), 'utf8') }).toEqual({
      name,
      svg: readFileSync(join(drawn, name), 'utf8'),
    });
  }
});
