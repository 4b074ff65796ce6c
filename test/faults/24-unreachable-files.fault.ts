import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { CliProcess } from '../support/cli.ts';
import { noSmallDisk, smallDisk } from '../support/small-disk.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from './support/trial.ts';

const LINES = 300;
const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;

if (noSmallDisk !== undefined)
  process.stderr.write(`24-unreachable-files, in part: skipped: ${noSmallDisk}\n`);
const onSmallDisk = noSmallDisk === undefined ? it : it.skip;

/** Polls of a second: a file that is gone for so long has been given up, and its descriptor is closed. */
const GIVEN_UP = 8;

/** Waits until the process has no file of the input open. */
async function untilClosed(trial: Trial, { child }: CliProcess): Promise<void> {
  await trial.until(() =>
    fs.readdirSync(`/proc/${child.pid}/fd`).every((fd) => {
      const target = fs.readlinkSync(`/proc/${child.pid}/fd/${fd}`, { encoding: 'utf8' });
      return !target.startsWith(trial.path('in')) && !target.startsWith(trial.path('away'));
    }),
  );
}

/** Writes one more line to a file that is followed all the time, and waits until polls have gone by. */
async function afterPolls(trial: Trial, count: number): Promise<void> {
  for (let poll = 0; poll < count; poll++) {
    trial.append(`live/${poll}.log`, trial.oracle.lines(1));
    await trial.until(() => trial.delivered === trial.oracle.written);
  }
}

/** The child runs as a user whose rights a mode takes away. */
function asNobody(trial: Trial): void {
  if (!isRoot) return;
  for (const path of ['', 'in', 'live', 'out', 'state']) fs.mkdirSync(trial.path(path), { recursive: true });
  execFileSync('chown', ['-R', String(NOBODY), trial.folder]);
  trial.launcher = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
}

async function expectOnce(trial: Trial, child: CliProcess): Promise<void> {
  trial.append('in/a.log', trial.oracle.lines(5));
  trial.append('in/b.log', trial.oracle.lines(5));
  await trial.allDelivered();
  expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
}

describe.each([
  ['at least once', ''],
  ['exactly once', 'exactly_once: true'],
])('%s, no line comes twice or is lost when the folder of files', (_, pipeline) => {
  const paths = "in/*.log', 'in/b.log', 'live/*.log";
  const started = async () => {
    const trial = new Trial(fileToDisk({ paths, pipeline }));
    trial.append('in/a.log', trial.oracle.lines(LINES));
    trial.append('in/b.log', trial.oracle.lines(LINES));
    trial.append('live/0.log', trial.oracle.lines(1));
    return trial;
  };

  it('cannot be listed for a while', async () => {
    const trial = await started();
    asNobody(trial);
    const child = await trial.run();
    await trial.allDelivered();
    fs.chmodSync(trial.path('in'), 0);
    await child.shows('stderr', /cannot list .*in: EACCES/);
    await afterPolls(trial, GIVEN_UP);
    fs.chmodSync(trial.path('in'), 0o755);
    await expectOnce(trial, child);
  });

  it('is renamed, and gets its name back', async () => {
    const trial = await started();
    const child = await trial.run();
    await trial.allDelivered();
    trial.rename('in', 'away');
    fs.appendFileSync(trial.path('away/a.log'), trial.oracle.lines(5));
    await untilClosed(trial, child);
    trial.rename('away', 'in');
    await expectOnce(trial, child);
  });

  onSmallDisk('is unmounted, and mounted again', async () => {
    const trial = await started();
    const disk = smallDisk(1024);
    fs.cpSync(trial.path('in'), disk.path, { recursive: true });
    fs.rmSync(trial.path('in'), { recursive: true });
    fs.mkdirSync(trial.path('in'));
    const mounted = async <T>(use: () => Promise<T>): Promise<T> => {
      execFileSync('mount', ['--bind', disk.path, trial.path('in')]);
      return use().finally(() => execFileSync('umount', ['-l', trial.path('in')]));
    };
    const child = await mounted(async () => {
      const started = await trial.run();
      await trial.allDelivered();
      return started;
    });
    await afterPolls(trial, GIVEN_UP);
    await mounted(() => expectOnce(trial, child));
  });
});

it('with few descriptors, several pipelines read many files once, also when all are rotated', async () => {
  const FILES = 120;
  const names = ['a', 'b', 'c'];
  const section = (entry: (name: string) => string) => names.map((name) => `  ${entry(name)}`).join('\n');
  const trial = new Trial(`
collectors:
${section((name) => `${name}: { plugin: file, paths: ['in/${name}/*.log'], backfill: true }`)}
processors:
  same: { plugin: regex_mask, rules: { KEY: 'key_[^_]+_yek' } }
forwarders:
${section((name) => `${name}: { plugin: disk, path: out, filename: ${name}.jsonl }`)}
pipelines:
${section((name) => `${name}: { collect: ${name}, process: same, forward: ${name} }`)}
host_config: {}
`);
  // To load its modules, Node opens dozens of files at a time.
  trial.launcher = ['bash', '-c', 'ulimit -n 128; exec "$@"', 'bash'];
  const each = (visit: (path: string) => void) => {
    for (const name of names) for (let n = 0; n < FILES; n++) visit(`in/${name}/${n}`);
  };
  each((path) => trial.append(`${path}.log`, trial.oracle.lines(2)));
  const child = await trial.run();
  await trial.allDelivered();
  // From now on most files cannot be opened at once.
  execFileSync('prlimit', [`--pid=${child.child.pid}`, '--nofile=56:56']);
  each((path) => {
    trial.append(`${path}.log`, trial.oracle.lines(1));
    trial.rename(`${path}.log`, `${path}.log.1`);
    trial.append(`${path}.log`, trial.oracle.lines(1));
  });
  await trial.allDelivered();
  expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
});

it('ten rotations of a literal path between two polls lose no line, and keep the order', async () => {
  const trial = new Trial(fileToDisk({ paths: 'in/a.log' }));
  trial.append('in/a.log.30', 'an archive of before\n');
  trial.append('in/a.log', trial.oracle.lines(3));
  const child = await trial.run();
  await trial.allDelivered();
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 10; n++) {
      for (let old = 28; old > 0; old--) {
        if (fs.existsSync(trial.path(`in/a.log.${old}`)))
          trial.rename(`in/a.log.${old}`, `in/a.log.${old + 1}`);
      }
      trial.rename('in/a.log', 'in/a.log.1');
      trial.append('in/a.log', trial.oracle.lines(3));
    }
    await trial.allDelivered();
  }
  expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  const ids = [...trial.text('out/out.jsonl').matchAll(/id:(\d+):/g)].map(([, id]) => Number(id));
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
});
