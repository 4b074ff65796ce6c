import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { byForm } from '../faults/support/form.ts';
import { noSmallDisk, smallDisk } from '../support/small-disk.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { Fleet, NatsServer, Partition, startCluster } from './support/nats.ts';
import { skipWithout } from './support/start-server.ts';

/*
 * Faults of a fleet: an agent and workers over NATS, as processes. Every line has a number. None may be lost and no secret
 * may leak. Duplicates are allowed only where the protocol cannot know: docs/reliability.md says which.
 */

const LINES = byForm({ short: 6000, long: 100_000 });
const PARTS = 20;
/** Milliseconds between two parts of the lines, in which the faults happen. */
const PAUSE = byForm({ short: 150, long: 600 });
const TIMEOUT = byForm({ short: 150_000, long: 600_000 });
/** So that the messages of a process that died come again soon. */
const COLLECTOR = 'ack_wait: 2';

const temp = tempFolder();
const partitions: Partition[] = [];
afterEach(() => {
  for (const partition of partitions.splice(0)) partition.close();
});

skipWithout('nats-server')('a fleet over NATS', () => {
  /** Writes all lines in parts, with a fault before some of them, and waits until every line has come out. */
  async function endure(fleet: Fleet, faults: Readonly<Record<number, () => unknown>> = {}) {
    fleet.write(1);
    await fleet.delivered();
    for (let part = 0; part < PARTS; part++) {
      await faults[part]?.();
      fleet.write(LINES / PARTS);
      await delay(PAUSE);
    }
    const tally = await fleet.delivered(TIMEOUT / 1000 - 30);
    await fleet.stop();
    return tally;
  }

  async function startAll(fleet: Fleet, workers = 3): Promise<void> {
    await fleet.start('agent');
    await Promise.all(Array.from({ length: workers }, (_, n) => fleet.start(`worker-${n + 1}`)));
  }

  const restarts = (fleet: Fleet, name: string) => async () => {
    await fleet.kill(name);
    await fleet.start(name);
  };

  it(
    'loses nothing when one of three workers is killed ten times',
    async () => {
      const server = await NatsServer.start(temp('nats'));
      const fleet = new Fleet({ folder: temp('fleet'), agentServers: [server.url], collector: COLLECTOR });
      await startAll(fleet);
      const kills = Array.from(
        { length: 10 },
        (_, n) => [2 * n, restarts(fleet, `worker-${1 + (n % 3)}`)] as const,
      );
      const tally = await endure(fleet, Object.fromEntries(kills));
      expect(tally).toMatchObject({ unique: LINES + 1, leaked: 0 });
      // What a killed worker had written and not acknowledged: at most its window each time.
      expect(tally.duplicates).toBeLessThanOrEqual(10 * 4000);
    },
    TIMEOUT,
  );

  it(
    'loses nothing when the agent is killed',
    async () => {
      const server = await NatsServer.start(temp('nats'));
      const fleet = new Fleet({ folder: temp('fleet'), agentServers: [server.url], collector: COLLECTOR });
      await startAll(fleet, 1);
      const kills = [3, 6, 9, 12, 15].map((part) => [part, restarts(fleet, 'agent')] as const);
      const tally = await endure(fleet, Object.fromEntries(kills));
      expect(tally).toMatchObject({ unique: LINES + 1, leaked: 0 });
      // What was in flight at each kill: max_in_flight.
      expect(tally.duplicates).toBeLessThanOrEqual(5 * 1000);
    },
    TIMEOUT,
  );

  it(
    'stores each line once with exactly_once, however often the agent is killed',
    async () => {
      const server = await NatsServer.start(temp('nats'));
      const fleet = new Fleet({
        folder: temp('fleet'),
        agentServers: [server.url],
        agentPipeline: 'exactly_once: true',
        collector: COLLECTOR,
      });
      await startAll(fleet, 1);
      const parts = Array.from({ length: 16 }, (_, n) => n + 2);
      const kills = parts.map((part) => [part, restarts(fleet, 'agent')] as const);
      const tally = await endure(fleet, Object.fromEntries(kills));
      expect(tally).toEqual({ unique: LINES + 1, duplicates: 0, leaked: 0 });
    },
    TIMEOUT,
  );

  it(
    'loses nothing when the server is killed and starts again',
    async () => {
      const server = await NatsServer.start(temp('nats'));
      const fleet = new Fleet({ folder: temp('fleet'), agentServers: [server.url], collector: COLLECTOR });
      await startAll(fleet, 2);
      const tally = await endure(fleet, { 5: () => server.kill(), 9: () => server.start() });
      expect(tally).toMatchObject({ unique: LINES + 1, leaked: 0 });
      expect(tally.duplicates).toBeLessThanOrEqual(2 * 4000);
    },
    TIMEOUT,
  );

  it(
    'writes nothing twice with one worker, however often the server is killed',
    async () => {
      const server = await NatsServer.start(temp('nats'));
      const fleet = new Fleet({ folder: temp('fleet'), agentServers: [server.url], collector: COLLECTOR });
      await startAll(fleet, 1);
      const killed = async () => {
        await server.kill();
        await server.start();
      };
      const kills = byForm({ short: 6, long: PARTS - 2 });
      const faults = Array.from({ length: kills }, (_, n) => [n + 2, killed] as const);
      const tally = await endure(fleet, Object.fromEntries(faults));
      expect(tally).toEqual({ unique: LINES + 1, duplicates: 0, leaked: 0 });
    },
    TIMEOUT,
  );

  it(
    'writes nothing twice when a crash of the server loses the state of the consumer',
    async () => {
      const server = await NatsServer.start(temp('nats'));
      const fleet = new Fleet({ folder: temp('fleet'), agentServers: [server.url], collector: COLLECTOR });
      await startAll(fleet, 1);
      fleet.write(1000);
      await fleet.delivered();
      const state = temp('nats/alone/jetstream/$G/streams/LOGS/obs');
      cpSync(state, temp('before'), { recursive: true });
      const lose = async () => {
        await server.kill();
        rmSync(state, { recursive: true });
        cpSync(temp('before'), state, { recursive: true });
        await server.start();
      };
      const tally = await endure(fleet, { 5: lose, 15: lose });
      expect(tally).toEqual({ unique: LINES + 1001, duplicates: 0, leaked: 0 });
    },
    TIMEOUT,
  );

  it(
    'writes nothing twice when the consumer is deleted, with everything that it had read still in the stream',
    async () => {
      const server = await NatsServer.start(temp('nats'));
      const fleet = new Fleet({ folder: temp('fleet'), agentServers: [server.url], collector: COLLECTOR });
      await startAll(fleet, 1);
      const remove = () =>
        manage(server, async ({ consumers }) => {
          while ((await consumers.list('LOGS').next()).length === 0) await delay(20);
          await consumers.delete('LOGS', 'workers');
        });
      const tally = await endure(fleet, { 5: remove, 9: remove, 15: remove });
      expect(tally).toEqual({ unique: LINES + 1, duplicates: 0, leaked: 0 });
      expect(fleet.log('worker-1')).toMatch(
        /consumer workers of the stream LOGS was deleted; it is created again/,
      );
    },
    TIMEOUT,
  );

  it.each([
    ['is deleted', (server: NatsServer) => manage(server, ({ streams }) => streams.delete('LOGS'))],
    [
      'is lost with its store',
      async (server: NatsServer) => {
        await server.kill();
        rmSync(temp('nats/alone'), { recursive: true });
        await server.start();
      },
    ],
  ])(
    'creates a stream again that %s, and goes on',
    async (_, lose) => {
      const server = await NatsServer.start(temp('nats'));
      const fleet = new Fleet({
        folder: temp('fleet'),
        agentServers: [server.url],
        collector: COLLECTOR,
      });
      await startAll(fleet, 1);
      for (let n = 0; n < 3; n++) {
        fleet.write(500);
        // Nothing is left in the stream that could be lost with it.
        await fleet.delivered();
        await lose(server);
      }
      fleet.write(500);
      const tally = await fleet.delivered();
      await fleet.stop();
      expect(tally).toEqual({ unique: 2000, duplicates: 0, leaked: 0 });
    },
    TIMEOUT,
  );

  it(
    'loses nothing when the leader of a cluster is killed',
    async () => {
      const servers = await startCluster(temp('nats'));
      const agentServers = servers.map(({ url }) => url);
      const create = '{ replicas: 3 }';
      const fleet = new Fleet({ folder: temp('fleet'), agentServers, create, collector: COLLECTOR });
      await startAll(fleet, 2);
      let killed: NatsServer | undefined;
      const killLeader = async () => {
        killed = servers[(await leaderOf(servers)) - 1];
        await killed?.kill();
      };
      const tally = await endure(fleet, { 5: killLeader, 14: () => killed?.start() });
      expect(killed).toBeDefined();
      expect(tally).toMatchObject({ unique: LINES + 1, leaked: 0 });
      expect(tally.duplicates).toBeLessThanOrEqual(2 * 4000);
    },
    TIMEOUT,
  );

  it(
    'loses nothing when a network drops everything for longer than ack_wait',
    async () => {
      const server = await NatsServer.start(temp('nats'));
      const [agent, worker] = [await Partition.before(server.port), await Partition.before(server.port)];
      partitions.push(agent, worker);
      const fleet = new Fleet({
        folder: temp('fleet'),
        agentServers: [agent.url],
        workerServers: [worker.url],
        collector: COLLECTOR,
      });
      await startAll(fleet, 1);
      const tally = await endure(fleet, {
        4: () => agent.cut(),
        7: () => worker.cut(),
        10: () => delay(6000),
        11: () => agent.restore(),
        12: () => worker.restore(),
      });
      expect(tally).toMatchObject({ unique: LINES + 1, leaked: 0 });
      // The worker knows messages again that it has acknowledged, and the stream those of the agent.
      expect(tally.duplicates).toBe(0);
    },
    TIMEOUT,
  );

  it(
    'waits while the storage of the server is full',
    async () => {
      const folder = temp('nats');
      const storage = (bytes: number) =>
        `jetstream { store_dir: "${folder}/alone", max_file_store: ${bytes} }`;
      const server = await NatsServer.start(folder, storage(300_000));
      // A full stream refuses messages; the workers remove what they have acknowledged.
      const fleet = new Fleet({
        folder: temp('fleet'),
        agentServers: [server.url],
        create: '{ retention: workqueue, max_bytes: 200000 }',
        collector: COLLECTOR,
      });
      await fleet.start('agent');
      fleet.write(LINES);
      await fleet.shows('agent', /the message was not stored: (?:maximum bytes exceeded|insufficient)/);
      await fleet.start('worker-1');
      const tally = await fleet.delivered(TIMEOUT / 1000 - 30);
      await fleet.stop();
      expect(tally).toMatchObject({ unique: LINES, duplicates: 0, leaked: 0 });
    },
    TIMEOUT,
  );

  (noSmallDisk === undefined ? it : it.skip)(
    'loses nothing when the disk of the server is full',
    async () => {
      const disk = smallDisk(LINES);
      const storage = `jetstream { store_dir: "${disk.path}/store", max_file_store: 1000000000 }`;
      const server = await NatsServer.start(temp('nats'), storage);
      const fleet = new Fleet({ folder: temp('fleet'), agentServers: [server.url], collector: COLLECTOR });
      await fleet.start('agent');
      fleet.write(100);
      await fleet.start('worker-1');
      await fleet.delivered();
      disk.leave(LINES * 20);
      fleet.write(LINES);
      await fleet.shows('agent', /the message was not stored: /);
      // A server that has no room stops JetStream until it is started again.
      disk.leave(LINES * 500);
      await server.kill();
      await server.start();
      const tally = await fleet.delivered(TIMEOUT / 1000 - 30);
      await fleet.stop();
      expect(tally).toMatchObject({ unique: LINES + 100, leaked: 0 });
      expect(tally.duplicates).toBeLessThanOrEqual(2 * 4000);
    },
    TIMEOUT,
  );

  it(
    'gives a poison message to the dead letter, and goes on with all others',
    async () => {
      const server = await NatsServer.start(temp('nats'));
      const fleet = new Fleet({ folder: temp('fleet'), agentServers: [server.url], collector: COLLECTOR });
      await startAll(fleet, 2);
      const poison = async () => {
        const client = await connect({ servers: server.url });
        for (const text of ['{"data":', 'hunter2', '[]', '{"timestamp":"now","data":{}}'])
          client.publish('logs.app', text);
        await client.drain();
      };
      const tally = await endure(fleet, { 5: poison });
      expect(tally).toEqual({ unique: LINES + 1, duplicates: 0, leaked: 0 });
      const letters = readdirSync(temp('fleet/letters')).map((name) =>
        readFileSync(temp(`fleet/letters/${name}`), 'utf8'),
      );
      expect(letters.join('').trim().split('\n')).toHaveLength(4);
      expect(letters.join('')).not.toContain('hunter2');
    },
    TIMEOUT,
  );

  it(
    'does not repeat the work of a worker that takes longer than ack_wait',
    async () => {
      const server = await NatsServer.start(temp('nats'));
      const slow = { processors: 'slow: { plugin: test, delay: 3 }', process: 'slow' };
      const fleet = new Fleet({
        folder: temp('fleet'),
        agentServers: [server.url],
        collector: COLLECTOR,
        worker: slow,
      });
      await startAll(fleet, 2);
      fleet.write(2000);
      const tally = await fleet.delivered(60);
      // Long enough for a message that was acknowledged too late to come again.
      await delay(2500);
      expect(fleet.tally()).toEqual(tally);
      await fleet.stop();
      expect(tally).toEqual({ unique: 2000, duplicates: 0, leaked: 0 });
    },
    TIMEOUT,
  );
});

async function manage(server: NatsServer, act: (manager: JetStreamManager) => unknown): Promise<void> {
  const client = await connect({ servers: server.url });
  await act(await jetstreamManager(client));
  await client.close();
}

/** The number of the server that leads the stream. */
async function leaderOf(servers: readonly NatsServer[]): Promise<number> {
  const client = await connect({ servers: servers.map(({ url }) => url) });
  const manager = await jetstreamManager(client);
  const { cluster } = await manager.streams.info('LOGS');
  await client.close();
  return Number(cluster?.leader?.slice(1));
}
