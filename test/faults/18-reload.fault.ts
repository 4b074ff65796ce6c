import fs from 'node:fs';
import { expect, it } from '@jest/globals';
import type { CliProcess } from '../support/cli.ts';
import { byForm } from './support/form.ts';
import { FLAWLESS, kill, MASK, Trial } from './support/trial.ts';

const RELOADS = byForm({ short: 50, long: 500 });

/** Good configurations: `changed` has another window each time, `now_and_then` is in every other one. */
const good = (turn: number) => `
collectors:
  log: { plugin: file, paths: ['in/*.log'], backfill: true }
processors:
  ${MASK}
  slow: { plugin: test, delay_range: { minimum: 0, maximum: 0.02 } }
forwarders:
  unchanged: { plugin: disk, path: out/unchanged, filename: out.jsonl }
  changed: { plugin: disk, path: out/changed, filename: out.jsonl }
  now_and_then: { plugin: disk, path: out/now_and_then, filename: out.jsonl }
pipelines:
  unchanged: { collect: log, process: [mask, slow], forward: unchanged }
  changed: { collect: log, process: [mask, slow], forward: changed, max_in_flight: ${100 + turn} }
  ${turn % 4 < 2 ? 'now_and_then: { collect: log, process: mask, forward: now_and_then }' : ''}
host_config: {}
`;

/** Bad ones, each in its own way. */
const BAD = [
  'pipelines: { main: ',
  good(0).replace('path: out/unchanged', 'paht: out/unchanged'),
  good(0).replace('forward: changed', 'forward: chnaged'),
  good(0).replace('KEY:', 'KEY: (?<'),
  '',
];

const times = (text: string, what: RegExp) => text.match(new RegExp(what, 'g'))?.length ?? 0;

/** Writes a configuration, as editors do, and has it loaded. */
async function reload(trial: Trial, child: CliProcess, config: string, answer: RegExp): Promise<void> {
  const before = times(child.stderr, answer);
  fs.writeFileSync(trial.path('new.yaml'), config);
  trial.rename('new.yaml', 'p.yaml');
  child.kill('SIGHUP');
  await trial.until(() => times(child.stderr, answer) > before);
}

it(`${RELOADS} reloads under load, good and bad ones in turn: every line once, and what did not change runs on`, async () => {
  const trial = new Trial(good(0));
  trial.appendLines('in/a.log', 500);
  const child = await trial.run();
  for (let turn = 1; turn <= RELOADS; turn++) {
    trial.appendLines('in/a.log', trial.oracle.between(200, 1500));
    if (turn % 2 === 0) await reload(trial, child, good(turn), /configuration reloaded/);
    else await reload(trial, child, BAD[turn % BAD.length] as string, /new configuration was refused/);
    trial.appendLines('in/a.log', trial.oracle.between(1, 50));
    // One more while the one before may still be at work.
    if (turn % 10 === 0) child.kill('SIGHUP');
  }
  await reload(trial, child, good(RELOADS * 2), /configuration reloaded/);
  await trial.until(() => trial.verdict({ copies: () => 3 }).lost === 0);
  const { code, stderr } = await kill(child, 'SIGTERM');
  expect(code).toBe(0);
  expect(trial.verdict({ copies: () => 3 })).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  expect(times(stderr, /\bunchanged: running/)).toBe(1);
  expect(times(stderr, /\bchanged: running/)).toBeGreaterThan(RELOADS / 2);
  expect(times(stderr, /given up|failed/)).toBe(0);
});
