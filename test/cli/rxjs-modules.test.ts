import { appendFileSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { startProcess } from '../support/cli.ts';
import { installed } from '../support/installed.ts';

const RXJS = 'node_modules/rxjs/dist/cjs/internal';

const CONFIG = `
collectors: { classes: { plugin: ./classes.mjs } }
forwarders: { screen: { plugin: stdout } }
pipelines: { main: { collect: classes, forward: screen } }
host_config: {}
`;
/** Whether what millrace makes is of the class that a plugin has, and whether Node loaded it. */
const CLASSES = `import { createRequire } from 'node:module';
import { poll } from 'millrace/operators';
import { Observable, of } from 'rxjs';
const require = createRequire(import.meta.url);
const made = poll(() => [], { interval: 1 });
const data = {
  imported: made instanceof Observable,
  required: made instanceof require('rxjs').Observable,
  patched: Observable.isPatched === true,
  byNode: require.cache[require.resolve('rxjs/internal/ReplaySubject')].paths !== undefined,
};
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const collect = () => of({ data });
`;

/**
 * Runs the pipeline: what the plugin says.
 *
 * @param change of what is installed.
 * @param flags for Node.
 */
async function run(
  change: (rxjs: string) => void = () => {},
  flags: (rxjs: string) => readonly string[] = () => [],
): Promise<unknown> {
  const { folder, cli } = await installed({ 'p.yaml': CONFIG, 'classes.mjs': CLASSES });
  const rxjs = join(folder, RXJS);
  change(rxjs);
  const args = [...flags(rxjs), cli, 'run', 'p.yaml', '--once', '--no-state'];
  const result = await startProcess(process.execPath, args, { cwd: folder }).ended();
  expect(result).toMatchObject({ code: 0 });
  return JSON.parse(result.stdout).data;
}

function edit(folder: string, change: (text: string) => string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (name.endsWith('.js')) writeFileSync(path, change(readFileSync(path, 'utf8')));
  }
}

describe('RxJS in the command line', () => {
  const data = { imported: true, required: true, patched: false, byNode: false };

  it('is loaded at once, and is what a plugin imports and requires', async () => {
    expect(await run()).toEqual(data);
  });

  it('is what is installed, also where links lead to it', async () => {
    const elsewhere = (rxjs: string) => {
      const dist = join(rxjs, '../..');
      renameSync(dist, join(dist, '../elsewhere'));
      symlinkSync('elsewhere', dist);
    };
    expect(await run(elsewhere)).toEqual(data);
  });

  it('is what is installed, also with changes', async () => {
    const patch = (rxjs: string) =>
      appendFileSync(join(rxjs, 'Observable.js'), '\nObservable.isPatched = true;\n');
    expect(await run(patch)).toEqual({ ...data, patched: true });
  });

  it('is what is installed, also a version of other files', async () => {
    const rename = (rxjs: string) => {
      renameSync(join(rxjs, 'util/noop.js'), join(rxjs, 'util/nothing.js'));
      edit(join(rxjs, '..'), (text) => text.replaceAll('util/noop"', 'util/nothing"'));
    };
    expect(await run(rename)).toEqual({ ...data, byNode: true });
  });

  it('is left to Node if part of it is loaded', async () => {
    const loadBefore = (rxjs: string) => ['--require', join(rxjs, 'Observable.js')];
    expect(await run(undefined, loadBefore)).toEqual({ ...data, byNode: true });
  });
});
