import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { CliProcess } from '../support/cli.ts';
import { byForm } from './support/form.ts';
import { LATE_FORWARDER } from './support/modules.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from './support/trial.ts';

const ROUNDS = byForm({ short: 3, long: 30 });
const WINDOW = 100;

/** Takes ten times as long to confirm. */
const SLOW_FORWARDER = LATE_FORWARDER.replace('* 20', '* 200');

/** A backlog that takes many times as long as the test: the forwarder confirms late, a few at a time. */
function backlog(): Trial {
  const trial = new Trial(
    fileToDisk({ forwarder: 'plugin: ./late.mjs', pipeline: `max_in_flight: ${WINDOW}` }),
    { 'late.mjs': SLOW_FORWARDER },
  );
  trial.append('in/a.log', trial.oracle.lines(byForm({ short: 10_000, long: 100_000 })));
  return trial;
}

/** Goes on until some more has come out since `start`. */
async function works(trial: Trial, start = () => {}): Promise<void> {
  const before = trial.outputBytes;
  start();
  await trial.until(() => trial.outputBytes > before);
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s during a backlog', (signal) => {
  it('lets what is in flight be delivered and reads no more: the next run goes on, and nothing comes twice', async () => {
    const trial = backlog();
    for (let round = 0; round < ROUNDS; round++) {
      const child = await trial.run();
      await works(trial);
      await delay(trial.oracle.between(0, 100));
      const { code, stderr } = await kill(child, signal);
      expect(code).toBe(0);
      expect(stderr).toMatch(new RegExp(`${signal}: stopping.*[^]*^main {2}stopped after`, 'm'));
      expect(stderr).not.toContain('given up');
    }
    expect(trial.delivered).toBeLessThan(trial.oracle.written);
    trial.write('late.mjs', LATE_FORWARDER);
    expect(await trial.runOnce()).toMatchObject({ code: 0 });
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  });

  it('twice ends at once: nothing is lost, and no more comes twice than was open', async () => {
    const hanging = LATE_FORWARDER.replace('Math.random() * 20', '3600_000');
    const config = fileToDisk({ forwarder: 'plugin: ./late.mjs', pipeline: `max_in_flight: ${WINDOW}` });
    const trial = new Trial(config, { 'late.mjs': hanging });
    trial.append('in/a.log', trial.oracle.lines(1000));
    const child = await trial.run('--drain-timeout', '3600');
    // It hangs with its first batch, which may be there already.
    await trial.until(() => trial.outputBytes > 0);
    child.kill(signal);
    await child.shows('stderr', /stopping; up to 3600 s/);
    // One that comes too soon after the first counts as its echo.
    const { code } = await child.killUntilEnded(signal);
    expect(code).toBe(signal === 'SIGTERM' ? 143 : 130);
    trial.write('late.mjs', LATE_FORWARDER);
    expect(await trial.runOnce()).toMatchObject({ code: 0 });
    const verdict = trial.verdict();
    expect(verdict).toEqual({ ...FLAWLESS, seed: verdict.seed, doubled: verdict.doubled });
    expect(verdict.doubled).toBeLessThanOrEqual(WINDOW);
  });
});

it('SIGTERM during a replay: what is in flight is sent, the file stays, and it says that the rest was not read', async () => {
  const trial = backlog();
  const entries = trial.oracle.lines(20_000).trimEnd().split('\n').slice(0, 5000);
  const entryOf = (line: string) => ({
    data: { error: 'no', pipeline: 'main', plugin: 'out', time: '', event: { data: { line } } },
  });
  trial.append('letters.jsonl', entries.map((line) => `${JSON.stringify(entryOf(line))}\n`).join(''));
  const before = trial.text('letters.jsonl');
  const child = await trial.start('replay', 'letters.jsonl', '--pipeline', 'main', 'p.yaml');
  await works(trial);
  const { code, stderr } = await kill(child, 'SIGTERM');
  expect(code).toBe(1);
  const sent = Number(
    /letters\.jsonl: ([\d,]+) sent; the rest was not read/.exec(stderr)?.[1]?.replace(',', ''),
  );
  expect(trial.delivered).toBe(sent);
  expect(sent).toBeLessThan(entries.length);
  expect(trial.text('letters.jsonl')).toBe(before);
  expect(trial.verdict()).toMatchObject({ doubled: 0, torn: 0, leaks: [] });
});

it('SIGTERM at any time during a reload: it ends in good order, and nothing is lost or comes twice', async () => {
  const config = (rounds: number) =>
    fileToDisk({ pipeline: `max_in_flight: ${WINDOW + rounds}`, delay: 0.004 });
  const trial = new Trial(config(0));
  for (let round = 1; round <= ROUNDS * 2; round++) {
    const child: CliProcess = await trial.run();
    await works(trial, () => trial.appendLines('in/a.log', 3000));
    trial.write('p.yaml', config(round));
    child.kill('SIGHUP');
    await delay(trial.oracle.between(0, 200));
    expect((await kill(child, 'SIGTERM')).code).toBe(0);
  }
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
});
