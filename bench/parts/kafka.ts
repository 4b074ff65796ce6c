import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Admin, Consumer, type Offsets } from '@platformatic/kafka';
import { eventsFile, logFile } from '../log-file.ts';
import { ProcessTree } from '../measure/process-tree.ts';
import { rounds } from '../measure/rounds.ts';
import type { Command } from '../measure/run-command.ts';
import { median, ratio } from '../measure/statistics.ts';
import { runCommand } from '../peers/millrace.ts';
import { program, withFolder } from '../places.ts';
import { count, microseconds, perSecond } from './figures.ts';
import { atLeast, notMeasured, type Part } from './part.ts';

/** A broker that runs already. */
const BROKER = process.env.KAFKA_BROKER;
const LEAST = 0.8;
const DIRECTIONS = ['write', 'read'] as const;
type Direction = (typeof DIRECTIONS)[number];
const share = (value: number) => `${value.toFixed(2)} ×`;
const targetOf = (direction: Direction) => `${direction}: lines a second ÷ the bare client`;

/** Lines from a file to a topic, and from a topic to a file: millrace, and the client of Kafka by itself. */
export const kafka: Part = {
  name: 'kafka',
  title: 'file → Kafka and Kafka → disk, beside the bare client',
  async run({ quick, progress }) {
    if (BROKER === undefined) {
      const why = 'KAFKA_BROKER is not set to the address of a broker';
      const targets = DIRECTIONS.map((direction) =>
        notMeasured(targetOf(direction), `≥ ${share(LEAST)}`, why),
      );
      return { tables: [], targets, notes: [] };
    }
    const broker = BROKER;
    const lines = quick ? 300_000 : 2_000_000;
    const documents = eventsFile(lines);
    const jobs = DIRECTIONS.flatMap((direction) =>
      [bare(broker, documents), millraceJob(broker, lines)].map((subject) => ({ direction, subject })),
    );
    const filled = await topic(broker);
    const [code] = await run(bare(broker, documents).write(filled, '')).ended;
    if (code !== 0) throw new Error(`the topic could not be filled: the client ended with the code ${code}`);
    const measured = await rounds(jobs, quick ? 3 : 5, async ({ direction, subject }, round) => {
      progress(`${subject.name}, ${direction}, round ${round + 1}`);
      return direction === 'write' ? written(broker, subject, lines) : readBack(subject, filled, documents);
    });
    const timesOf = (job: (typeof jobs)[number] | undefined) => (job && measured.get(job)) ?? [];
    const rows = jobs.map((job) => {
      const runs = timesOf(job);
      const cpu = (median(runs.map(({ cpuMs }) => cpuMs)) / lines) * 1000;
      const rate = perSecond(lines, median(runs.map(({ ms }) => ms)));
      return [`${job.subject.name}, ${job.direction}`, count(rate), microseconds(cpu)];
    });
    const ms = (job: (typeof jobs)[number] | undefined) => timesOf(job).map((run) => run.ms);
    return {
      tables: [{ cells: 'figures', columns: ['', 'lines a second', 'processor time of a line'], rows }],
      targets: DIRECTIONS.map((direction, i) =>
        atLeast(targetOf(direction), ratio(ms(jobs[2 * i]), ms(jobs[2 * i + 1])), LEAST, share),
      ),
      notes: [
        'Three partitions, 1,000 records in a batch, one batch at a time, `acks: all`, no compression. The time of `write` is from ' +
          'the first record to the last one that the broker has, that of `read` from the first byte of the output to the last one. ' +
          'The processor time has the start of the process. The bare client writes events that are JSON already, and ' +
          'commits without knowing what was written to the file.',
      ],
    };
  },
};

interface KafkaSubject {
  readonly name: string;
  write(topic: string, folder: string): Command;
  read(topic: string, folder: string): Command;
}

interface Run {
  readonly ms: number;
  readonly cpuMs: number;
}

function bare(broker: string, documents: string): KafkaSubject {
  const client = (...args: readonly string[]) => ({
    ...{ command: process.execPath, args: [program('kafka-client'), ...args] },
  });
  return {
    name: 'the bare client',
    write: (topic) => client('write', broker, topic, documents),
    read: (topic, folder) => client('read', broker, topic, join(folder, 'out.jsonl')),
  };
}

function millraceJob(broker: string, lines: number): KafkaSubject {
  const log = { plugin: 'file', paths: [logFile(lines)], backfill: true };
  return {
    name: 'millrace',
    write(topic, folder) {
      const out = { plugin: 'kafka', brokers: broker, topic };
      const pipelines = { main: { collect: 'log', forward: 'out' } };
      return runCommand(
        folder,
        { collectors: { log }, forwarders: { out }, pipelines, host_config: {} },
        '--once',
      );
    },
    read(topic, folder) {
      const collectors = {
        in: { plugin: 'kafka', brokers: broker, topics: topic, group: folder.replaceAll('/', '-') },
      };
      const forwarders = { out: { plugin: 'disk', path: folder, filename: 'out.jsonl' } };
      const pipelines = { main: { collect: 'in', forward: 'out', max_in_flight: 10_000 } };
      return runCommand(folder, { collectors, forwarders, pipelines, host_config: {} });
    },
  };
}

function run({ command, args }: Command) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const tree = new ProcessTree(child.pid ?? 0);
  const sampling = setInterval(() => tree.sample(), 20);
  const ended = once(child, 'close').finally(() => clearInterval(sampling));
  /** Waits for what the process does. */
  const until = async (isDone: () => unknown) => {
    while (!(await isDone())) {
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      // It may have done it in the meantime.
      if (hasEnded && !(await isDone())) {
        throw new Error(`a process ended too early, with the code ${child.exitCode}: ${args.join(' ')}`);
      }
      await pause(2);
    }
  };
  return { tree, ended, until, kill: () => child.kill('SIGKILL') };
}

async function topic(broker: string): Promise<string> {
  const name = `bench-${Date.now()}`;
  const admin = new Admin({ clientId: 'bench', bootstrapBrokers: [broker] });
  await admin.createTopics({ topics: [name], partitions: 3, replicas: 1 });
  await admin.close();
  return name;
}

function written(broker: string, subject: KafkaSubject, lines: number): Promise<Run> {
  return withFolder(async (folder) => {
    const name = await topic(broker);
    const consumer = new Consumer({ clientId: 'bench', bootstrapBrokers: [broker], groupId: 'bench' });
    const stored = async () => {
      const offsets: Offsets = await consumer.listOffsets({ topics: [name] });
      return (offsets.get(name) ?? []).reduce((sum, offset) => sum + Number(offset), 0);
    };
    await stored();
    const { tree, ended, until } = run(subject.write(name, folder));
    await until(async () => (await stored()) > 0);
    const start = performance.now();
    await until(async () => (await stored()) >= lines);
    const ms = performance.now() - start;
    await ended;
    await consumer.close();
    return { ms, cpuMs: tree.usage.cpuMs };
  });
}

function readBack(subject: KafkaSubject, name: string, documents: string): Promise<Run> {
  return withFolder(async (folder) => {
    mkdirSync(folder, { recursive: true });
    const { size } = statSync(documents);
    const { tree, ended, until, kill } = run(subject.read(name, folder));
    const output = () => statSync(join(folder, 'out.jsonl'), { throwIfNoEntry: false })?.size ?? 0;
    await until(() => output() > 0);
    const start = performance.now();
    await until(() => output() >= size);
    const ms = performance.now() - start;
    tree.sample();
    kill();
    await ended;
    return { ms, cpuMs: tree.usage.cpuMs };
  });
}
