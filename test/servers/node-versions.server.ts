import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { folderWith, startProcess } from '../support/cli.ts';

/** Node.js as npm has it, kept for the next run of the tests; undefined where it cannot be installed. */
function installedNode(major: number): string | undefined {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(ROOT, 'out/node-versions', String(major));
  const program = join(folder, 'node_modules', name, 'bin/node');
  const options = ['--no-save', '--no-audit', '--no-fund', '--prefix', folder];
  try {
    if (!existsSync(program))
      execFileSync('npm', ['install', ...options, `${name}@${major}`], { stdio: 'pipe' });
    execFileSync(program, ['--version']);
    return program;
  } catch {
    return undefined;
  }
}

for (const major of [12, 16, 18]) {
  const node = installedNode(major);
  const suite = node === undefined ? describe.skip : describe;
  const name = `with Node.js ${major}${node === undefined ? ' (which npm cannot install here)' : ''}`;
  const required = new RegExp(`Node\\.js 20\\.19 or later is required, and this is Node\\.js ${major}\\.`);

  suite(name, () => {
    it.each([['validate', 'p.yaml'], ['run', 'p.yaml', '--once'], ['--version'], ['redact'], []])(
      'the command line says which version it requires: millrace %s %s',
      async (...args) => {
        const command = [await upToDateBuild(), ...args.filter((arg) => typeof arg === 'string')];
        const { code, stdout, stderr } = await startProcess(node as string, command).ended();
        expect(code).toBe(2);
        expect(stdout).toBe('');
        expect(stderr).toMatch(required);
        expect(stderr.trim().split('\n')).toHaveLength(1);
      },
      30_000,
    );

    // Older ones cannot parse the library.
    (major < 18 ? it.skip : it)(
      'so does the library',
      async () => {
        await upToDateBuild();
        const index = pathToFileURL(join(ROOT, 'dist/src/index.js'));
        const cwd = folderWith({ 'a.mjs': `import { Manager } from '${index}';\nconsole.log(Manager);\n` });
        const { code, stdout, stderr } = await startProcess(node as string, ['a.mjs'], { cwd }).ended();
        expect([code, stdout]).toEqual([1, '']);
        expect(stderr).toMatch(required);
      },
      30_000,
    );
  });
}
