import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openState } from '../../src/state/open-state.ts';
import { upToDateBuild } from '../support/build.ts';
import { type CliProcess, startProcess } from '../support/cli.ts';
import { noSmallDisk, smallDisk } from '../support/small-disk.ts';
import { byForm } from './support/form.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from './support/trial.ts';

const LINES = byForm({ short: 4000, long: 40_000 });
const ROUNDS = byForm({ short: 3, long: 30 });
const KB = 1024;
/** Bytes that come free in a round: of all rounds together, half of what the lines take. */
const STEP = Math.ceil((LINES * 90) / ROUNDS);

if (noSmallDisk !== undefined) process.stderr.write(`09-disks.fault.ts, in part: skipped: ${noSmallDisk}\n`);
const onSmallDisk = noSmallDisk === undefined ? describe : describe.skip;

const reports = ({ stderr }: CliProcess, word: string) =>
  stderr.split('\n').filter((line) => line.includes(word)).length;

/** A disk of its own in the place of a folder of a trial, large enough for all of its lines. */
function diskFor(trial: Trial, name: string) {
  const disk = smallDisk(Math.ceil((LINES * 400) / KB) + 1024);
  fs.mkdirSync(join(disk.path, name));
  fs.symlinkSync(join(disk.path, name), trial.path(name));
  return disk;
}

describe.each([
  ['at least once', ''],
  ['exactly once', ', exactly_once: true'],
])('%s, an output', (_, setting) => {
  const config = fileToDisk({ pipeline: `max_in_flight: 100${setting}` });

  onSmallDisk('on a full disk', () => {
    it('waits, says so once, and has every line once when there is room; also over kills', async () => {
      const trial = new Trial(config);
      const disk = diskFor(trial, 'out');
      trial.append('in/a.log', trial.oracle.lines(LINES));
      for (let round = 1; round <= ROUNDS; round++) {
        disk.leave(STEP);
        const child = await trial.run();
        await child.shows('stderr', /cannot write to .*out\.jsonl: ENOSPC.*make room/);
        await kill(child);
        expect(reports(child, 'ENOSPC')).toBe(1);
      }
      disk.leave(STEP);
      const child = await trial.run();
      await child.shows('stderr', /ENOSPC/);
      disk.leave(LINES * 400);
      await trial.allDelivered();
      await child.shows('stderr', /works again after \d+ failed attempts? over \d+ s/);
      expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
      const verdict = trial.verdict();
      const doubled = setting === '' ? verdict.doubled : 0;
      expect(verdict).toEqual({ ...FLAWLESS, seed: verdict.seed, doubled });
      expect(verdict.doubled).toBeLessThanOrEqual(ROUNDS * 100);
    });
  });

  onSmallDisk('on a read-only disk', () => {
    it('waits, says so once, and has every line once when it is writable', async () => {
      const trial = new Trial(config);
      const disk = diskFor(trial, 'out');
      trial.append('in/a.log', trial.oracle.lines(LINES));
      disk.readOnly(true);
      const child = await trial.run();
      await child.shows('stderr', /EROFS.*make that file system writable/);
      disk.readOnly(false);
      await trial.allDelivered();
      expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
      expect(reports(child, 'EROFS')).toBe(1);
      expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
    });
  });
});

onSmallDisk('a standard output of two pipelines that is a file on a full disk', () => {
  it('has every line of each once, and none that is torn, when there is room', async () => {
    const config = fileToDisk({
      paths: 'in/a.log',
      forwarder: 'plugin: stdout',
      pipeline: 'max_in_flight: 100',
    })
      .replace('  log:', "  other: { plugin: file, paths: ['in/b.log'], backfill: true }\n  log:")
      .replace(
        '  main:',
        '  second: { collect: other, process: [mask], forward: out, max_in_flight: 100 }\n  main:',
      );
    const trial = new Trial(config);
    const disk = diskFor(trial, 'out');
    for (const name of ['in/a.log', 'in/b.log']) trial.append(name, trial.oracle.lines(LINES / 2));
    trial.launcher = ['bash', '-c', 'exec "$@" > out/stdout', 'bash'];
    disk.leave(STEP);
    const child = await trial.run();
    for (let round = 1; round <= ROUNDS; round++) {
      const { size } = fs.statSync(trial.path('out/stdout'));
      await child.shows('stderr', /cannot write to standard output: ENOSPC/);
      disk.free(STEP);
      await trial.until(() => fs.statSync(trial.path('out/stdout')).size > size);
    }
    disk.leave(LINES * 400);
    await trial.allDelivered();
    expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  });
});

onSmallDisk('a state folder on a full disk', () => {
  it('delays nothing, is said once, and is written again when there is room; a kill meanwhile loses nothing', async () => {
    const trial = new Trial(fileToDisk());
    const disk = diskFor(trial, 'state');
    let child = await trial.run();
    trial.appendLines('in/a.log', 200);
    await trial.allAcknowledged();
    disk.leave(0);
    for (let n = 0; n < 500; n++) trial.append(`in/${n}.log`, trial.oracle.lines(2));
    await trial.allDelivered();
    await child.shows('stderr', /cannot write checkpoints to .*no space left on device.*Delivery goes on/);
    await kill(child);
    expect(reports(child, 'cannot write checkpoints')).toBe(1);

    child = await trial.run();
    await trial.allDelivered();
    disk.leave(LINES * 400);
    trial.appendLines('in/a.log', 10);
    await trial.allAcknowledged();
    expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
    const { doubled } = trial.verdict();
    trial.appendLines('in/a.log', 10);
    expect(await trial.runOnce()).toMatchObject({ code: 0 });
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed, doubled });
  });
});

