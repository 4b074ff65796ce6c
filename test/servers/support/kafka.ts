import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Restartable } from './restartable.ts';
import { classPath, freePort, programPath, serverFolder, startServer } from './start-server.ts';

/** A committed message, as Kafka's own consumer reads it. */
export interface KafkaRecord {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly key: string | null;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A Kafka broker without topics. A topic that is written to is created with three partitions. */
export interface Kafka extends Restartable {
  /** As in `127.0.0.1:1234`. */
  readonly broker: string;
  createTopic(topic: string, partitions: number): Promise<void>;
  /** The messages of a topic, with `read_committed`, up to its end at the moment of the call. */
  records(topic: string): Promise<KafkaRecord[]>;
}

export interface KafkaOptions {
  /** Clients connect here, as to a proxy. Default: to the broker itself. */
  readonly advertised?: string;
  readonly port?: number;
  /** More lines of `server.properties`. */
  readonly config?: string;
}

const run = promisify(execFile);

/** Starts a broker of Kafka, which takes about 10 s: `skipWithout('kafka')`. */
export async function startKafka(options: KafkaOptions = {}): Promise<Kafka> {
  const folder = serverFolder('kafka');
  const broker = `127.0.0.1:${options.port ?? (await freePort())}`;
  const controller = `127.0.0.1:${await freePort()}`;
  // Tools connect by a listener of their own, so that a proxy in front of the other one does not hold them back.
  const tools = `127.0.0.1:${await freePort()}`;
  const settings = join(folder, 'server.properties');
  writeFileSync(
    settings,
    `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@${controller}
listeners=CLIENTS://${broker},TOOLS://${tools},CONTROLLER://${controller}
advertised.listeners=CLIENTS://${options.advertised ?? broker},TOOLS://${tools}
listener.security.protocol.map=CLIENTS:PLAINTEXT,TOOLS:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=TOOLS
controller.listener.names=CONTROLLER
log.dirs=${join(folder, 'data')}
num.partitions=3
offsets.topic.replication.factor=1
offsets.topic.num.partitions=3
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=3
group.initial.rebalance.delay.ms=0
${options.config ?? ''}
`,
  );
  const jars = classPath('kafka') ?? '';
  const java = async (...args: readonly string[]) => {
    const { stdout } = await run(programPath('java') ?? 'java', ['-cp', jars, ...args], {
      maxBuffer: 1 << 30,
    });
    return stdout;
  };
  await java('kafka.tools.StorageTool', 'format', '-t', 'AAAAAAAAQACAAAAAAAAAAA', '-c', settings);
  const server = await Restartable.start(() =>
    startServer('java', ['-Xmx512m', '-cp', jars, 'kafka.Kafka', settings], /Kafka Server started/),
  );
  const tool = join(import.meta.dirname, 'kafka', 'Topic.java');
  const createTopic = async (topic: string, partitions: number) => {
    await java(tool, tools, 'create', topic, `${partitions}`);
  };
  const records = async (topic: string) => {
    const lines = await java(tool, tools, 'read', topic);
    return lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as KafkaRecord);
  };
  return Object.assign(server, { broker, createTopic, records });
}
