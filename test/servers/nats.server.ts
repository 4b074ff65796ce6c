import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { tempFolder } from '../support/temp-folder.ts';
import { Fleet, NatsServer, startCluster } from './support/nats.ts';
import { credsUser, nkeyUser } from './support/nats-accounts.ts';
import { skipWithout } from './support/start-server.ts';

const LINES = 3000;
const temp = tempFolder();

skipWithout('nats-server')('a fleet over NATS', () => {
  async function deliver(fleet: Fleet, workers = 2) {
    await fleet.start('agent');
    for (let n = 1; n <= workers; n++) await fleet.start(`worker-${n}`);
    fleet.write(LINES);
    const tally = await fleet.delivered(60);
    await fleet.stop();
    return tally;
  }

  it.each(['batch', 'event'])(
    'delivers every line once, masked, in messages of one %s',
    async (message) => {
      const server = await NatsServer.start(temp('nats'));
      const fleet = new Fleet({
        folder: temp('fleet'),
        agentServers: [server.url],
        forwarder: `message: ${message}`,
      });
      expect(await deliver(fleet)).toEqual({ unique: LINES, duplicates: 0, leaked: 0 });
    },
    90_000,
  );

  it('stores messages three times in a cluster', async () => {
    const servers = await startCluster(temp('nats'));
    const agentServers = servers.map(({ url }) => url);
    const fleet = new Fleet({ folder: temp('fleet'), agentServers, create: '{ replicas: 3 }' });
    expect(await deliver(fleet)).toEqual({ unique: LINES, duplicates: 0, leaked: 0 });
  });

  it('gives back what it was sent when a worker is stopped, so that nothing waits for `ack_wait`', async () => {
    const server = await NatsServer.start(temp('nats'));
    const collector = 'ack_wait: 600';
    const fleet = new Fleet({ folder: temp('fleet'), agentServers: [server.url], collector });
    await fleet.start('agent');
    fleet.write(100_000);
    for (let n = 1; n <= 5; n++) {
      const before = fleet.tally().unique;
      await fleet.start('worker-1');
      while (fleet.tally().unique === before) await delay(5);
      await fleet.end('worker-1');
    }
    await fleet.start('worker-1');
    expect(await fleet.delivered(40)).toEqual({ unique: 100_000, duplicates: 0, leaked: 0 });
    await fleet.stop();
  });

  it.each([
    ['a token', 'authorization { token: "s3cret-token" }', 'token: { file: secret.txt }', 's3cret-token'],
    [
      'a password',
      'authorization { user: ada, password: "s3cret-pass" }',
      'user: ada\n  password: { file: secret.txt }',
      's3cret-pass',
    ],
  ])(
    'logs in with %s, which no log shows',
    async (_, server, auth, secret) => {
      const nats = await NatsServer.start(temp('nats'), server);
      mkdirSync(temp('fleet'), { recursive: true });
      writeFileSync(temp('fleet/secret.txt'), `${secret}\n`);
      const login = `auth:\n  ${auth}`;
      const fleet = new Fleet({
        folder: temp('fleet'),
        agentServers: [nats.url],
        forwarder: login,
        collector: login,
      });
      expect(await deliver(fleet, 1)).toEqual({ unique: LINES, duplicates: 0, leaked: 0 });
      expect(fleet.log('agent') + fleet.log('worker-1')).not.toContain(secret);
    },
    90_000,
  );

  it.each([
    [
      'an NKey',
      () => {
        const { config, seed } = nkeyUser();
        return { config, secret: seed, file: seed, auth: 'nkey: { file: secret.txt }' };
      },
    ],
    [
      'credentials',
      () => {
        const { config, seed, creds } = credsUser();
        return { config, secret: seed, file: creds, auth: 'creds: { file: secret.txt }' };
      },
    ],
  ])(
    'logs in with %s, of which no log shows the seed',
    async (_, prepare) => {
      const { config, secret, file, auth } = prepare();
      const nats = await NatsServer.start(temp('nats'), config);
      mkdirSync(temp('fleet'), { recursive: true });
      writeFileSync(temp('fleet/secret.txt'), `${file}\n`);
      const login = `auth:\n  ${auth}`;
      const fleet = new Fleet({
        folder: temp('fleet'),
        agentServers: [nats.url],
        forwarder: login,
        collector: login,
      });
      expect(await deliver(fleet, 1)).toEqual({ unique: LINES, duplicates: 0, leaked: 0 });
      expect(fleet.log('agent') + fleet.log('worker-1')).not.toContain(secret.slice(0, 20));
    },
    90_000,
  );

  it('lets a worker read that may use consumers only', async () => {
    const allowed = 'publish: ["$JS.API.CONSUMER.>", "$JS.ACK.>"], subscribe: ["_INBOX.>"]';
    const users = `{ user: agent, password: a }, { user: worker, password: w, permissions: { ${allowed} } }`;
    const nats = await NatsServer.start(temp('nats'), `authorization { users: [${users}] }`);
    const fleet = new Fleet({
      folder: temp('fleet'),
      agentServers: [nats.url],
      forwarder: 'auth: { user: agent, password: a }',
      collector: 'auth: { user: worker, password: w }',
    });
    expect(await deliver(fleet, 1)).toEqual({ unique: LINES, duplicates: 0, leaked: 0 });
  });

  it('says that the server refuses a login, and goes on when the secret is right', async () => {
    const nats = await NatsServer.start(temp('nats'), 'authorization { token: "s3cret-token" }');
    mkdirSync(temp('fleet'), { recursive: true });
    writeFileSync(temp('fleet/secret.txt'), 'wrong-token\n');
    const login = 'auth: { token: { file: secret.txt } }';
    const fleet = new Fleet({
      folder: temp('fleet'),
      agentServers: [nats.url],
      forwarder: login,
      collector: login,
    });
    fleet.write(LINES);
    await fleet.start('agent');
    await fleet.start('worker-1');
    await fleet.shows('agent', /cannot connect to nats:\S+: the server refuses the login/);
    writeFileSync(temp('fleet/secret.txt'), 's3cret-token\n');
    expect(await fleet.delivered(60)).toEqual({ unique: LINES, duplicates: 0, leaked: 0 });
    await fleet.stop();
    expect(fleet.log('agent')).not.toMatch(/wrong-token|s3cret-token/);
  });

  it('says which stream is missing, and what creates it, and goes on when it is there', async () => {
    const nats = await NatsServer.start(temp('nats'));
    const fleet = new Fleet({ folder: temp('fleet'), agentServers: [nats.url] });
    fleet.write(LINES);
    await fleet.start('worker-1');
    await fleet.shows(
      'worker-1',
      /of the stream \w+: there is no stream of this name; create it, or let a forwarder `nats` with `create: true` create it/,
    );
    await fleet.start('agent');
    expect(await fleet.delivered(60)).toEqual({ unique: LINES, duplicates: 0, leaked: 0 });
    await fleet.stop();
  });
});

