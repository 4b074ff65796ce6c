import { setTimeout as delay } from 'node:timers/promises';
import { afterAll } from '@jest/globals';
import { Producer, stringSerializers } from '@platformatic/kafka';
import { HostileTcp } from '../support/hostile-tcp.ts';
import { type Kafka, startKafka } from '../support/kafka.ts';
import { freePort } from '../support/start-server.ts';
import { STRAY_KEY } from './input-connector.ts';
import { testPullInput } from './pull-scenarios.ts';

interface BehindProxy {
  readonly kafka: Kafka;
  readonly proxy: HostileTcp;
}

let proxy: HostileTcp | undefined;
afterAll(() => proxy?.stop());

/** A broker that tells its clients to connect to the proxy in front of it. */
async function startBehindProxy(): Promise<BehindProxy> {
  const port = await freePort();
  const kafka = await startKafka({ advertised: `127.0.0.1:${port}` });
  proxy = await HostileTcp.before(Number(kafka.broker.split(':')[1]), { port });
  return { kafka, proxy };
}

async function produce({ proxy }: BehindProxy, topic: string, values: readonly string[]): Promise<void> {
  const producer = new Producer({
    clientId: 'test',
    bootstrapBrokers: [`127.0.0.1:${proxy.port}`],
    serializers: stringSerializers,
  });
  const messages = values.map((value) => ({ topic, value }));
  await producer.send({ messages, acks: -1 });
  await producer.close();
}

const event = (line: string) => JSON.stringify({ timestamp: '2026-01-02T03:04:05.678Z', data: { line } });

testPullInput<BehindProxy>({
  name: 'kafka',
  needs: ['kafka'],
  start: startBehindProxy,
  ready: /running/,
  faults: ['its connections are reset', 'the broker is killed and starts again'],
  async source(server, topic) {
    await server.kafka.createTopic(topic, 3);
    return {
      collector: `plugin: kafka, brokers: '127.0.0.1:${server.proxy.port}', topics: ${topic}, group: ${topic}`,
      write: (lines) => produce(server, topic, lines.map(event)),
      faults: {
        'its connections are reset': () => server.proxy.reset(),
        'the broker is killed and starts again': async () => {
          await server.kafka.kill();
          await delay(1000);
          await server.kafka.restart();
        },
      },
    };
  },
  async writeMalformed(server, topic) {
    await produce(server, topic, [
      STRAY_KEY,
      `{"data":{"line":"${STRAY_KEY}"}`,
      `["${STRAY_KEY}"]`,
      `{"timestamp":"${STRAY_KEY}","data":7}`,
      '',
      `${'['.repeat(50_000)}"${STRAY_KEY}"`,
    ]);
    return true;
  },
});
