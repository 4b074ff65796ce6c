import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { logFile } from '../log-file.ts';
import { ProcessTree } from '../measure/process-tree.ts';
import { rounds } from '../measure/rounds.ts';
import { type Command, runToEnd } from '../measure/run-command.ts';
import { median } from '../measure/statistics.ts';
import { runCommand } from '../peers/millrace.ts';
import { program, withFolder } from '../places.ts';
import { count, microseconds, perSecond } from './figures.ts';
import { atLeast, type Part } from './part.ts';

/** A connector, and how many events a second it is to take on one core. */
interface Job {
  readonly name: string;
  readonly least: number;
  run(lines: number): Promise<Measured>;
}

interface Measured {
  /** From the first event that a connector could send or receive to the last one that was answered or written. */
  readonly ms: number;
  /** Of millrace, all of its threads. */
  readonly cpuMs: number;
}

const listen = '127.0.0.1:0';
const redact = { mask: { plugin: 'redact' } };

const JOBS: readonly Job[] = [
  into('`http` in, text', 'text', 100_000, { plugin: 'http', listen, path: '/logs' }),
  into('`http` in, NDJSON', 'ndjson', 100_000, { plugin: 'http', listen, path: '/logs' }),
  into('`otlp` in', 'otlp', 100_000, { plugin: 'otlp', listen }),
  into('`otlp` in, gzip', 'otlp-gzip', 100_000, { plugin: 'otlp', listen }),
  into('`otlp` in → `redact`', 'otlp', 0, { plugin: 'otlp', listen }, redact),
  into('`syslog` in, TCP', 'syslog', 100_000, { plugin: 'syslog', listen: `tcp://${listen}` }),
  outOf('`elasticsearch` out', 100_000, { plugin: 'elasticsearch', index: 'logs' }),
  outOf('`loki` out', 100_000, { plugin: 'loki', labels: { job: 'shop' } }),
  outOf('`splunk_hec` out', 100_000, { plugin: 'splunk_hec', token: { env: 'BENCH_SECRET' } }),
  outOf('`otlp` out', 100_000, { plugin: 'otlp' }),
  outOf('`s3` out, gzip', 200_000, {
    ...{ plugin: 's3', bucket: 'logs', access_key_id: 'bench', secret_access_key: { env: 'BENCH_SECRET' } },
  }),
];

/** Events from a client through a collector to a file, and from a file through a forwarder to a server. */
export const gateway: Part = {
  name: 'gateway',
  title: 'gateway: inputs from a client to a file, and outputs from a file to a server',
  async run({ quick, progress }) {
    const lines = quick ? 300_000 : 1_000_000;
    const measured = await rounds(JOBS, quick ? 1 : 3, (job, round) => {
      progress(`${job.name}, ${count(lines)} events, round ${round + 1}`);
      return job.run(lines);
    });
    const figures = JOBS.map((job) => {
      const runs = measured.get(job) ?? [];
      const [ms, cpuMs] = [median(runs.map((run) => run.ms)), median(runs.map((run) => run.cpuMs))];
      return { job, rate: perSecond(lines, ms), ofCore: perSecond(lines, cpuMs), cpuMs };
    });
    return {
      tables: [
        {
          cells: 'figures',
          columns: ['', 'events a second', 'events per second of processor time', 'for each event'],
          rows: figures.map(({ job, rate, ofCore, cpuMs }) => [
            job.name,
            ...[count(rate), count(ofCore), microseconds((cpuMs / lines) * 1000)],
          ]),
        },
      ],
      targets: figures
        .filter(({ job }) => job.least > 0)
        .map(({ job, rate }) => atLeast(`${job.name}, events a second`, rate, job.least, count)),
      notes: [
        'Each event is a line of about 170 bytes. Clients and servers are processes of their own: a client sends what it has ' +
          'prepared, 1,000 events in a request, over eight connections, and a server reads and answers. Inputs write to `disk`; ' +
          'their processor time is from the first byte to the last event in the file, and HTTP clients have an answer to every ' +
          'request. Outputs read with `file`; their processor time has the start and that, and their time is from the first ' +
          'request to the last answer.',
      ],
    };
  },
};

