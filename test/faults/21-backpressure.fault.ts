import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { CliProcess } from '../support/cli.ts';
import { byForm } from './support/form.ts';
import { residentMemory } from './support/memory.ts';
import { ANY_SETTINGS } from './support/modules.ts';
import { fileToDisk, kill, MASK, Trial } from './support/trial.ts';

const LINES = byForm({ short: 500_000, long: 5_000_000 });
const SECONDS = byForm({ short: 8, long: 120 });
/** Megabytes above an idle run. */
const ALLOWED = 150;
/** The same where millions of events come and go: V8 lets garbage wait. */
const ALLOWED_AT_FULL_SPEED = 300;

/** Takes 10 ms for each event, and writes it then. */
const SLOW = `
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
${ANY_SETTINGS}
export async function forward({ event }) {
  await delay(10);
  fs.mkdirSync('out', { recursive: true });
  fs.appendFileSync('out/out.jsonl', JSON.stringify(event) + '\\n');
}
`;
/** Makes so many events of each. */
const generator = (results: string, kind: '' | 'async ') => `
${ANY_SETTINGS}
export ${kind}function* process({ event }) {
  for (let i = 0; i < ${results}; i++) yield { ...event, data: { ...event.data, i } };
}
`;

const generating = (forwarder: string) => `
collectors:
  log: { plugin: file, paths: ['in/*.log'], backfill: true }
processors:
  many: { plugin: ./many.mjs }
  ${MASK}
forwarders:
  out: { plugin: ${forwarder} }
pipelines:
  main: { collect: log, process: [many, mask], forward: out }
host_config: {}
`;

const start = (trial: Trial) => trial.run('--drain-timeout', '1');

/** Memory of a run that has nothing to do. */
async function idle(config: string, modules: Record<string, string>): Promise<number> {
  const trial = new Trial(config, modules);
  trial.append('in/a.log', '');
  const child = await start(trial);
  await delay(1000);
  const { peak } = residentMemory(child);
  await kill(child, 'SIGTERM');
  return peak;
}

/** Lets it run for a while with far too much to do, then stops it. */
async function expectFlatAndStoppable(child: CliProcess, idlePeak: number, allowed = ALLOWED): Promise<void> {
  await delay(SECONDS * 1000);
  const { peak } = residentMemory(child);
  process.stderr.write(`resident: ${peak.toFixed(0)} MB at most, ${idlePeak.toFixed(0)} MB when idle\n`);
  expect(peak - idlePeak).toBeLessThan(allowed);
  const stoppedAt = performance.now();
  const { code, stderr } = await kill(child, 'SIGTERM');
  expect(code).toBe(0);
  expect(stderr).toContain('were not delivered within 1 s of the stop and were given up');
  // One of these seconds is the deadline.
  expect(performance.now() - stoppedAt).toBeLessThan(50_000);
}

it(`${LINES} lines wait and a forwarder takes 10 ms for each: memory stays flat, and a stop keeps its deadline`, async () => {
  const config = fileToDisk({ forwarder: 'plugin: ./slow.mjs' });
  const modules = { 'slow.mjs': SLOW };
  const idlePeak = await idle(config, modules);
  const trial = new Trial(config, modules);
  for (let written = 0; written < LINES; written += 10_000)
    trial.append('in/a.log', trial.oracle.lines(10_000));
  const child = await start(trial);
  await trial.until(() => trial.delivered > 0);
  await expectFlatAndStoppable(child, idlePeak);
  expect(trial.verdict()).toMatchObject({ doubled: 0, torn: 0, leaks: [] });
});

it.each([
  ['ten million events', '1e7', '', './slow.mjs', ALLOWED],
  ['events without end', 'Infinity', 'async ', './slow.mjs', ALLOWED],
  ['events without end, which are delivered at once', 'Infinity', '', 'noop', ALLOWED_AT_FULL_SPEED],
] as const)('a processor makes %s: memory stays flat, and a stop keeps its deadline', async (...setting) => {
  const [, results, kind, forwarder, allowed] = setting;
  const modules = { 'slow.mjs': SLOW, 'many.mjs': generator(results, kind) };
  const idlePeak = await idle(generating(forwarder), modules);
  const trial = new Trial(generating(forwarder), modules);
  trial.appendLines('in/a.log', 2000);
  await expectFlatAndStoppable(await start(trial), idlePeak, allowed);
});
