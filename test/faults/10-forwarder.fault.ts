import fs from 'node:fs';
import { expect, it } from '@jest/globals';
import { byForm } from './support/form.ts';
import { ANY_SETTINGS } from './support/modules.ts';
import { FLAWLESS, kill, MASK, Trial } from './support/trial.ts';

const LINES = byForm({ short: 2000, long: 50_000 });

/** The pipeline `main` has the forwarder under test, `other` a good one; both read the same file. */
const twoPipelines = (delivery = '{}') => `
collectors:
  log: { plugin: file, paths: ['in/*.log'], backfill: true }
processors:
  ${MASK}
forwarders:
  faulty: { plugin: ./faulty.mjs }
  good: { plugin: disk, path: out/other, filename: out.jsonl }
  dead: { plugin: disk, path: dead, filename: dead.jsonl }
pipelines:
  main: { collect: log, process: mask, forward: faulty, delivery: ${delivery} }
  other: { collect: log, process: mask, forward: good }
host_config: {}
`;

/** `deliver()` appends an event to the output of `main`. */
const WRITER = `
import fs from 'node:fs';
${ANY_SETTINGS}
let calls = 0;
function deliver(event) {
  fs.mkdirSync('out/main', { recursive: true });
  fs.appendFileSync('out/main/out.jsonl', JSON.stringify(event) + '\\n');
}
`;
const GOOD = `${WRITER} export const forward = ({ event }) => deliver(event);`;
const HANGING = `${ANY_SETTINGS} export const forward = () => new Promise(() => {});`;
/** Nothing listens at the address. */
const REFUSED = `${ANY_SETTINGS} export const forward = () => fetch('http://127.0.0.1:1023/');`;
/** Every hundredth call fails before it has delivered: thrown, rejected, or as an Observable's error, in turn. */
const FAILS_ONCE_IN_100 = `${WRITER}
const failure = () => new Error('refused ' + '\${process.pid}');
const failures = [
  () => { throw failure(); },
  () => Promise.reject(failure()),
  () => ({ subscribe: (observer) => { observer.error(failure()); return { unsubscribe() {} }; } }),
];
export function forward({ event }) {
  calls++;
  if (calls % 100 === 0) return failures[(calls / 100) % 3]();
  deliver(event);
}
`;
/** Every five hundredth call is never answered. */
const HANGS_ONCE_IN_500 = `${WRITER}
export function forward({ event }) {
  calls++;
  if (calls % 500 === 0) return new Promise(() => {});
  deliver(event);
}
`;
const THROWS = `${ANY_SETTINGS} export const forward = ({ event }) => { throw new Error(event.data.line); };`;

const begin = (faulty: string, delivery?: string) => {
  const trial = new Trial(twoPipelines(delivery), { 'faulty.mjs': faulty });
  trial.appendLines('in/a.log', LINES);
  return trial;
};
const found = (trial: Trial, pipeline: string) => trial.oracle.found([trial.path('out', pipeline)]).size;
const inBoth = (trial: Trial) => trial.verdict({ copies: () => 2 });

it('one that hangs, also on stop: the other pipeline delivers all, the stop keeps its deadline, nothing is lost', async () => {
  const trial = begin(HANGING);
  const child = await trial.run('--drain-timeout', '1');
  await trial.until(() => found(trial, 'other') === LINES);
  const { code, stderr } = await kill(child, 'SIGTERM');
  expect(stderr).toMatch(/main: [\d,]+ events were not delivered within 1 s of the stop and were given up/);
  expect(code).toBe(0);

  fs.writeFileSync(trial.path('faulty.mjs'), GOOD);
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expect(inBoth(trial)).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
});

it('one that hangs while a run with --once has nothing else to do: the process stays until it is stopped', async () => {
  const trial = begin(HANGING);
  const child = await trial.run('--once', '--drain-timeout', '0.5');
  await child.shows('stderr', /other: completed/);
  expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
});

it('one that goes on failing in a run with --once: it gives up, with exit code 1 and the cause, and loses nothing', async () => {
  const trial = begin(REFUSED);
  const { code, stderr } = await trial.runOnce('--give-up-after', '1');
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /main: failed: forwarder faulty failed \d+ times over [1-9]\d* s, and this run gives up: TypeError, caused by ECONNREFUSED: connection refused, connect/,
  );
  expect(found(trial, 'other')).toBe(LINES);

  fs.writeFileSync(trial.path('faulty.mjs'), GOOD);
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expect(inBoth(trial)).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
});

it('one that fails once in 100 calls, in every way: all lines come once', async () => {
  const trial = begin(FAILS_ONCE_IN_100);
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expect(inBoth(trial)).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
});

it('one that hangs once in 500 calls: delivery.timeout tries again, and all lines come once', async () => {
  const trial = begin(HANGS_ONCE_IN_500, '{ timeout: 0.3 }');
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expect(inBoth(trial)).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
});

it('one that throws on every event: each goes to the dead letter, masked, and nothing of it to the log', async () => {
  const trial = begin(THROWS, '{ attempts: 1, dead_letter: dead }');
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  const outputs = [trial.path('dead'), trial.path('out')];
  expect(trial.verdict({ outputs, copies: () => 2 })).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  expect(found(trial, 'other')).toBe(LINES);
});
