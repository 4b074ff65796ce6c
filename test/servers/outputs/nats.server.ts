import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { listens, Restartable } from '../support/restartable.ts';
import { freePort, serverFolder, startServer } from '../support/start-server.ts';
import { testOverTcp } from './tcp-scenarios.ts';

async function startNats() {
  const port = await freePort();
  const args = [
    '--addr',
    '127.0.0.1',
    '--port',
    `${port}`,
    '--jetstream',
    '--store_dir',
    serverFolder('nats'),
  ];
  const server = await Restartable.start(() => startServer('nats-server', args, () => listens(port)));
  return Object.assign(server, { port });
}

/** The events of the messages of a stream. */
async function storedEvents(port: number, stream: string): Promise<string[]> {
  const client = await connect({ servers: `127.0.0.1:${port}` });
  const { streams } = await jetstreamManager(client);
  const events: string[] = [];
  const { state } = await streams.info(stream);
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await streams.getMessage(stream, { seq });
    events.push(...(message?.string().split('\n') ?? []).filter((line) => line !== ''));
  }
  await client.close();
  return events;
}

testOverTcp<Awaited<ReturnType<typeof startNats>>>({
  name: 'nats',
  needs: ['nats-server'],
  start: startNats,
  port: ({ port }) => port,
  target: ({ port }, name) => ({
    forwarder: (at) =>
      `plugin: nats, servers: 'nats://${at}', subject: ${name}, stream: ${name}, create: true`,
    documents: () => storedEvents(port, name),
  }),
  // The ids of messages, for as long as the duplicate window of the stream.
  recognises: true,
  exactlyOnce: true,
  endsBy: 'SIGKILL',
  refusedLength: 1_100_000,
  timeout: '',
  acknowledges: true,
  // It asks for TLS in a message.
  mayBeSecure: false,
});
