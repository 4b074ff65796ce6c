import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { byForm } from './support/form.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from './support/trial.ts';

const KILLS = byForm({ short: 6, long: 60 });

/** Of which each thread may have six times as many open. */
const MAX_IN_FLIGHT = 200;
const WORKERS = 2;

/** Runs and kills it while lines are written: half of the kills at any time, half when it has done some work. */
async function killAgainAndAgain(trial: Trial): Promise<void> {
  const { oracle } = trial;
  for (let turn = 0; turn < KILLS; turn++) {
    trial.appendLines('in/a.log', oracle.between(1000, 5000));
    const child = await trial.start('run', 'p.yaml', '--state-dir', 'state');
    if (oracle.random() < 0.5) {
      await delay(oracle.between(0, 1000));
    } else {
      const goal = trial.outputBytes + oracle.between(1, 200_000);
      const deadline = performance.now() + 2000;
      await eventually(() => trial.outputBytes >= goal || performance.now() > deadline);
    }
    await kill(child);
    if (oracle.random() < 0.3) trial.rename('in/a.log', `in/a.log.${turn}`);
  }
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
}

it(`kill -9 at ${KILLS} points with workers: nothing is lost, and no more comes twice than was open`, async () => {
  const trial = new Trial(fileToDisk({ pipeline: `workers: ${WORKERS}, max_in_flight: ${MAX_IN_FLIGHT}` }));
  await killAgainAndAgain(trial);
  const verdict = trial.verdict();
  expect(verdict).toEqual({ ...FLAWLESS, seed: verdict.seed, doubled: verdict.doubled });
  expect(verdict.doubled).toBeLessThanOrEqual(KILLS * WORKERS * MAX_IN_FLIGHT);
});

it(`kill -9 at ${KILLS} points with workers, exactly once: nothing is lost, nothing comes twice`, async () => {
  const trial = new Trial(fileToDisk({ pipeline: `workers: ${WORKERS}, exactly_once: true` }));
  await killAgainAndAgain(trial);
  const verdict = trial.verdict();
  expect(verdict).toEqual({ ...FLAWLESS, seed: verdict.seed });
});

it('SIGTERM in a backlog with workers: it ends in time, and the next run goes on where it was', async () => {
  const trial = new Trial(fileToDisk({ pipeline: `workers: ${WORKERS}` }));
  trial.appendLines('in/a.log', 20_000);
  const child = await trial.run();
  await eventually(() => trial.outputBytes > 0);
  expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  const verdict = trial.verdict();
  expect(verdict).toEqual({ ...FLAWLESS, seed: verdict.seed });
});
