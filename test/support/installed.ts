import { cpSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, upToDateBuild } from './build.ts';
import { folderWith } from './cli.ts';

/** What of a package is loaded; the whole would take long to copy. */
const CODE = ['package.json', 'dist'];

/** Millrace, installed in a folder that has these files too, without some packages; and its command line. */
export async function installed(
  files: Readonly<Record<string, string>>,
  without: readonly string[] = [],
): Promise<{ readonly folder: string; readonly cli: string }> {
  const folder = folderWith(files);
  const packages = join(folder, 'node_modules');
  const copy = (from: string, name: string) => {
    for (const path of CODE) cpSync(join(from, path), join(packages, name, path), { recursive: true });
  };
  await upToDateBuild();
  copy(ROOT, 'millrace');
  // A link would be resolved, and what they require looked for in this project.
  const copied = ['rxjs'];
  for (const name of copied) copy(join(ROOT, 'node_modules', name), name);
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (![...copied, ...without].includes(name))
      symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
  }
  return { folder, cli: join(packages, 'millrace/dist/src/cli/bin.js') };
}
