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
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
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
const byNode = (name) => require.cache[require.resolve('rxjs/internal/' + name)].paths !== undefined;
const data = {
  imported: made instanceof Observable,
  required: made instanceof require('rxjs').Observable,
  patched: Observable.isPatched === true,
  byNode: ['Observable', 'ReplaySubject'].filter(byNode),
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
  const data = { imported: true, required: true, patched: false, byNode: [] };

  it('is loaded with the chunks, and is what a plugin imports and requires', async () => {
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
    expect(await run(rename)).toEqual(data);
  });

  it('is what is loaded already, as far as it is', async () => {
    const loadBefore = (rxjs: string) => ['--require', join(rxjs, 'Observable.js')];
    expect(await run(undefined, loadBefore)).toEqual({ ...data, byNode: ['Observable'] });
  });

  it('is not missed where nothing of it is needed', async () => {
    const { folder, cli } = await installed({});
    rmSync(join(folder, 'node_modules/rxjs'), { recursive: true });
    const { code, stdout } = await startProcess(process.execPath, [cli, 'help'], { cwd: folder }).ended();
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('millrace') });
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

  /** Where things are in an installation. */
  interface Places {
    readonly chunks: string;
    readonly compiled: string;
    readonly rxjs: string;
  }

  /** Runs a pipeline with changes of what is installed: the masked line, and a word of the summary. */
  async function run(change: (places: Places) => void, ...flags: readonly string[]) {
    const { folder, cli } = await installed({ 'p.yaml': config, 'in.log': 'a KEY::0123456789\n' });
    const chunks = join(folder, 'node_modules/millrace/dist/src/chunks');
    change({ chunks, compiled: join(chunks, 'compiled.bin'), rxjs: join(folder, RXJS) });
    const args = [...flags, cli, 'run', 'p.yaml', '--once', '--no-state'];
    const { code, stdout, stderr } = await startProcess(process.execPath, args, { cwd: folder }).ended();
    return { code, data: JSON.parse(stdout).data, word: /\b(events), /i.exec(stderr)?.[1] };
  }
  const data = { line: 'a <:KEY:>', source: 'in.log' };

  /** Another text of the same length in the code that writes the summary, which V8 alone would not see. */
  function reword({ chunks }: Places): string {
    const [name = ''] = readdirSync(chunks).filter((name) => /^run-.*\.cjs$/.test(name));
    const path = join(chunks, name);
    writeFileSync(path, readFileSync(path, 'utf8').replace('`events, ', '`EVENTS, '));
    return path;
  }

  /** As if this were the text of what was compiled, maybe by another Node. */
  function pretend({ compiled }: Places, name: string, path: string, node?: string): void {
    const bytes = readFileSync(compiled);
    const [, header = ''] = bytes.toString('latin1').split('\n', 2);
    const code = bytes.subarray(bytes.indexOf('\n', bytes.indexOf('\n') + 1));
    const changed = JSON.parse(header);
    changed.files[name].text = crc32(readFileSync(path));
    changed.node = node ?? changed.node;
    const rest = Buffer.concat([Buffer.from(JSON.stringify(changed)), code]);
    writeFileSync(compiled, Buffer.concat([Buffer.from(`${crc32(rest)}\n`), rest]));
  }

  function rewordUnseen(places: Places, node?: string): void {
    const path = reword(places);
    pretend(places, basename(path), path, node);
  }

  it('is what runs', async () => {
    expect(await run((places) => rewordUnseen(places))).toEqual({ code: 0, data, word: 'events' });
  });

  it('is what runs of RxJS', async () => {
    const blank = (places: Places) => {
      const path = join(places.rxjs, 'util/lift.js');
      writeFileSync(path, ' '.repeat(readFileSync(path).length));
      pretend(places, 'rxjs/internal/util/lift.js', path);
    };
    expect(await run(blank)).toEqual({ code: 0, data, word: 'events' });
  });

  it('is not what runs where a file has been changed', async () => {
    expect(await run(reword)).toEqual({ code: 0, data, word: 'EVENTS' });
  });

  it('is not what runs in another Node, or where V8 has other flags', async () => {
    const rewordForOther = (places: Places) => rewordUnseen(places, 'linux x64 {"node":"20.0.0"}');
    expect(await run(rewordForOther)).toEqual({ code: 0, data, word: 'EVENTS' });
    expect(await run((places) => rewordUnseen(places), '--stack-size=900')).toEqual({
      ...{ code: 0, data, word: 'EVENTS' },
    });
  });

  it.each<[string, (path: string) => void]>([
    ['not there', (path) => rmSync(path)],
    ['empty', (path) => truncateSync(path)],
    ['cut short', (path) => truncateSync(path, 100_000)],
    ['something else', (path) => writeFileSync(path, '{}\n{}\n')],
    // V8 would run it, and end with a signal or by what it takes for an error.
    ['damaged in a bit', (path) => overwrite(path, (byte) => byte ^ 4, 1)],
    ['without a page of it', (path) => overwrite(path, () => 0, 4096)],
  ])('can be done without, if it is %s', async (_, change) => {
    expect(await run(({ compiled }) => change(compiled))).toEqual({ code: 0, data, word: 'events' });
  });

  it('does not tell where it was built', async () => {
    await run(({ compiled }) => expect(readFileSync(compiled).includes(ROOT)).toBe(false));
  });
});

function overwrite(path: string, change: (byte: number) => number, length: number): void {
  const bytes = readFileSync(path);
  const from = Math.floor(bytes.length / 2);
  for (let at = from; at < from + length; at++) bytes[at] = change(bytes[at] as number);
  writeFileSync(path, bytes);
}
