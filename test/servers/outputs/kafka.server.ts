import { type Kafka, startKafka } from '../support/kafka.ts';
import { freePort } from '../support/start-server.ts';
import { testOverTcp } from './tcp-scenarios.ts';

/** A broker that tells its clients to connect to the proxy in front of it. */
async function startBehindProxy(): Promise<Kafka & { readonly proxyPort: number }> {
  const proxyPort = await freePort();
  return Object.assign(await startKafka({ advertised: `127.0.0.1:${proxyPort}` }), { proxyPort });
}

testOverTcp<Kafka & { readonly proxyPort: number }>({
  name: 'kafka',
  needs: ['kafka'],
  start: startBehindProxy,
  port: ({ broker }) => Number(broker.split(':')[1]),
  proxyPort: ({ proxyPort }) => proxyPort,
  async target(server, topic) {
    await server.createTopic(topic, 3);
    return {
      forwarder: (at) => `plugin: kafka, brokers: '${at}', topic: ${topic}`,
      documents: async () => (await server.records(topic)).map(({ value }) => value),
    };
  },
  // Each batch is written with the same producer id and number in every attempt.
  recognises: true,
  exactlyOnce: true,
  endsBy: 'SIGKILL',
  timeout: 'timeout: 2,',
  refusedLength: 1_100_000,
  acknowledges: true,
  mayBeSecure: true,
});
