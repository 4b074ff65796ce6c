import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
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

describe('the code that the build has compiled', () => {
  const config = `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors: { mask: { plugin: regex_mask, rules: { KEY: 'KEY::[0-9]{10}' } } }
forwarders: { screen: { plugin: stdout } }
pipelines: { main: { collect: log, process: mask, forward: screen } }
host_config: {}
`;

  /** Runs a pipeline with changes of the chunks: the masked line, and a word of the summary. */
  async function run(change: (chunks: string) => void, ...flags: readonly string[]) {
    const { folder, cli } = await installed({ 'p.yaml': config, 'in.log': 'a KEY::0123456789\n' });
    change(join(folder, 'node_modules/millrace/dist/src/chunks'));
    const args = [...flags, cli, 'run', 'p.yaml', '--once', '--no-state'];
    const { code, stdout, stderr } = await startProcess(process.execPath, args, { cwd: folder }).ended();
    return { code, data: JSON.parse(stdout).data, word: /\b(events), /i.exec(stderr)?.[1] };
  }

  /** Another text of the same length in the code that writes the summary, which V8 alone would not see. */
  function reword(chunks: string): void {
    const [name = ''] = readdirSync(chunks).filter((name) => /^run-.*\.cjs$/.test(name));
    const path = join(chunks, name);
    writeFileSync(path, readFileSync(path, 'utf8').replace('`events, ', '`EVENTS, '));
  }

  /** And with that as if it were what was compiled, here or by another Node. */
  function rewordUnseen(chunks: string, byNode?: string): void {
    reword(chunks);
    const path = join(chunks, 'compiled.bin');
    const bytes = readFileSync(path);
    const end = bytes.indexOf('\n');
    const header = JSON.parse(bytes.toString('utf8', 0, end));
    header.node = byNode ?? header.node;
    const files: { path: string }[] = header.own.files;
    header.own.sum = files.reduce((sum, file) => crc32(readFileSync(join(chunks, file.path)), sum), 0);
    writeFileSync(path, Buffer.concat([Buffer.from(JSON.stringify(header)), bytes.subarray(end)]));
  }

  const data = { source: 'in.log', line: 'a <:KEY:>' };

  it('is what runs', async () => {
    expect(await run((chunks) => rewordUnseen(chunks))).toEqual({ code: 0, data, word: 'events' });
  });

  it('is not what runs where a file has been changed', async () => {
    expect(await run(reword)).toEqual({ code: 0, data, word: 'EVENTS' });
  });

  it('is not what runs in another Node, or where V8 has other flags', async () => {
    const rewordForOther = (chunks: string) =>
      rewordUnseen(chunks, `v20.0.0 ${process.platform} ${process.arch}`);
    expect(await run(rewordForOther)).toEqual({ code: 0, data, word: 'EVENTS' });
    expect(await run((chunks) => rewordUnseen(chunks), '--stack-size=900')).toEqual({
      code: 0,
      data,
      word: 'EVENTS',
    });
  });

  it.each([
    ['is not there', (path: string) => rmSync(path)],
    ['is cut short', (path: string) => truncateSync(path, 100_000)],
  ])('can be done without, if it %s', async (_, change) => {
    expect(await run((chunks) => change(join(chunks, 'compiled.bin')))).toEqual({
      code: 0,
      data,
      word: 'events',
    });
  });
});
