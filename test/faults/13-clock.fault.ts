import { expect, it } from '@jest/globals';
import { ANY_SETTINGS } from './support/modules.ts';
import { FLAWLESS, kill, MASK, Trial } from './support/trial.ts';

const DAY = 24 * 3600 * 1000;

/**
 * Preloaded into the process: each SIGUSR2 sets its wall clock, by a step and back by it in turn. The machine's own is
 * other processes' as well. What the kernel keeps of time in files stays as it is, and so does the monotonic clock,
 * as when a system's clock is set.
 */
const CLOCK = `
const { now } = Date;
const RealDate = Date;
let offset = 0;
let sets = 0;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now() + offset] : args, newTarget),
});
RealDate.now = () => now() + offset;
process.on('SIGUSR2', () => {
  sets++;
  offset += (sets % 2 === 1 ? 1 : -1) * Number(process.env.CLOCK_STEP);
  process.stderr.write('clock set ' + sets + '\\n');
});
`;

/** Fails every fortieth time, and takes a while. */
const FLAKY = `
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
${ANY_SETTINGS}
let calls = 0;
export async function forward({ event }) {
  await delay(5);
  if (++calls % 40 === 0) throw new Error('not now');
  fs.mkdirSync('out/flaky', { recursive: true });
  fs.appendFileSync('out/flaky/out.jsonl', JSON.stringify(event) + '\\n');
}
`;

const CONFIG = `
collectors:
  log: { plugin: file, paths: ['in/*.log'], backfill: true }
  ticks: { plugin: test, interval: 0.02 }
processors:
  ${MASK}
  slow: { plugin: test, delay_range: { minimum: 0.001, maximum: 0.05 } }
forwarders:
  out: { plugin: disk, path: out/exact, filename: out.jsonl }
  flaky: { plugin: ./flaky.mjs }
  ticks: { plugin: disk, path: ticks, filename: ticks.jsonl }
pipelines:
  exact: { collect: log, process: [mask, slow], forward: out, exactly_once: true }
  flaky: { collect: log, process: mask, forward: flaky, delivery: { timeout: 30 } }
  ticks: { collect: ticks, forward: ticks }
host_config: {}
`;

/** The days, since 1970, that events of the pipeline `ticks` are from, one for each event. */
function days(trial: Trial): number[] {
  const stamps = trial.text('ticks/ticks.jsonl').matchAll(/"timestamp":"([^"]+)"/g);
  return Array.from(stamps, ([, stamp = '']) => Date.parse(stamp) / DAY);
}

const SETS = 4;

it.each([
  ['back a day, and forward again', -DAY],
  ['forward a day, and back again', DAY],
])('set %s: polls, delays, retries, commits and limits of time go on as if it were not', async (_, step) => {
  const trial = new Trial(CONFIG, { 'clock.mjs': CLOCK, 'flaky.mjs': FLAKY });
  trial.env = { NODE_OPTIONS: `--import=${trial.path('clock.mjs')}`, CLOCK_STEP: String(step) };
  trial.appendLines('in/0.log', 200);
  const child = await trial.run();
  for (let set = 1; set <= SETS; set++) {
    child.kill('SIGUSR2');
    await child.shows('stderr', new RegExp(`clock set ${set}\n`));
    const before = days(trial).length;
    trial.appendLines('in/0.log', 100);
    // A new file is found by a poll.
    trial.appendLines(`in/${set}.log`, 10);
    // After the last one, also a line without its newline: it is held for a number of polls.
    if (set === SETS) trial.append(`in/${set}.log`, trial.oracle.line());
    await trial.until(() => trial.verdict({ copies: () => 2 }).lost === 0);
    await trial.until(() => days(trial).length > before + 5);
  }
  const { code, stderr } = await kill(child, 'SIGTERM');
  expect(code).toBe(0);
  expect(stderr).not.toContain('delivery.timeout');
  expect(trial.verdict({ copies: () => 2 })).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  // Events tell the time that the clock shows.
  expect(Math.max(...days(trial)) - Math.min(...days(trial))).toBeGreaterThan(0.9);
});