skipWithout('nats-server', 'openssl')('a fleet over NATS with TLS', () => {
  function certificates(): string {
    const folder = temp('tls');
    mkdirSync(folder, { recursive: true });
    const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
    openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=test',
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
    );
    for (const name of ['server', 'client']) {
      writeFileSync(join(folder, `${name}.ext`), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
      openssl(
        'req',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-subj',
        `/CN=${name}`,
        '-keyout',
        `${name}.key`,
        '-out',
        `${name}.csr`,
      );
      openssl(
        'x509',
        '-req',
        '-in',
        `${name}.csr`,
        '-CA',
        'ca.pem',
        '-CAkey',
        'ca.key',
        '-CAcreateserial',
        '-days',
        '2',
        '-extfile',
        `${name}.ext`,
        '-out',
        `${name}.pem`,
      );
    }
    return folder;
  }

  it('checks the certificate of the server, and shows its own', async () => {
    const tls = certificates();
    const config = `tls { cert_file: "${tls}/server.pem", key_file: "${tls}/server.key", ca_file: "${tls}/ca.pem", verify: true }`;
    const nats = await NatsServer.start(temp('nats'), config);
    const fields = `tls: { ca: "${tls}/ca.pem", cert: "${tls}/client.pem", key: { file: "${tls}/client.key" } }`;
    const fleet = new Fleet({
      folder: temp('fleet'),
      agentServers: [nats.url],
      forwarder: fields,
      collector: fields,
    });
    await fleet.start('agent');
    await fleet.start('worker-1');
    fleet.write(LINES);
    expect(await fleet.delivered(60)).toEqual({ unique: LINES, duplicates: 0, leaked: 0 });
    await fleet.stop();
    expect(fleet.log('agent')).not.toContain(readFileSync(join(tls, 'client.key'), 'utf8').slice(40, 80));
  });

  it('refuses a server that nobody it trusts has signed for', async () => {
    const tls = certificates();
    const config = `tls { cert_file: "${tls}/server.pem", key_file: "${tls}/server.key" }`;
    const nats = await NatsServer.start(temp('nats'), config);
    const fleet = new Fleet({ folder: temp('fleet'), agentServers: [nats.url], forwarder: 'tls: {}' });
    fleet.write(10);
    await fleet.start('agent');
    await fleet.shows('agent', /cannot connect to nats:\S+: .*certificate/i);
    await fleet.stop();
  });
});
