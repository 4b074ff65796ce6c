import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server as NetServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect as connectClient, type NodeConnectionOptions } from '@nats-io/transport-node';
import { type CliProcess, startCli } from '../../support/cli.ts';
import { freePort, type Server, startServer, stopServers } from './start-server.ts';

// Each test has servers of its own. One that still writes would be in the way of removing the folder of the test.
afterEach(() => stopServers('SIGKILL'));

/** A NATS server with JetStream, which can be killed and started again on the same port with the same files. */
export class NatsServer {
  readonly port: number;
  readonly #folder: string;
  readonly #name: string;
  #server: Server | undefined;

  private constructor(folder: string, name: string, port: number) {
    this.#folder = folder;
    this.#name = name;
    this.port = port;
  }

  static async start(folder: string, config = '', name = 'alone', port?: number): Promise<NatsServer> {
    const server = new NatsServer(folder, name, port ?? (await freePort()));
    mkdirSync(folder, { recursive: true });
    server.configure(config);
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    this.#server = await startServer('nats-server', ['-c', this.#file], /Server is ready/);
  }

  async reload(): Promise<void> {
    const { child, output } = this.#server as Server;
    child.kill('SIGHUP');
    while (!output().includes('Reloaded server configuration')) await delay(20);
  }

  async kill(): Promise<void> {
    await this.#server?.stop('SIGKILL');
  }

  /** Takes effect with the next start or reload. */
  configure(config: string): void {
    writeFileSync(this.#file, this.#config(config));
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  get #file(): string {
    return join(this.#folder, `${this.#name}.conf`);
  }

  #config(more: string): string {
    const storage = more.includes('jetstream')
      ? ''
      : `jetstream { store_dir: "${join(this.#folder, this.#name)}" }`;
    return `listen: 127.0.0.1:${this.port}\nserver_name: ${this.#name}\n${storage}\n${more}\n`;
  }
}

/** The payloads of the messages of a stream. */
export async function storedMessages(
  options: NodeConnectionOptions,
  stream: string,
): Promise<{ readonly subject: string; readonly text: string }[]> {
  const client = await connectClient(options);
  const { streams } = await jetstreamManager(client);
  const { state } = await streams.info(stream);
  const messages: { subject: string; text: string }[] = [];
  for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
    const message = await streams.getMessage(stream, { seq });
    if (message !== null) messages.push({ subject: message.subject, text: message.string() });
  }
  await client.close();
  return messages;
}

/** Three servers that replicate streams. */
export async function startCluster(folder: string): Promise<NatsServer[]> {
  const names = ['n1', 'n2', 'n3'];
  const routes = [await freePort(), await freePort(), await freePort()];
  const urls = routes.map((port) => `nats://127.0.0.1:${port}`).join(', ');
  const starts = names.map((name, index) => {
    const cluster = `cluster { name: test, listen: 127.0.0.1:${routes[index]}, routes: [${urls}] }`;
    return NatsServer.start(folder, cluster, name);
  });
  return Promise.all(starts);
}

