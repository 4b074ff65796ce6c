import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { eventsFile, logFile } from '../log-file.ts';
import { ProcessTree } from '../measure/process-tree.ts';
import { rounds } from '../measure/rounds.ts';
import type { Command } from '../measure/run-command.ts';
import { median, ratio } from '../measure/statistics.ts';
import { installed } from '../peers/installed.ts';
import { runCommand } from '../peers/millrace.ts';
import { program, withFolder } from '../places.ts';
import { count, microseconds, perSecond } from './figures.ts';
import { atLeast, notMeasured, type Part, type PartResult } from './part.ts';

/** How many processes share the stream. */
const WORKERS = [1, 2, 4];
/** Messages that are published at a time: one, so that they are stored in order, or many. */
const IN_FLIGHT = [1, 16];
const EVENTS_OF_A_MESSAGE = 256;
/** Messages that a worker and the bare client ask for at a time: see `nats-client`. */
const ASKED = 32;
/** Events in flight of a worker. */
const WORKER_EVENTS = ASKED * EVENTS_OF_A_MESSAGE;
/** Messages in flight of all workers: never what limits them. */
const MOST_PENDING = 1024;
const LEAST = 0.8;
const TITLE = 'file → NATS → disk, beside the bare client';
const share = (value: number) => `${value.toFixed(2)} ×`;

/** Lines from a file to a stream of JetStream, and from there to files: millrace, and the client of NATS by itself. */
export const nats: Part = {
  name: 'nats',
  title: TITLE,
  async run({ quick, progress }) {
    const found = findNatsServer();
    if ('missing' in found) return unmeasured(`nats-server: ${found.missing}`);
    const lines = quick ? 300_000 : 2_000_000;
    const documents = eventsFile(lines);
    const jobs = IN_FLIGHT.flatMap((inFlight) =>
      WORKERS.flatMap((workers) => [
        { inFlight, workers, subject: bare(documents, inFlight) },
        { inFlight, workers, subject: natsJob(lines, inFlight) },
      ]),
    );
    const measured = await rounds(jobs, quick ? 1 : 3, ({ inFlight, workers, subject }, round) => {
      progress(`${subject.name}, ${inFlight} messages at a time, ${workers} workers, round ${round + 1}`);
      return transfer(subject, workers, statSync(documents).size);
    });
    const times = (job: (typeof jobs)[number] | undefined) =>
      (job && measured.get(job))?.map(({ ms }) => ms) ?? [];
    return {
      tables: [
        {
          cells: 'figures',
          columns: [
            '',
            'messages at a time',
            'workers',
            'lines a second',
            ...['publisher', 'workers', 'server'].map((process) => `${process}, processor time of a line`),
          ],
          rows: jobs.map(({ subject, inFlight, workers }, i) => {
            const runs = measured.get(jobs[i] as (typeof jobs)[number]) ?? [];
            const ofLine = (cpuMs: (run: Transfer) => number) =>
              microseconds((median(runs.map(cpuMs)) / lines) * 1000);
            return [
              subject.name,
              count(inFlight),
              count(workers),
              count(perSecond(lines, median(runs.map(({ ms }) => ms)))),
              ofLine(({ publisherCpuMs }) => publisherCpuMs),
              ofLine(({ workersCpuMs }) => workersCpuMs),
              ofLine(({ serverCpuMs }) => serverCpuMs),
            ];
          }),
        },
      ],
      targets: jobs.flatMap((job, i) => {
        const reference = jobs[i - 1];
        return i % 2 === 0
          ? []
          : [atLeast(targetOf(job.inFlight, job.workers), ratio(times(reference), times(job)), LEAST, share)];
      }),
      notes: [
        'Publisher, server and workers are processes of one machine and run at the same time. The time is from the first ' +
          'message that is stored to the last one that is acknowledged. The processor time of the publisher has its start, ' +
          'that of the workers has not. Both sides send messages of the same size, wait for the acknowledgement of the ' +
          'server, ask for 32 messages at a time, append what they get to a file, and force it to the disk once a second. ' +
          'The bare client does less besides: it reads events that are JSON already, publishes, appends and acknowledges bytes without looking at ' +
          'them, and has no checkpoints. One message at a time is the default of millrace, which keeps the order of the lines.',
      ],
    };
  },
};

export const findNatsServer = () => installed('nats-server', ['--version'], /v(\d\S*)/);

const targetOf = (inFlight: number, workers: number) =>
  `lines a second ÷ the bare client: messages at a time ${inFlight}, workers ${workers}`;

/** The processes that publish events and consume them. */
interface NatsSubject {
  readonly name: string;
  publish(url: string, folder: string): Command;
  consume(url: string, folder: string): Command;
}

interface Transfer {
  /** From the first message that is stored to the last one that is acknowledged. */
  readonly ms: number;
  readonly publisherCpuMs: number;
  readonly workersCpuMs: number;
  readonly serverCpuMs: number;
}

function bare(documents: string, inFlight: number): NatsSubject {
  const client = (...args: readonly string[]) => ({
    command: process.execPath,
    args: [program('nats-client'), ...args],
  });
  return {
    name: 'the bare client',
    publish: (url) => client('publish', url, documents, String(inFlight)),
    consume: (url, folder) => client('consume', url, join(folder, 'out.jsonl')),
  };
}