/** `millrace run` without the right of root to pass over permissions; undefined where that cannot be given up. */
async function runUnprivileged(trial: Trial, ...args: string[]): Promise<CliProcess> {
  const run = [await upToDateBuild(), 'run', 'p.yaml', '--state-dir', 'state', ...args];
  const options = { cwd: trial.folder };
  if (process.getuid?.() !== 0) return startProcess(process.execPath, run, options);
  const without = ['--bounding-set', '-dac_override,-dac_read_search'];
  return startProcess('setpriv', [...without, process.execPath, ...run], options);
}

describe('a folder that may not be written to', () => {
  it('is waited for, said once, and has every line once when it may', async () => {
    const trial = new Trial(fileToDisk({ forwarder: 'plugin: disk, path: out/deep, filename: out.jsonl' }));
    trial.append('in/a.log', trial.oracle.lines(100));
    fs.mkdirSync(trial.path('out'), { mode: 0o555 });
    const child = await runUnprivileged(trial);
    await child.shows('stderr', /cannot write to .*EACCES.*give this process the right to write there/);
    fs.chmodSync(trial.path('out'), 0o755);
    await trial.allDelivered();
    await kill(child, 'SIGTERM');
    expect(reports(child, 'EACCES')).toBe(1);
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  });
});

describe('a file that may not be read', () => {
  it('is said once, holds back no other, and comes whole when it may be read', async () => {
    const trial = new Trial(fileToDisk());
    trial.append('in/secret.log', trial.oracle.lines(100));
    fs.chmodSync(trial.path('in/secret.log'), 0o000);
    trial.append('in/other.log', trial.oracle.lines(100));
    const child = await runUnprivileged(trial);
    await child.shows('stderr', /cannot read in\/secret\.log: EACCES/);
    await trial.until(() => trial.delivered === 100);
    fs.chmodSync(trial.path('in/secret.log'), 0o600);
    await trial.allDelivered();
    await kill(child, 'SIGTERM');
    expect(reports(child, 'EACCES')).toBe(1);
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  });

  it('makes a run that ends fail, after all that can be read; the next one reads the rest', async () => {
    const trial = new Trial(fileToDisk({ pipeline: 'restart: false' }));
    trial.append('in/secret.log', trial.oracle.lines(100));
    fs.chmodSync(trial.path('in/secret.log'), 0o000);
    trial.append('in/other.log', trial.oracle.lines(100));
    const { code, stderr } = await (await runUnprivileged(trial, '--once')).ended();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^main {2}failed after .*: cannot read in\/secret\.log: EACCES/m);
    expect(trial.delivered).toBe(100);
    fs.chmodSync(trial.path('in/secret.log'), 0o600);
    expect(await trial.runOnce()).toMatchObject({ code: 0 });
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  });
});

describe('an output that cannot be what the configuration says', () => {
  it.each([
    [
      'below a file',
      'plugin: disk, path: in/a.log/out, filename: out.jsonl',
      /ENOTDIR.*a part of the path is not a folder/,
    ],
    [
      'a file as the folder',
      'plugin: disk, path: in/a.log, filename: out.jsonl',
      /ENOTDIR.*a part of the path is not a folder/,
    ],
    [
      'a file as the folder of files',
      'plugin: disk, path: in/a.log',
      /(EEXIST|ENOTDIR).*a part of the path is not a folder/,
    ],
    [
      'in a file system without files of ours',
      'plugin: disk, path: /proc/millrace, filename: out.jsonl',
      /ENOENT/,
    ],
  ])('makes the pipeline fail, and acknowledges nothing: %s', async (_, forwarder, word) => {
    const trial = new Trial(fileToDisk({ forwarder, pipeline: 'restart: false' }));
    trial.append('in/a.log', trial.oracle.lines(100));
    const { code, stderr } = await trial.runOnce();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^main {2}failed after/m);
    expect(stderr).toMatch(word);
    trial.write('p.yaml', fileToDisk());
    expect(await trial.runOnce()).toMatchObject({ code: 0 });
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  });
});

describe('an output that is an input of the same pipeline', () => {
  it.each([
    ['by a pattern', fileToDisk({ paths: 'out/*' })],
    ['by its name', fileToDisk({ paths: './out/../out/out.jsonl' })],
    ['each event a file', fileToDisk({ paths: '**/*.json', forwarder: 'plugin: disk, path: out' })],
  ])('is refused: it would grow without end. %s', async (_, config) => {
    const trial = new Trial(config);
    const { code, stderr } = await trial.runOnce();
    expect(code).toBe(2);
    expect(stderr).toMatch(/pipelines\.main\.collect.*: `log` reads what `out` of the same pipeline writes/);
  });
});

it.each([
  ['at least once', ''],
  ['exactly once', 'exactly_once: true'],
])('%s: a device that has another number after a remount changes nothing', async (_, pipeline) => {
  const trial = new Trial(fileToDisk({ pipeline: `max_in_flight: 100${pipeline && `, ${pipeline}`}` }));
  trial.append('in/a.log', trial.oracle.lines(1000));
  await trial.runOnce();
  const state = await openState(trial.path('state'));
  const positions = state.of('main', 'log');
  for (const [key, value] of [...positions.entries()]) {
    if (!/^\d+:\d+$/.test(key)) continue;
    positions.delete(key);
    positions.set(key.replace(/^\d+/, '4711'), value);
  }
  await state.close();
  trial.append('in/a.log', trial.oracle.lines(100));
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
});
