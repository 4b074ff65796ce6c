import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
import { folderWith, runCli } from '../support/cli.ts';

const examples = readdirSync(join(ROOT, 'examples'))
  .filter((name) => /\.ya?ml$/.test(name))
  .map((name) => `examples/${name}`);

describe('the tests of the examples', () => {
  it('are there in all of them', () => {
    expect(examples).toEqual(
      expect.arrayContaining(
        ['quickstart', 'host-metrics', 'redaction', 'fan-out', 'restart'].map(
          (name) => `examples/${name}.yaml`,
        ),
      ),
    );
  });

  it('pass', async () => {
    const { code, stdout, stderr } = await runCli(['test', ...examples]);
    expect({ code, stderr, failed: stdout.match(/✗.*/g) }).toEqual({ code: 0, stderr: '', failed: null });
    for (const file of examples) expect(stdout).toContain(`${file}\n  ✓ `);
    expect(stdout).toMatch(/\n\d+ passed\n$/);
  });

  it('pass without the files and folders of the examples', async () => {
    const cwd = folderWith();
    const { code } = await runCli(['test', ...examples.map((name) => join(ROOT, name))], { cwd });
    expect(code).toBe(0);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe('an example that is tested', () => {
  it.each(['redaction', 'fan-out', 'restart'])('runs for real: %s', async (name) => {
    // Their paths begin at the repository; their results stay in a folder of the test's own.
    const cwd = folderWith();
    symlinkSync(join(ROOT, 'examples'), join(cwd, 'examples'));
    const { code, stderr } = await runCli(['run', `examples/${name}.yaml`, '--once'], { cwd });
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/^ {2}in +2,400 /m) });
  });
});
