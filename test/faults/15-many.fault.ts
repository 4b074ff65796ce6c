import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { folderWith, startProcess } from '../support/cli.ts';
import { byForm } from './support/form.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from './support/trial.ts';

const FILES = 10_000;
const LINES_PER_FILE = byForm({ short: 2, long: 50 });
const PIPELINES = 1000;
const ROUNDS = byForm({ short: 6, long: 10 });

/**
 * Megabytes of heap for the process, about twice what 10,000 files need. Without a limit, the peak is how much garbage
 * the engine happens to leave, which depends on the machine.
 */
const HEAP = 128;

/** Preloaded: writes what the process has used when it ends. */
const USAGE = `
import fs from 'node:fs';
process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  fs.writeFileSync('usage.json', JSON.stringify({ kilobytes: maxRSS, cpu: (userCPUTime + systemCPUTime) / 1e6 }));
});
`;

/** A trial whose processes may have 1,024 descriptors, with this many input files. */
function withFiles(files: number): Trial {
  const trial = new Trial(fileToDisk({ paths: 'in/*/*.log' }), { 'usage.mjs': USAGE });
  trial.env = { NODE_OPTIONS: `--max-old-space-size=${HEAP} --import=${trial.path('usage.mjs')}` };
  trial.launcher = ['bash', '-c', 'ulimit -n 1024; exec "$@"', 'bash'];
  for (let n = 0; n < files; n++) trial.append(inputOf(n), trial.oracle.lines(LINES_PER_FILE));
  return trial;
}

const inputOf = (n: number) => `in/${n % 100}/${n}.log`;

/** Kilobytes at most, and seconds of processor time. */
async function usage(files: number): Promise<{ kilobytes: number; cpu: number }> {
  const trial = withFiles(files);
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  return JSON.parse(trial.text('usage.json'));
}

it('10,000 files and 1,024 descriptors: every line comes once, and time and memory grow with the files alone', async () => {
  const few = await usage(FILES / 5);
  const many = await usage(FILES);
  // Five times as many files: in proportion five times the time, were it quadratic twenty-five times.
  expect(many.cpu / few.cpu).toBeLessThan(10);
  expect(many.kilobytes - few.kilobytes).toBeLessThan(100_000);
});

it('10,000 files and 1,024 descriptors, followed: what is appended to any of them comes once', async () => {
  const trial = withFiles(FILES);
  const child = await trial.run();
  for (let n = 0; n < 300; n++)
    trial.append(inputOf(trial.oracle.between(0, FILES - 1)), trial.oracle.lines(1));
  await trial.allDelivered();
  expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
});

interface Held {
  readonly heap: number;
  readonly descriptors: number;
  readonly resources: number;
}

/** Starts all pipelines, waits until each has delivered its lines, and stops them; prints what is held after each round. */
const program = (rounds: string) => `
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { firstValueFrom } from '${import.meta.resolve('rxjs')}';
import { Manager, parseConfig } from '${join(ROOT, 'dist/src/index.js')}';

const names = Array.from({ length: ${PIPELINES} }, (_, n) => 'p' + n);
const each = (make) => Object.fromEntries(names.map((name) => [name, make(name)]));
const config = await parseConfig({
  collectors: each((name) => ({ plugin: 'file', paths: ['in/' + name + '.log'], backfill: true })),
  processors: { mask: { plugin: 'regex_mask', rules: { KEY: 'key_[0-9]+' } } },
  forwarders: each((name) => ({ plugin: 'disk', path: 'out', filename: name + '.jsonl' })),
  pipelines: each((name) => ({ collect: name, process: 'mask', forward: name })),
  host_config: {},
});
fs.mkdirSync('in');
for (const name of names) fs.writeFileSync('in/' + name + '.log', 'one key_4711\\ntwo\\n');

async function run(manager) {
  const delivered = () => Object.values(manager.stats()).reduce((sum, { forwarded }, n) => sum + (forwarded[names[n]] ?? 0), 0);
  const goal = delivered() + 2 * names.length;
  manager.start();
  while (delivered() < goal) await delay(10);
  await firstValueFrom(manager.stop());
}

const manager = new Manager(config);
for (let round = 0; round < ${ROUNDS}; round++) {
  await run(${rounds});
  // Files are being closed.
  while (process.getActiveResourcesInfo().includes('FSReqCallback')) await delay(10);
  for (let i = 0; i < 3; i++) globalThis.gc();
  console.log(JSON.stringify({
    heap: process.memoryUsage().heapUsed,
    descriptors: fs.readdirSync('/proc/self/fd').length,
    resources: process.getActiveResourcesInfo().length,
  }));
}
process.exit();
`;

it.each([
  ['by one manager', 'manager'],
  ['by a new manager each time', 'new Manager(config)'],
])(
  `1,000 pipelines started and stopped ${ROUNDS} times, %s: nothing more is held each time`,
  async (_, rounds) => {
    await upToDateBuild();
    const cwd = folderWith({ 'program.mjs': program(rounds) });
    const child = startProcess(process.execPath, ['--expose-gc', 'program.mjs'], { cwd });
    const { code, stdout, stderr } = await child.ended();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const held = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Held);
    expect(held).toHaveLength(ROUNDS);
    // The first rounds compile what is used often.
    const [, , warm, ...later] = held as [Held, Held, Held, ...Held[]];
    for (const { heap, descriptors, resources } of later) {
      expect(descriptors).toBe(warm.descriptors);
      expect(resources).toBe(warm.resources);
      expect(heap).toBeLessThan(warm.heap + 2_000_000);
    }
  },
  300_000,
);
