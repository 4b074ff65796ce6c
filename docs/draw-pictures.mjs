// Draws docs/pictures: every test of every example, and the graph of each. `npm run pictures`; a test compares.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Draws into a folder, which is emptied first. `millrace` runs a command line, and gives what it prints. */
export async function drawPictures(folder, millrace) {
  const examples = readdirSync(join(root, 'examples'))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => join(root, 'examples', name));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await millrace(['test', ...examples, '--svg', folder]);
  for (const example of examples) {
    const picture = join(folder, `graph-${basename(example, '.yaml')}.svg`);
    writeFileSync(picture, await millrace(['graph', example, '--format', 'svg']));
  }
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const cli = join(root, 'dist/src/cli/bin.js');
  const millrace = (args) => execFileSync(process.execPath, [cli, ...args], { cwd: root, encoding: 'utf8' });
  await drawPictures(process.argv[2] ?? join(root, 'docs/pictures'), millrace);
}
