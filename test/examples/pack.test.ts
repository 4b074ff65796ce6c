import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
import { folderWith, runCommand } from '../support/cli.ts';

const EXAMPLE = join(ROOT, 'examples/pack');

it('examples/pack passes its tests', async () => {
  const { code, stdout } = await runCommand(['packs', '--test', './pack.yaml'], { cwd: EXAMPLE });
  expect(stdout).toContain('none of 10,000 ordinary lines altered');
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/all 4 passed\n$/) });
});

it('examples/pack masks what it says, as an installed package', async () => {
  const cwd = folderWith();
  cpSync(EXAMPLE, join(cwd, 'node_modules/millrace-pack-acme'), { recursive: true });
  const lines = ['db_tresorwort=sommer24', 'tresorwort ~~> sommer24', 'password=farbe-blau', 'ACM-40718254'];
  writeFileSync(join(cwd, 'app.log'), `${lines.join('\n')}\n`);
  const { code, stdout } = await runCommand(['redact', '--packs', 'default,millrace-pack-acme', 'app.log'], {
    cwd,
  });
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: 'db_tresorwort=<:password:>\ntresorwort ~~> <:password:>\npassword=farbe-blau\n<:ticket:>\n',
  });
});
