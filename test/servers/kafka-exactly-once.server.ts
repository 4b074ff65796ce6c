import { cpSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Consumer } from '@platformatic/kafka';
import { byForm } from '../faults/support/form.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from '../faults/support/trial.ts';
import { type Kafka, startKafka } from './support/kafka.ts';
import { skipWithout } from './support/start-server.ts';

/*
 * `file` to `kafka` with `exactly_once`, over a real broker. Every line has a number, every third one a secret. What a reader
 * of committed records sees is compared with what was written: each line once, and no secret.
 */

const LINES = byForm({ short: 5000, long: 50_000 });
const KILLS = byForm({ short: 4, long: 10 });

skipWithout('kafka')('`exactly_once` to Kafka', () => {
  let broker: Kafka;
  let consumer: Consumer;
  beforeAll(async () => {
    broker = await startKafka();
    consumer = new Consumer({ clientId: 'test', bootstrapBrokers: [broker.broker], groupId: 'test' });
  }, 120_000);
  afterAll(() => consumer.close());

  let topics = 0;
  async function trialWith(forwarder = '', pipeline = '') {
    const topic = `exact-${topics++}`;
    await broker.createTopic(topic, 3);
    const trial = new Trial(
      fileToDisk({
        forwarder: `plugin: kafka, brokers: '${broker.broker}', topic: ${topic}, batch: { events: 200 }, ${forwarder}`,
        pipeline: `exactly_once: true, ${pipeline}`,
      }),
    );
    const stored = async () => (await broker.records(topic)).map(({ value }) => `${value}\n`);
    /** Records and ends of transactions, those that are not committed included. */
    const written = async () => {
      const offsets = await consumer.listOffsets({ topics: [topic] });
      return (offsets.get(topic) ?? []).reduce((sum, offset) => sum + Number(offset), 0);
    };
    /** Starts millrace, and kills it after it has written some more. */
    const runAndKill = async (most: number) => {
      const before = await written();
      const more = trial.oracle.between(0, most);
      const run = await trial.run();
      await trial.until(async () => (await written()) > before + more);
      await delay(trial.oracle.between(0, 50));
      await kill(run);
    };
    const verdict = async () => {
      trial.write('out/out.jsonl', (await stored()).join(''));
      return trial.verdict();
    };
    trial.append('out/out.jsonl', '');
    return { trial, stored, verdict, runAndKill };
  }

  const flawless = ({ oracle }: Trial) => ({ ...FLAWLESS, seed: oracle.seed });

  it(`stores each line once, however often millrace is killed`, async () => {
    const { trial, verdict, runAndKill } = await trialWith();
    for (let n = 0; n < KILLS; n++) {
      for (const name of ['in/a.log', 'in/b.log']) trial.appendLines(name, LINES / 2 / KILLS);
      await runAndKill(LINES / 2 / KILLS);
    }
    expect(await trial.runOnce()).toMatchObject({ code: 0 });
    expect(await verdict()).toEqual(flawless(trial));
  });

  describe.each([
    ['at once', 0],
    ['after its transaction has timed out', byForm({ short: 5000, long: 70_000 })],
  ])('stores each line once when the broker is killed and starts again %s', (_, outage) => {
    it('with the same process', async () => {
      const { trial, stored, verdict } = await trialWith('timeout: 3');
      trial.appendLines('in/a.log', LINES / 2);
      const run = await trial.run();
      await trial.until(async () => (await stored()).length > 0);
      await broker.kill();
      trial.appendLines('in/a.log', LINES / 2);
      await run.shows('stderr', /out.*failed/);
      await delay(outage);
      await broker.restart();
      await trial.until(async () => (await stored()).length >= LINES);
      await kill(run, 'SIGTERM');
      expect(await verdict()).toEqual(flawless(trial));
    });
  });

  it('stores each line once when both are killed', async () => {
    const { trial, verdict, runAndKill } = await trialWith();
    trial.appendLines('in/a.log', LINES);
    await runAndKill(LINES / 2);
    await broker.kill();
    await broker.restart();
    expect(await trial.runOnce()).toMatchObject({ code: 0 });
    expect(await verdict()).toEqual(flawless(trial));
  });

  it('gives up only the events that the broker refuses, also when millrace is killed', async () => {
    const { trial, stored, runAndKill } = await trialWith();
    const large = 'y'.repeat(1_200_000);
    for (let n = 0; n < KILLS; n++) {
      const lines = Array.from(
        { length: 500 },
        (_, i) => `line ${500 * n + i} ${i % 100 === 7 ? large : ''}\n`,
      );
      trial.append('in/a.log', lines.join(''));
      await runAndKill(300);
    }
    await trial.runOnce();
    const numbers = (await stored()).map((text) => Number(/line (\d+) /.exec(text)?.[1]));
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers).toHaveLength(495 * KILLS);
  });

  it('says that a state folder is older than what is stored', async () => {
    const { trial } = await trialWith();
    trial.appendLines('in/a.log', 300);
    await trial.runOnce();
    cpSync(trial.path('state'), trial.path('copy'), { recursive: true });
    trial.appendLines('in/a.log', 1000);
    await trial.runOnce();
    trial.appendLines('in/a.log', 1000);
    const other = await trial.start('run', 'p.yaml', '--once', '--state-dir', 'copy');
    const { code, stderr } = await other.ended();
    expect([code, stderr]).toEqual([0, expect.stringMatching(/state folder is older than what is stored/)]);
  });

  it('stops one of two processes that run with copies of one state folder', async () => {
    const { trial } = await trialWith();
    trial.appendLines('in/a.log', 300);
    await trial.runOnce();
    cpSync(trial.path('state'), trial.path('copy'), { recursive: true });
    const one = await trial.run();
    const other = await trial.start('run', 'p.yaml', '--state-dir', 'copy');
    const both = [one, other];
    const stopped = /another process stores events by the transactions of this pipeline/;
    await trial.until(() => {
      trial.appendLines('in/a.log', 500);
      return both.some(({ stderr }) => stopped.test(stderr));
    });
    const codes = await Promise.all(
      both.map(async (run) => {
        if (!stopped.test(run.stderr)) run.kill('SIGTERM');
        return (await run.ended()).code;
      }),
    );
    expect(codes.sort()).toEqual([0, 1]);
  });
});
