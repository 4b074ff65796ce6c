import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, upToDateBuild } from './build.ts';
import { folderWith } from './cli.ts';

/** What of a package is loaded; the whole would take long to copy. */
const CODE = ['package.json', 'dist'];

/** How the packages of an installation differ from those of this project. */
export interface Packages {
  /** The version that RxJS says it is. */
  readonly rxjs?: string;
  readonly without?: readonly string[];
}

/** Millrace, installed in a folder that has these files too; and the path of its command line. */
export async function installed(
  files: Readonly<Record<string, string>>,
  { rxjs, without = [] }: Packages = {},
): Promise<{ readonly folder: string; readonly cli: string }> {
  const folder = folderWith(files);
  const packages = join(folder, 'node_modules');
  const copy = (from: string, name: string) => {
    for (const path of CODE) cpSync(join(from, path), join(packages, name, path), { recursive: true });
  };
  await upToDateBuild();
  copy(ROOT, 'millrace');
  // A link would be resolved, and what they require looked for in this project.
  const copied = ['rxjs', 'lmdb'];
  for (const name of copied) copy(join(ROOT, 'node_modules', name), name);
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (![...copied, ...without].includes(name))
      symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
  }
  if (rxjs !== undefined) {
    const manifest = join(packages, 'rxjs/package.json');
    writeFileSync(manifest, JSON.stringify({ ...JSON.parse(readFileSync(manifest, 'utf8')), version: rxjs }));
  }
  return { folder, cli: join(packages, 'millrace/dist/src/cli/bin.js') };
}
