import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
import { folderWith, runCommand } from '../support/cli.ts';

const { drawPictures } = await import(join(ROOT, 'docs/draw-pictures.mjs'));

const picturesIn = (folder: string) =>
  readdirSync(folder)
    .sort()
    .map((name) => ({ name, svg: readFileSync(join(folder, name), 'utf8') }));

it('docs/pictures are what `npm run pictures` draws today: tests, which pass without the files of the examples, and graphs', async () => {
  const [cwd, drawn] = [folderWith(), folderWith()];
  const printed: string[] = [];
  await drawPictures(drawn, async (args: readonly string[]) => {
    const { code, stdout, stderr } = await runCommand(args, { cwd });
    expect({ code, stderr, failed: stdout.match(/✗.*/g) }).toEqual({ code: 0, stderr: '', failed: null });
    printed.push(stdout);
    return stdout;
  });
  const examples = readdirSync(join(ROOT, 'examples')).filter((name) => name.endsWith('.yaml'));
  for (const name of examples) expect(printed[0]).toContain(`${join(ROOT, 'examples', name)}\n  ✓ `);
  expect(readdirSync(cwd)).toEqual([]);
  expect(picturesIn(drawn)).toEqual(picturesIn(join(ROOT, 'docs/pictures')));
});
