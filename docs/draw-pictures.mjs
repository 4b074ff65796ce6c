// Draws docs/pictures: every test of every example, and the graph of each. `npm run pictures`; a test compares.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const folder = process.argv[2] ?? join(root, 'docs/pictures');
const millrace = (...args) =>
  execFileSync(process.execPath, [join(root, 'dist/src/cli/bin.js'), ...args], {
    cwd: root,
    encoding: 'utf8',
  });

const examples = readdirSync(join(root, 'examples'))
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => `examples/${name}`);

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
millrace('test', ...examples, '--svg', folder);
for (const example of examples) {
  const picture = join(folder, `graph-${basename(example, '.yaml')}.svg`);
  writeFileSync(picture, millrace('graph', example, '--format', 'svg'));
}
