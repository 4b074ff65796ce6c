import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { startProcess } from '../support/cli.ts';
import { installed, type Packages } from '../support/installed.ts';
import { loadedFiles } from '../support/loaded-files.ts';

const OBSERVABLE = 'node_modules/rxjs/dist/cjs/internal/Observable.js';

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

/** Runs the pipeline: what the plugin says, and whether the class was in a file of RxJS's own. */
async function run(packages: Packages, flags: (folder: string) => readonly string[] = () => []) {
  const { folder, cli } = await installed({ 'p.yaml': CONFIG, 'classes.mjs': CLASSES }, packages);
  const args = [...flags(folder), cli, 'run', 'p.yaml', '--once', '--no-state'];
  const { result, files } = await loadedFiles((env) =>
    startProcess(process.execPath, args, { cwd: folder, env }).ended(),
  );
  expect(result).toMatchObject({ code: 0 });
  return { data: JSON.parse(result.stdout).data, hasFile: files.includes(join(folder, OBSERVABLE)) };
}

describe('RxJS in the command line', () => {
  const data = { imported: true, required: true };

  it('comes from one file, and is what a plugin imports and requires', async () => {
    expect(await run({})).toEqual({ data, hasFile: false });
  });

  it('comes from its own files, if another version is installed', async () => {
    expect(await run({ rxjs: '7.99.0' })).toEqual({ data, hasFile: true });
  });

  it('is what was loaded before', async () => {
    const loadBefore = (folder: string) => ['--require', join(folder, OBSERVABLE)];
    expect(await run({}, loadBefore)).toEqual({ data, hasFile: true });
  });
});