/** A TCP proxy that can stop forwarding without closing anything, as a network does that drops packets. */
export class Partition {
  readonly port: number;
  readonly #server: NetServer;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(server: NetServer, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async before(target: number): Promise<Partition> {
    const port = await freePort();
    const server = createServer();
    const partition = new Partition(server, port);
    server.on('connection', (client) => {
      const upstream = connect(target, '127.0.0.1');
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        partition.#sockets.add(from);
        if (partition.#isCut) from.pause();
        from.on('data', (data) => to.write(data));
        from.on('close', () => {
          partition.#sockets.delete(from);
          to.destroy();
        });
        from.on('error', () => to.destroy());
      }
    });
    await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
    return partition;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.pause();
  }

  restore(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

export interface FleetOptions {
  readonly folder: string;
  /** Where the agent and the workers connect. */
  readonly agentServers: readonly string[];
  readonly workerServers?: readonly string[];
  /** YAML of the fields of the forwarder and of the pipeline of the agent. */
  readonly forwarder?: string;
  readonly agentPipeline?: string;
  readonly create?: string;
  /** YAML of the fields of the collector, and more processors of the workers. */
  readonly collector?: string;
  readonly worker?: { readonly processors?: string; readonly process?: string; readonly pipeline?: string };
}

/** What came out, by the numbers of the lines. */
export interface Tally {
  readonly unique: number;
  readonly duplicates: number;
  readonly leaked: number;
}

const SECRET = 'hunter2';

/** An agent that masks a file of numbered lines and publishes it, and workers that write what they get to files. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #processes = new Map<string, CliProcess>();
  #lines = 0;
  #lives = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    mkdirSync(join(options.folder, 'out'), { recursive: true });
    writeFileSync(join(options.folder, 'app.log'), '');
    writeFileSync(join(options.folder, 'agent.yaml'), this.#agentConfig());
    writeFileSync(join(options.folder, 'worker.yaml'), this.#workerConfig());
  }

  /** Appends numbered lines, every third with a secret. */
  write(count: number): void {
    const lines = Array.from({ length: count }, () => {
      const n = this.#lines++;
      return `line ${n} ${n % 3 === 0 ? `password=${SECRET}-${n}` : 'nothing to hide'}\n`;
    });
    appendFileSync(join(this.#options.folder, 'app.log'), lines.join(''));
  }

  /** `agent`, `worker-1`, … Each life of a worker writes to a file of its own. */
  async start(name: string): Promise<void> {
    const kind = name.startsWith('agent') ? 'agent' : 'worker';
    const { folder } = this.#options;
    const args = ['run', `${kind}.yaml`, '--state-dir', join(folder, `state-${name}`), '--log-level', 'info'];
    const env = { OUT: `${name}-${this.#lives++}` };
    this.#processes.set(name, await startCli(args, { cwd: folder, env }));
  }

  async kill(name: string): Promise<void> {
    const process = this.#processes.get(name);
    process?.kill('SIGKILL');
    await process?.ended();
  }

  /** Stops a process as an operator does, by one signal. */
  async end(name: string): Promise<void> {
    const process = this.#processes.get(name);
    process?.kill('SIGTERM');
    await process?.ended();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((process) => process.killUntilEnded('SIGTERM')));
  }

  /** Standard error of a process. */
  log(name: string): string {
    return this.#processes.get(name)?.stderr ?? '';
  }

  /** Waits for a line in the log of a process. */
  async shows(name: string, pattern: RegExp): Promise<void> {
    await this.#processes.get(name)?.shows('stderr', pattern);
  }

  tally(): Tally {
    const texts = this.#outputs();
    const seen = new Map<string, number>();
    for (const [, n = ''] of texts.matchAll(/"line":"line (\d+) /g)) seen.set(n, (seen.get(n) ?? 0) + 1);
    const total = [...seen.values()].reduce((sum, count) => sum + count, 0);
    return {
      unique: seen.size,
      duplicates: total - seen.size,
      leaked: [...texts.matchAll(new RegExp(SECRET, 'g'))].length,
    };
  }

  /** Waits until every line that was written has come out. */
  async delivered(seconds = 90): Promise<Tally> {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      const tally = this.tally();
      if (tally.unique >= this.#lines) return tally;
      if (performance.now() > end) {
        const logs = [...this.#processes].map(([name, { stderr }]) => `${name}:\n${stderr.slice(-2000)}`);
        throw new Error(
          `${this.#lines - tally.unique} of ${this.#lines} lines are missing\n${logs.join('\n')}`,
        );
      }
      await delay(100);
    }
  }

  #outputs(): string {
    const out = join(this.#options.folder, 'out');
    if (!existsSync(out)) return '';
    return readdirSync(out)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => readFileSync(join(out, name), 'utf8'))
      .join('');
  }

  #agentConfig(): string {
    const { agentServers, forwarder = '', agentPipeline = '', create = 'true' } = this.#options;
    return `
collectors:
  log: { plugin: file, paths: [app.log], backfill: true }
processors:
  mask: { plugin: regex_mask, rules: { PASSWORD: '${SECRET}[-0-9]*' } }
forwarders:
  nats:
    plugin: nats
    servers: [${agentServers.map((url) => `"${url}"`).join(', ')}]
    subject: logs.app
    stream: LOGS
    create: ${create}
${indent(forwarder, 4)}
pipelines:
  main:
    collect: log
    process: mask
    forward: nats
${indent(agentPipeline, 4)}
host_config: {}
`;
  }

  #workerConfig(): string {
    const { agentServers, workerServers = agentServers, collector = '', worker = {} } = this.#options;
    return `
collectors:
  nats:
    plugin: nats
    servers: [${workerServers.map((url) => `"${url}"`).join(', ')}]
    stream: LOGS
    durable: workers
    create: true
${indent(collector, 4)}
processors:
  mask: { plugin: regex_mask, rules: { PASSWORD: '${SECRET}[-0-9]*' } }
${indent(worker.processors ?? '', 2)}
forwarders:
  out: { plugin: disk, path: out, filename: "\${OUT}.jsonl" }
  letters: { plugin: disk, path: letters, filename: "\${OUT}.jsonl" }
pipelines:
  main:
    collect: nats
    process: [mask${worker.process === undefined ? '' : `, ${worker.process}`}]
    forward: out
    delivery: { dead_letter: letters }
    max_in_flight: 4000
${indent(worker.pipeline ?? '', 4)}
host_config: {}
`;
  }
}

function indent(text: string, columns: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(columns));
}
