import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Admin, Producer, stringSerializers } from '@platformatic/kafka';
import { byForm } from '../faults/support/form.ts';
import { ROOT } from '../support/build.ts';
import { type CliProcess, runCommand, startCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { HostileTcp, SILENCE } from './support/hostile-tcp.ts';
import { type Kafka, startKafka } from './support/kafka.ts';
import { freePort, skipWithout } from './support/start-server.ts';

/*
 * Both plugins over a real broker. Every line has a number: none may be lost. Duplicates are allowed only where
 * docs/reliability.md says so.
 */

const LINES = byForm({ short: 15_000, long: 500_000 });
const KILLS = byForm({ short: 3, long: 10 });
const TIMEOUT = byForm({ short: 300_000, long: 1_200_000 });

const temp = tempFolder();
const running = new Set<CliProcess>();
afterEach(async () => {
  for (const process of running) process.kill('SIGKILL');
  await Promise.all([...running].map((process) => process.ended()));
  running.clear();
});

let topics = 0;
let broker: Kafka;

/** A folder with a configuration, and a topic of its own. */
async function prepare(partitions: number, config: (topic: string, broker: string) => string) {
  const topic = `logs-${topics++}`;
  if (partitions > 0) await broker.createTopic(topic, partitions);
  const folder = temp(topic);
  mkdirSync(join(folder, 'out'), { recursive: true });
  writeFileSync(join(folder, 'config.yaml'), `${config(topic, broker.broker)}\nhost_config: {}\n`);
  return { topic, folder, args: ['run', 'config.yaml', '--state-dir', join(folder, 'state')] };
}

const writes =
  (fields = '', pipeline = '') =>
  (topic: string, address: string) =>
    `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
forwarders: { out: { plugin: kafka, brokers: "${address}", topic: ${topic}, ${fields} } }
pipelines: { main: { collect: log, forward: out, ${pipeline} } }`;

const reads =
  (fields = '', pipeline = '') =>
  (topic: string, address: string) =>
    `
collectors: { in: { plugin: kafka, brokers: "${address}", topics: ${topic}, group: "${topic}-readers", ${fields} } }
forwarders: { out: { plugin: disk, path: out, filename: "\${OUT:-events}.jsonl" } }
pipelines: { main: { collect: in, forward: out, ${pipeline} } }`;

async function start(
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<CliProcess> {
  const process = await startCli([...args, '--log-level', 'info'], { cwd, env });
  running.add(process);
  return process;
}

async function kill(process: CliProcess): Promise<void> {
  process.kill('SIGKILL');
  await process.ended();
  running.delete(process);
}

const numbersIn = (texts: string) => [...texts.matchAll(/line (\d+) /g)].map(([, n]) => Number(n));
const lineOf = (n: number) => `line ${n} ${'x'.repeat(150)}\n`;
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => lineOf(from + n)).join('');

function output(folder: string): number[] {
  const out = join(folder, 'out');
  return readdirSync(out).flatMap((name) => numbersIn(readFileSync(join(out, name), 'utf8')));
}

function tally(numbers: readonly number[]) {
  return { unique: new Set(numbers).size, repeated: numbers.length - new Set(numbers).size };
}

const stored = async (topic: string) =>
  (await broker.records(topic)).flatMap(({ value }) => numbersIn(value));

async function produce(topic: string, records: readonly object[]): Promise<void> {
  const producer = new Producer({
    clientId: 'test',
    bootstrapBrokers: [broker.broker],
    serializers: stringSerializers,
  });
  await producer.send({ messages: records.map((record) => ({ topic, ...record })) as never, acks: -1 });
  await producer.close();
}

skipWithout('kafka')('Kafka', () => {
  beforeAll(async () => {
    broker = await startKafka();
  }, TIMEOUT);

  describe('the forwarder', () => {
    it.each(['none', 'gzip', 'snappy', 'lz4'])(
      'stores each line once and in order, with compression %s',
      async (compression) => {
        const { topic, folder, args } = await prepare(1, writes(`compression: ${compression}`));
        writeFileSync(join(folder, 'in.log'), lines(0, 3000));
        const { code, stderr } = await runCommand([...args, '--once'], { cwd: folder });
        expect([code, stderr]).toEqual([0, expect.not.stringContaining('warn')]);
        expect(await stored(topic)).toEqual(Array.from({ length: 3000 }, (_, n) => n));
      },
      TIMEOUT,
    );

    it(
      'gives a key the partition that Kafka’s own clients choose',
      async () => {
        const { topic, folder, args } = await prepare(8, writes('key: source, payload: line'));
        writeFileSync(join(folder, 'in.log'), lines(0, 10));
        await runCommand([...args, '--once'], { cwd: folder });
        const records = await broker.records(topic);
        expect(new Set(records.map(({ partition }) => partition)).size).toBe(1);
        expect(records.map(({ key, value }) => [key, value])).toEqual(
          Array.from({ length: 10 }, (_, n) => ['in.log', lineOf(n).trim()]),
        );
      },
      TIMEOUT,
    );

    it(
      'waits for a topic that is missing, and says so',
      async () => {
        const { topic, folder, args } = await prepare(0, writes());
        writeFileSync(join(folder, 'in.log'), lines(0, 10));
        const process = await start(args, folder);
        await process.shows('stderr', /there is no such topic, or this user may not see it; create it first/);
        await broker.createTopic(topic, 2);
        await eventually(async () => (await stored(topic)).length === 10, TIMEOUT);
      },
      TIMEOUT,
    );

    it(
      'gives up only an event that is larger than the topic allows',
      async () => {
        const letters = 'letters: { plugin: disk, path: out, filename: letters.jsonl }';
        const config = (topic: string, address: string) =>
          writes('batch: { events: 100 }', 'delivery: { dead_letter: letters }')(topic, address).replace(
            'forwarders: {',
            `forwarders: { ${letters},`,
          );
        const { topic, folder, args } = await prepare(1, config);
        const large = `line 5 ${'y'.repeat(1_200_000)}\n`;
        writeFileSync(join(folder, 'in.log'), `${lines(0, 5)}${large}${lines(6, 2000)}`);
        const { stderr } = await runCommand([...args, '--once'], { cwd: folder });
        expect(stderr).toMatch(/refuses the record of the event, which has \d+ bytes .*MESSAGE_TOO_LARGE/);
        expect(stderr).not.toContain('yyy');
        expect((await stored(topic)).length).toBe(1999);
        expect(numbersIn(readFileSync(join(folder, 'out/letters.jsonl'), 'utf8'))).toEqual([5]);
      },
      TIMEOUT,
    );

    it(
      'loses nothing when millrace is killed ten times',
      async () => {
        const { topic, folder, args } = await prepare(3, writes());
        writeFileSync(join(folder, 'in.log'), '');
        let process = await start(args, folder);
        for (let part = 0; part < KILLS; part++) {
          appendFileSync(join(folder, 'in.log'), lines((part * LINES) / KILLS, ((part + 1) * LINES) / KILLS));
          await delay(200 + Math.random() * 1500);
          await kill(process);
          process = await start(args, folder);
        }
        let found = { unique: 0, repeated: 0 };
        await eventually(async () => {
          found = tally(await stored(topic));
          return found.unique >= LINES;
        }, TIMEOUT);
        console.info(`writer killed ${KILLS} times: ${JSON.stringify(found)}`);
        expect(found.unique).toBe(LINES);
        expect(found.repeated).toBeLessThanOrEqual(KILLS * 10_000);
      },
      TIMEOUT,
    );

    it(
      'loses and repeats nothing when the broker is killed and starts again',
      async () => {
        const { topic, folder, args } = await prepare(3, writes());
        writeFileSync(join(folder, 'in.log'), lines(0, LINES / 2));
        const process = await start(args, folder);
        await eventually(async () => (await stored(topic)).length > 0, TIMEOUT);
        await broker.kill();
        appendFileSync(join(folder, 'in.log'), lines(LINES / 2, LINES));
        await process.shows('stderr', /out.*failed/);
        await broker.restart();
        await eventually(async () => tally(await stored(topic)).unique >= LINES, TIMEOUT);
        const found = tally(await stored(topic));
        console.info(`broker killed under a writer: ${JSON.stringify(found)}`);
        expect(found).toEqual({ unique: LINES, repeated: 0 });
      },
      TIMEOUT,
    );
  });

  it(
    'examples/kafka/archive.yaml takes secrets out of a log, and keeps what the topic has',
    async () => {
      await broker.createTopic('logs', 3);
      const folder = temp('example');
      mkdirSync(folder);
      writeFileSync(join(folder, 'app.log'), 'login of ada with password=hunter2-q9\nready in 12 ms\n');
      const env = { LOG: join(folder, '*.log'), KAFKA: broker.broker };
      await start(
        ['run', join(ROOT, 'examples/kafka/archive.yaml'), '--state-dir', join(folder, 'state')],
        folder,
        env,
      );
      const archive = join(folder, 'out/kafka/events.jsonl');
      await eventually(() => readFileSync(archive, 'utf8').split('\n').length === 3, TIMEOUT);
      expect(readFileSync(archive, 'utf8')).toMatch(/password=<:password:>".*\n.*ready in 12 ms"/);
      expect(existsSync(join(folder, 'out/kafka/unread.jsonl'))).toBe(false);
      const keys = (await broker.records('logs')).map(({ key }) => key);
      expect(keys).toEqual([join(folder, 'app.log'), join(folder, 'app.log')]);
    },
    TIMEOUT,
  );

  describe('the collector', () => {
    it(
      'does not read what a transaction took back',
      async () => {
        const { topic, folder, args } = await prepare(1, reads('format: lines'));
        const producers = [0, 1].map(
          (n) =>
            new Producer({
              ...{ clientId: 'test', bootstrapBrokers: [broker.broker], serializers: stringSerializers },
              ...{ idempotent: true, transactionalId: `${topic}-${n}`, retries: 2 },
            }),
        );
        const transact = async (producer: number, numbers: readonly number[], end: 'commit' | 'abort') => {
          const transaction = await producers[producer]?.beginTransaction({});
          for (const n of numbers) {
            await transaction?.send({ messages: [{ topic, partition: 0, value: lineOf(n) }] } as never);
          }
          await transaction?.[end]();
        };
        await transact(0, [0, 1], 'commit');
        await transact(0, [2], 'abort');
        await transact(1, [3], 'abort');
        await transact(0, [4, 5], 'abort');
        await transact(1, [6], 'commit');
        await Promise.all(producers.map((producer) => producer.close()));
        expect((await runCommand([...args, '--once'], { cwd: folder })).code).toBe(0);
        expect(output(folder)).toEqual([0, 1, 6]);
      },
      TIMEOUT,
    );

    async function fill(topic: string): Promise<void> {
      for (let n = 0; n < LINES; n += 5000) {
        const values = Array.from({ length: Math.min(5000, LINES - n) }, (_, i) => ({
          value: lineOf(n + i).trim(),
        }));
        await produce(topic, values);
      }
    }

    it(
      'reads what is there with --once, commits it, and then only what is new',
      async () => {
        const { topic, folder, args } = await prepare(3, reads('format: lines, metadata: kafka'));
        await produce(topic, [
          {
            partition: 1,
            key: 'k',
            value: 'line 0 ',
            headers: { trace: 'abc' },
            timestamp: 1_767_225_600_000n,
          },
          { partition: 1, key: 'gone', value: null },
          { partition: 2, value: 'line 1 ' },
        ]);
        const once = async () => (await runCommand([...args, '--once'], { cwd: folder })).code;
        const events = () =>
          readFileSync(join(folder, 'out/events.jsonl'), 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line));
        expect(await once()).toBe(0);
        const first = { topic, partition: 1, offset: 0, key: 'k', headers: { trace: 'abc' } };
        expect(events()).toEqual(
          expect.arrayContaining([
            {
              timestamp: '2026-01-01T00:00:00.000Z',
              data: {
                line: 'line 0 ',
                source: topic,
                kafka: { ...first, timestamp: '2026-01-01T00:00:00.000Z' },
              },
            },
            expect.objectContaining({ data: { kafka: expect.objectContaining({ key: 'gone', offset: 1 }) } }),
          ]),
        );
        expect(events()).toHaveLength(3);
        await produce(topic, [{ value: 'line 2 ' }]);
        expect(await once()).toBe(0);
        expect(numbersIn(readFileSync(join(folder, 'out/events.jsonl'), 'utf8')).sort()).toEqual([0, 1, 2]);
      },
      TIMEOUT,
    );

    it(
      'reads on at the first record that is there if others were removed before it came to them',
      async () => {
        const { topic, folder, args } = await prepare(1, reads('format: lines'));
        const numbered = (from: number, to: number) =>
          Array.from({ length: to - from }, (_, n) => ({ value: `line ${from + n} ` }));
        await produce(topic, numbered(0, 3));
        expect((await runCommand([...args, '--once'], { cwd: folder })).code).toBe(0);
        await produce(topic, numbered(3, 10));
        const admin = new Admin({ clientId: 'test', bootstrapBrokers: [broker.broker] });
        await admin.deleteRecords({
          topics: [{ name: topic, partitions: [{ partition: 0, offset: 8n }] }],
        });
        await admin.close();
        const process = await start(args, folder);
        await process.shows('stderr', /5 records \(from 3 on\) are gone.* at record 8/);
        await eventually(() => output(folder).length === 5, TIMEOUT);
        process.kill('SIGTERM');
        await process.ended();
        // What was committed is where the next run starts.
        await produce(topic, numbered(10, 11));
        expect((await runCommand([...args, '--once'], { cwd: folder })).code).toBe(0);
        expect(output(folder)).toEqual([0, 1, 2, 8, 9, 10]);
      },
      TIMEOUT,
    );

    it(
      'loses nothing when millrace is killed ten times',
      async () => {
        const { topic, folder, args } = await prepare(3, reads('format: lines, instance: reader'));
        await fill(topic);
        for (let life = 0; life < KILLS; life++) {
          const process = await start(args, folder, { OUT: `life-${life}` });
          await eventually(
            () => existsSync(join(folder, `out/life-${life}.jsonl`)) || tally(output(folder)).unique >= LINES,
            TIMEOUT,
          );
          await delay(Math.random() * 300);
          await kill(process);
        }
        await start(args, folder, { OUT: 'last' });
        await eventually(() => tally(output(folder)).unique >= LINES, TIMEOUT);
        const found = tally(output(folder));
        console.info(`reader killed ${KILLS} times: ${JSON.stringify(found)}`);
        expect(found.unique).toBe(LINES);
        expect(found.repeated).toBeLessThanOrEqual(KILLS * 20_000);
      },
      TIMEOUT,
    );

    it(
      'loses nothing when members come and go and the broker is killed',
      async () => {
        const { topic, folder, args } = await prepare(6, reads('format: lines'));
        const one = await start(args, folder, { OUT: 'one' });
        await fill(topic);
        const two = await start([...args.slice(0, -1), join(folder, 'state-2')], folder, { OUT: 'two' });
        await delay(1000);
        await broker.kill();
        await broker.restart();
        one.kill('SIGTERM');
        await one.ended();
        await start([...args.slice(0, -1), join(folder, 'state-3')], folder, { OUT: 'three' });
        await produce(topic, [{ value: `line ${LINES} ` }]);
        await kill(two);
        await eventually(() => tally(output(folder)).unique > LINES, TIMEOUT);
        console.info(`members come and go, broker killed: ${JSON.stringify(tally(output(folder)))}`);
      },
      TIMEOUT,
    );

    it(
      'goes on behind connections on which no answer comes any more',
      async () => {
        const port = await freePort();
        const server = await startKafka({ advertised: `127.0.0.1:${port}` });
        const proxy = await HostileTcp.before(Number(server.broker.split(':')[1]), { port });
        try {
          await server.createTopic('silent', 3);
          const folder = temp('silent');
          mkdirSync(join(folder, 'out'), { recursive: true });
          const config = `${reads('format: lines')('silent', `127.0.0.1:${port}`)}\nhost_config: {}\n`;
          writeFileSync(join(folder, 'config.yaml'), config);
          const args = ['run', 'config.yaml', '--state-dir', join(folder, 'state')];
          const sender = new Producer({
            ...{ clientId: 'test', bootstrapBrokers: [`127.0.0.1:${port}`], serializers: stringSerializers },
          });
          let sent = 0;
          /** Waits until a line more has come, also if connections fall silent before. */
          async function another(silences: number): Promise<void> {
            await sender.send({ messages: [{ topic: 'silent', value: `line ${sent++} ` }] });
            await eventually(
              () => existsSync(join(folder, 'out/events.jsonl')) && tally(output(folder)).unique === sent,
              TIMEOUT,
            );
            let silent = 0;
            proxy.fault = () => (silent++ < silences ? SILENCE : undefined);
            await eventually(() => silent > silences, TIMEOUT);
          }
          await start(args, folder);
          // Only fetching, and then the heartbeats as well.
          for (const silences of [1, 2, 0]) await another(silences);
          await sender.close();
          const admin = new Admin({ clientId: 'test', bootstrapBrokers: [`127.0.0.1:${port}`] });
          const committed = async () => {
            const [group] = await admin.listConsumerGroupOffsets({ groups: ['silent-readers'] });
            const partitions = group?.topics.flatMap(({ partitions }) => partitions) ?? [];
            return partitions.reduce((sum, { committedOffset }) => sum + Number(committedOffset), 0);
          };
          await eventually(async () => (await committed()) === sent, TIMEOUT);
          await admin.close();
        } finally {
          await proxy.stop();
          await server.stop();
        }
      },
      TIMEOUT,
    );
  });
});