export function natsJob(lines: number, inFlight: number): NatsSubject {
  const stream = (servers: string) => ({ plugin: 'nats', servers, stream: 'LOGS' });
  return {
    name: 'millrace',
    publish: (url, folder) => {
      const config = {
        collectors: { log: { plugin: 'file', paths: [logFile(lines)], backfill: true } },
        forwarders: { nats: { ...stream(url), subject: 'logs.app', concurrency: inFlight } },
        pipelines: {
          main: { collect: 'log', forward: 'nats' },
        },
        host_config: {},
      };
      return runCommand(folder, config, '--once');
    },
    consume: (url, folder) => {
      const config = {
        collectors: { nats: { ...stream(url), durable: 'workers' } },
        forwarders: { out: { plugin: 'disk', path: folder, filename: 'out.jsonl' } },
        pipelines: { main: { collect: 'nats', forward: 'out', max_in_flight: WORKER_EVENTS } },
        host_config: {},
      };
      return runCommand(folder, config);
    },
  };
}

/** @throws Error if what came out does not have the `bytes` that went in. */
export function transfer(subject: NatsSubject, workers: number, bytes: number): Promise<Transfer> {
  return withFolder((folder) =>
    withServer(folder, async (url, manager, server) => {
      await manager.streams.add({ name: 'LOGS', subjects: ['logs.app'] });
      await manager.consumers.add('LOGS', {
        durable_name: 'workers',
        ack_policy: 'explicit',
        max_ack_pending: MOST_PENDING,
      });
      const consumers: Child[] = [];
      const processes: Child[] = [];
      const folders = Array.from({ length: workers }, (_, n) => join(folder, `worker-${n}`));
      try {
        for (const own of folders) {
          const consumer = startIn(own, (path) => subject.consume(url, path));
          consumers.push(consumer);
          processes.push(consumer);
        }
        await waitFor(async () => (await manager.consumers.info('LOGS', 'workers')).num_waiting >= workers);
        const workersCpu = () => consumers.reduce((sum, { tree }) => sum + cpuOf(tree), 0);
        const [workersBefore, serverBefore] = [workersCpu(), cpuOf(server)];
        const publisher = startIn(join(folder, 'agent'), (path) => subject.publish(url, path));
        processes.push(publisher);
        await publisher.ended;
        await waitFor(async () => {
          const { num_pending, num_ack_pending } = await manager.consumers.info('LOGS', 'workers');
          return num_pending === 0 && num_ack_pending === 0;
        });
        const end = Date.now();
        const { first_ts } = (await manager.streams.info('LOGS')).state;
        const written = folders.reduce((sum, own) => sum + statSync(join(own, 'out.jsonl')).size, 0);
        // millrace's own events name a file and a time, and are of one length.
        if (written !== bytes) throw new Error(`${subject.name} wrote ${written} bytes of ${bytes}`);
        return {
          ms: end - Date.parse(first_ts),
          publisherCpuMs: publisher.tree.usage.cpuMs,
          workersCpuMs: workersCpu() - workersBefore,
          serverCpuMs: cpuOf(server) - serverBefore,
        };
      } finally {
        for (const { kill } of processes) kill();
      }
    }),
  );
}

function cpuOf(tree: ProcessTree): number {
  tree.sample();
  return tree.usage.cpuMs;
}

interface Child {
  readonly tree: ProcessTree;
  readonly ended: Promise<unknown>;
  kill(): void;
}

function startIn(folder: string, make: (folder: string) => Command): Child {
  mkdirSync(folder, { recursive: true });
  const { command, args } = make(folder);
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const tree = new ProcessTree(child.pid ?? 0);
  const sampling = setInterval(() => tree.sample(), 20);
  const ended = once(child, 'close').finally(() => clearInterval(sampling));
  return { tree, ended, kill: () => child.kill('SIGKILL') };
}

async function waitFor(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await pause(10);
}

async function withServer<T>(
  folder: string,
  use: (url: string, manager: JetStreamManager, server: ProcessTree) => Promise<T>,
): Promise<T> {
  const args = ['-js', '-a', '127.0.0.1', '-p', '-1', '-sd', join(folder, 'store')];
  const server = spawn('nats-server', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    const port = await new Promise<string>((resolve) => {
      createInterface(server.stderr).on('line', (line) => {
        const found = /Listening for client connections on 127\.0\.0\.1:(\d+)/.exec(line);
        if (found?.[1] !== undefined) resolve(found[1]);
      });
    });
    const url = `nats://127.0.0.1:${port}`;
    const client = await connect({ servers: url });
    const result = await use(url, await jetstreamManager(client), new ProcessTree(server.pid ?? 0));
    await client.close();
    return result;
  } finally {
    server.kill('SIGKILL');
    await once(server, 'close');
  }
}

function unmeasured(why: string): PartResult {
  const targets = IN_FLIGHT.flatMap((inFlight) =>
    WORKERS.map((workers) => notMeasured(targetOf(inFlight, workers), `≥ ${share(LEAST)}`, why)),
  );
  return { tables: [], targets, notes: [] };
}