/** A collector, which `form` of the load is sent to. */
function into(name: string, form: string, least: number, collector: object, processors?: object): Job {
  return { name, least, run: (lines) => receive(form, lines, collector, processors) };
}

function receive(form: string, lines: number, collector: object, processors: object = {}): Promise<Measured> {
  return withFolder(async (folder) => {
    const config = {
      collectors: { in: collector },
      processors,
      forwarders: { out: { plugin: 'disk', path: folder, filename: 'out.jsonl' } },
      pipelines: {
        main: { collect: 'in', process: Object.keys(processors), forward: 'out', max_in_flight: 10_000 },
      },
      host_config: {},
    };
    const millrace = start(runCommand(folder, config));
    try {
      const port = await portIn(millrace);
      const tree = new ProcessTree(millrace.pid ?? 0);
      tree.sample();
      const before = tree.usage.cpuMs;
      const load = start({
        command: process.execPath,
        args: [program('gateway-load'), form, port, String(lines)],
      });
      const [startedAt] = (await once(load.stdout ?? load, 'data')) as [Buffer];
      const [code] = await once(load, 'close');
      if (code !== 0) throw new Error(`the client ended with ${code}`);
      const output = join(folder, 'out.jsonl');
      await untilLines(output, lines);
      tree.sample();
      return { ms: statSync(output).mtimeMs - Number(startedAt), cpuMs: tree.usage.cpuMs - before };
    } finally {
      millrace.kill('SIGKILL');
    }
  });
}

function start({ command, args }: Command): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr?.on('data', (text) => process.stderr.write(text));
  return child;
}

/** The port that millrace says it listens on. */
async function portIn({ stdout, stderr }: ChildProcess): Promise<string> {
  for (const stream of [stdout, stderr]) stream?.resume();
  return new Promise((resolve) => {
    for (const stream of [stdout, stderr]) {
      if (stream === null) continue;
      createInterface(stream).on('line', (line) => {
        const [, port] = /listens on \w+:\/\/\S+:(\d+)/.exec(line) ?? [];
        if (port !== undefined) resolve(port);
      });
    }
  });
}

/** Waits until a file has so many lines. */
async function untilLines(path: string, lines: number): Promise<void> {
  const file = openSync(path, 'r');
  const chunk = Buffer.alloc(1 << 20);
  try {
    for (let found = 0; found < lines; ) {
      const bytes = readSync(file, chunk);
      if (bytes === 0) await pause(5);
      for (let at = chunk.indexOf(LF); at !== -1 && at < bytes; at = chunk.indexOf(LF, at + 1)) found++;
    }
  } finally {
    closeSync(file);
  }
}

const LF = 0x0a;

/** A forwarder, which sends the lines of a file. */
function outOf(name: string, least: number, forwarder: object): Job {
  return { name, least, run: (lines) => send(lines, forwarder) };
}

function send(lines: number, forwarder: object): Promise<Measured> {
  return withFolder(async (folder) => {
    const sink = spawn(process.execPath, [program('gateway-sink')], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [port] = (await once(sink.stdout, 'data')) as [Buffer];
      const url = `http://127.0.0.1:${String(port).trim()}`;
      const config = {
        collectors: { log: { plugin: 'file', paths: [logFile(lines)], backfill: true } },
        forwarders: { out: { ...forwarder, [addressField(forwarder)]: url } },
        pipelines: { main: { collect: 'log', forward: 'out' } },
        host_config: {},
      };
      const command = {
        ...runCommand(folder, config, '--once'),
        env: { BENCH_SECRET: 'a-secret-of-the-bench' },
      };
      const { cpuMs } = await runToEnd(command);
      const { ms } = (await (await fetch(url)).json()) as { ms: number };
      return { ms, cpuMs };
    } finally {
      sink.kill('SIGKILL');
    }
  });
}

const addressField = (forwarder: object) => ('bucket' in forwarder ? 'endpoint' : 'url');
