import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { folderWith, startProcess } from '../support/cli.ts';
import { loadedFiles } from '../support/loaded-files.ts';

const PACKAGES = join(ROOT, 'node_modules');
const RXJS = 'node_modules/rxjs';
const MANIFEST = JSON.parse(readFileSync(join(PACKAGES, 'rxjs/package.json'), 'utf8'));
const OBSERVABLE = 'dist/cjs/internal/Observable.js';

const CONFIG = `
collectors: { classes: { plugin: ./classes.mjs } }
forwarders: { screen: { plugin: stdout } }
pipelines: { main: { collect: classes, forward: screen } }
host_config: {}
`;
/** Whether what millrace makes is of the class that a plugin has. */
const CLASSES = `import { createRequire } from 'node:module';
import { poll } from 'millrace/operators';
import { Observable, of } from 'rxjs';
const made = poll(() => [], { interval: 1 });
const data = {
  imported: made instanceof Observable,
  required: made instanceof createRequire(import.meta.url)('rxjs').Observable,
};
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const collect = () => of({ data });
`;

/** A folder with this version of RxJS, and millrace, installed. */
async function installed(version: string): Promise<string> {
  const folder = folderWith({
    'p.yaml': CONFIG,
    'classes.mjs': CLASSES,
    [`${RXJS}/package.json`]: JSON.stringify({ ...MANIFEST, version }),
  });
  const millrace = join(folder, 'node_modules/millrace');
  mkdirSync(millrace);
  await upToDateBuild();
  for (const path of ['dist', 'package.json'])
    cpSync(join(ROOT, path), join(millrace, path), { recursive: true });
  cpSync(join(ROOT, RXJS, 'dist/cjs'), join(folder, RXJS, 'dist/cjs'), { recursive: true });
  for (const name of readdirSync(PACKAGES)) {
    if (name !== 'rxjs') symlinkSync(join(PACKAGES, name), join(folder, 'node_modules', name));
  }
  return folder;
}

/** Runs the pipeline: what the plugin says, and whether the class was in a file of RxJS's own. */
async function run(folder: string, ...flags: readonly string[]) {
  const cli = [
    join(folder, 'node_modules/millrace/dist/src/cli/bin.js'),
    'run',
    'p.yaml',
    '--once',
    '--no-state',
  ];
  const { result, files } = await loadedFiles((env) =>
    startProcess(process.execPath, [...flags, ...cli], { cwd: folder, env }).ended(),
  );
  expect(result).toMatchObject({ code: 0 });
  return { data: JSON.parse(result.stdout).data, hasFile: files.includes(join(folder, RXJS, OBSERVABLE)) };
}

describe('RxJS in the command line', () => {
  const same = { imported: true, required: true };

  it('comes from one file, and is what a plugin imports and requires', async () => {
    expect(await run(await installed(MANIFEST.version))).toEqual({ data: same, hasFile: false });
  });

  it('comes from its own files, if another version is installed', async () => {
    expect(await run(await installed('7.99.0'))).toEqual({ data: same, hasFile: true });
  });

  it('is what was loaded before', async () => {
    const folder = await installed(MANIFEST.version);
    const before = ['--require', join(folder, RXJS, OBSERVABLE)];
    expect(await run(folder, ...before)).toEqual({ data: same, hasFile: true });
  });
});
