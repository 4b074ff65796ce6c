import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FLAWLESS, fileToDisk, kill, Trial } from '../faults/support/trial.ts';
import { type Kafka, startKafka } from './support/kafka.ts';
import { skipWithout } from './support/start-server.ts';

/* A broker to which its clients log in by SASL. A wrong password is corrected in its file while millrace runs. */

const PASSWORD = 'right-secret-of-the-tests';
const WRONG = 'wrong-secret-of-the-tests';
const LINES = 1000;

const login = (mechanism: string) =>
  `sasl: { mechanism: ${mechanism}, username: millrace, password: { file: key } }`;

skipWithout('kafka')('Kafka with SASL', () => {
  let broker: Kafka;
  beforeAll(async () => {
    broker = await startKafka({
      config: `
listener.security.protocol.map=CLIENTS:SASL_PLAINTEXT,TOOLS:PLAINTEXT,CONTROLLER:PLAINTEXT
listener.name.clients.sasl.enabled.mechanisms=PLAIN
listener.name.clients.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  user_millrace="${PASSWORD}";
`,
    });
  }, 120_000);
  afterAll(() => broker.stop());

  describe.each([
    ['a wrong password', 'plain', /the server refuses the login; check `sasl`/],
    [
      'a mechanism that the broker does not have',
      'scram-sha-512',
      /the server does not offer this `sasl.mechanism`/,
    ],
  ])('with %s', (what, mechanism, message) => {
    const corrects = what === 'a wrong password';
    const verdict = (trial: Trial) => ({ ...FLAWLESS, seed: trial.oracle.seed });

    it.each(['', 'exactly_once: true'])(
      'the forwarder says so, and stores all lines later %s',
      async (pipeline) => {
        const topic = `out-${mechanism}-${pipeline.length}`;
        await broker.createTopic(topic, 1);
        const forwarder = `plugin: kafka, brokers: '${broker.broker}', topic: ${topic}`;
        const trial = new Trial(fileToDisk({ forwarder: `${forwarder}, ${login(mechanism)}`, pipeline }));
        trial.write('key', WRONG);
        trial.appendLines('in/a.log', LINES);
        const run = await trial.run();
        await run.shows('stderr', message);
        expect(await broker.records(topic)).toEqual([]);
        if (corrects) trial.write('key', PASSWORD);
        else trial.write('p.yaml', fileToDisk({ forwarder: `${forwarder}, ${login('plain')}`, pipeline }));
        if (!corrects) {
          trial.write('key', PASSWORD);
          run.kill('SIGHUP');
        }
        await trial.until(async () => (await broker.records(topic)).length === LINES);
        expect((await kill(run, 'SIGTERM')).stderr).not.toMatch(/secret-of-the-tests/);
        const stored = await broker.records(topic);
        trial.append('out/out.jsonl', stored.map(({ value }) => `${value}\n`).join(''));
        expect(trial.verdict()).toEqual(verdict(trial));
      },
    );
  });

  it('the collector says so, and reads all records later', async () => {
    const topic = 'in';
    await broker.createTopic(topic, 1);
    const address = `brokers: '${broker.broker}', ${login('plain')}`;
    const trial = new Trial(`
collectors:
  log: { plugin: file, paths: ['in/*.log'], backfill: true }
  topic: { plugin: kafka, ${address.replace('file: key', 'file: other')}, topics: ${topic}, group: readers }
forwarders:
  topic: { plugin: kafka, ${address}, topic: ${topic} }
  out: { plugin: disk, path: out, filename: out.jsonl }
processors: { secrets: { plugin: regex_mask, rules: { KEY: 'key_[0-9a-f-]+_yek' } } }
pipelines:
  in: { collect: log, process: secrets, forward: topic }
  out: { collect: topic, forward: out }
host_config: {}
`);
    trial.write('key', PASSWORD);
    trial.write('other', WRONG);
    trial.appendLines('in/a.log', LINES);
    const run = await trial.run();
    await run.shows('stderr', /collector topic: .*the server refuses the login; check `sasl`/);
    await trial.until(async () => (await broker.records(topic)).length === LINES);
    expect(trial.delivered).toBe(0);
    trial.write('other', PASSWORD);
    await trial.allDelivered();
    expect((await kill(run, 'SIGTERM')).stderr).not.toMatch(/secret-of-the-tests/);
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  });
});
