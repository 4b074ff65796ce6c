import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { byForm } from './support/form.ts';
import { copiesOf, LATE_FORWARDER, MULTIPLYING_PROCESSOR } from './support/modules.ts';
import { FLAWLESS, fileToDisk, kill, MASK, Trial } from './support/trial.ts';

const KILLS = byForm({ short: 12, long: 100 });

/** Events that may be open at a time. */
const WINDOW = 200;

/** Rotates `name` as logrotate does, and starts a new one with a few lines. */
function rotate(trial: Trial, name: string, generation: number): void {
  trial.rename(name, `${name}.${generation}`);
  trial.appendLines(name, trial.oracle.between(1, 50));
}

/**
 * Runs and kills it again and again while lines are written and inputs rotated, at any time: half of the kills while
 * it starts and takes up its work, half when it has done some. Then lets it come to its end. Returns what the
 * processes said.
 */
async function killAgainAndAgain(trial: Trial, whileRunning = () => {}): Promise<string[]> {
  const { oracle } = trial;
  const said: string[] = [];
  let generation = 0;
  trial.appendLines('in/a.log', 300);
  trial.appendLines('in/b.log', 300);
  for (let turn = 0; turn < KILLS; turn++) {
    const before = trial.outputBytes;
    const child = await trial.start('run', 'p.yaml', '--state-dir', 'state');
    for (const name of ['in/a.log', 'in/b.log']) trial.appendLines(name, oracle.between(500, 2000));
    if (oracle.random() < 0.3) rotate(trial, 'in/a.log', ++generation);
    if (turn % 2 === 0) {
      await delay(oracle.between(0, 1000));
    } else {
      await trial.until(() => trial.outputBytes > before);
      await delay(oracle.between(0, 40));
    }
    whileRunning();
    said.push((await kill(child)).stderr);
    trial.appendLines('in/a.log', oracle.between(1, 50));
    if (oracle.random() < 0.4) rotate(trial, 'in/b.log', ++generation);
  }
  const end = await trial.runOnce();
  expect(end).toMatchObject({ code: 0 });
  return [...said, end.stderr];
}

it.each([
  ['at least once', ''],
  ['exactly once', 'exactly_once: true'],
])(
  'kill -9 as soon as it follows a file, which is rotated before the next run: nothing is lost, %s',
  async (_, pipeline) => {
    const settings = { paths: 'in/a.log', ...(pipeline && { pipeline }) };
    // Nothing comes out before the kill, however late that is.
    const trial = new Trial(fileToDisk({ ...settings, delay: 60 }).replace('minimum: 0', 'minimum: 60'));
    for (let round = 0; round < 3; round++) {
      trial.appendLines('in/a.log', 20);
      await kill(await trial.run());
      trial.rename('in/a.log', `in/a.log.${round}`);
    }
    trial.write('p.yaml', fileToDisk(settings));
    trial.appendLines('in/a.log', 20);
    await trial.runOnce();
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  },
);

it(`kill -9 at ${KILLS} points: nothing is lost, and no more comes twice than was open`, async () => {
  const config = fileToDisk({ forwarder: 'plugin: ./late.mjs', pipeline: `max_in_flight: ${WINDOW}` });
  const trial = new Trial(config, { 'late.mjs': LATE_FORWARDER });
  await killAgainAndAgain(trial);
  const verdict = trial.verdict();
  expect(verdict).toEqual({ ...FLAWLESS, seed: verdict.seed, doubled: verdict.doubled });
  expect(verdict.doubled).toBeGreaterThan(0);
  expect(verdict.doubled).toBeLessThanOrEqual(KILLS * WINDOW);
});

it(`kill -9 at ${KILLS} points, exactly once: nothing is lost, nothing comes twice`, async () => {
  const trial = new Trial(
    `
collectors:
  a: { plugin: file, paths: ['in/a.log*'], backfill: true }
  b: { plugin: file, paths: ['in/b.log*'], backfill: true }
processors:
  multiply: { plugin: ./multiply.mjs }
  ${MASK}
  slow: { plugin: test, delay_range: { minimum: 0.0001, maximum: 0.004 } }
forwarders:
  out: { plugin: disk, path: out, filename: events.jsonl }
pipelines:
  main: { collect: [a, b], process: [multiply, mask, slow], forward: out, exactly_once: true }
host_config: {}
`,
    { 'multiply.mjs': MULTIPLYING_PROCESSOR },
  );
  let outputs = 0;
  const rotateOutput = () => {
    if (trial.oracle.random() < 0.5 || !fs.existsSync(trial.path('out/events.jsonl'))) return;
    trial.rename('out/events.jsonl', `out/events.jsonl.${++outputs}`);
  };
  const said = await killAgainAndAgain(trial, rotateOutput);
  const verdict = trial.verdict({ copies: copiesOf });
  expect(verdict).toEqual({ ...FLAWLESS, seed: verdict.seed });
  // Else no kill has left anything to be cut off, and the test has shown nothing.
  expect(said.filter((text) => text.includes('what was not confirmed, '))).not.toEqual([]);
});
