import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { jetstreamManager, type StreamConfig } from '@nats-io/jetstream';
import { connect, type NodeConnectionOptions } from '@nats-io/transport-node';
import { folderWith, runCli, startCli } from '../support/cli.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { NatsServer, storedMessages } from './support/nats.ts';
import { credsUser } from './support/nats-accounts.ts';
import { skipWithout } from './support/start-server.ts';

/*
 * A message that is above any limit is split, and an event that is above it alone goes to the dead letter: nothing that can
 * never be stored may hold back the events after it.
 */

const temp = tempFolder();
const TIMEOUT = 120_000;

const config = (url: string, fields: string) => `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors: { parse: { plugin: parse, format: json } }
forwarders:
  out:
    plugin: nats
    servers: ${url}
    stream: LOGS
    ${fields.replaceAll('\n', '\n    ')}
  letters: { plugin: disk, path: letters, filename: letters.jsonl }
pipelines: { main: { collect: log, process: parse, forward: out, delivery: { dead_letter: letters } } }
host_config: {}
`;
const LITERAL = 'subject: logs.app';
const COMPUTED = 'subject: { cel: "data.to" }';

/** Lines of JSON with a number, a subject and so many characters of text. */
const lines = (sizes: readonly number[], to = 'logs.app') =>
  sizes.map((size, n) => `${JSON.stringify({ n, to, text: 'x'.repeat(size) })}\n`).join('');
const many = (count: number, size: number) => Array.from({ length: count }, () => size);

const numbersIn = (text: string) =>
  [...text.matchAll(/"n":(\d+),/g)].map(([, n]) => Number(n)).toSorted((a, b) => a - b);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

function lettersIn(cwd: string): string {
  const file = join(cwd, 'letters/letters.jsonl');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

async function createStream(options: NodeConnectionOptions, more: Partial<StreamConfig> = {}): Promise<void> {
  const client = await connect(options);
  const { streams } = await jetstreamManager(client);
  await streams.add({ name: 'LOGS', subjects: ['logs.>'], ...more } as StreamConfig);
  await client.close();
}

skipWithout('nats-server')('the limits of NATS', () => {
  async function deliver(login: NodeConnectionOptions, url: string, fields: string, input: string) {
    const cwd = folderWith({ 'a.yaml': config(url, fields), 'in.log': input, 'user.creds': credsOf(login) });
    const result = await runCli(['run', 'a.yaml', '--once', '--give-up-after', '40'], { cwd });
    const stored = await storedMessages(login, 'LOGS');
    return {
      result,
      stored,
      numbers: numbersIn(stored.map(({ text }) => text).join('')),
      letters: lettersIn(cwd),
    };
  }

  it.each([
    ['a literal subject', LITERAL],
    ['a computed subject', COMPUTED],
  ])(
    'split a batch that is larger than `max_payload` only with its headers: %s',
    async (_, subject) => {
      const server = await NatsServer.start(temp('nats'));
      await createStream({ servers: server.url });
      const fields = `${subject}\nbatch: { events: 10000 }`;
      const { result, numbers, letters } = await deliver(
        { servers: server.url },
        server.url,
        fields,
        lines(many(20_000, 150)),
      );
      expect([result.code, letters, result.stderr.match(/attempt \d+ failed/)]).toEqual([0, '', null]);
      expect(numbers).toEqual(upTo(20_000));
    },
    TIMEOUT,
  );

  it.each([
    ['batch', LITERAL],
    ['batch', COMPUTED],
    ['event', LITERAL],
  ])(
    'are known to the byte: of events of growing size in messages of one %s, the server takes those that fit (%s)',
    async (message, subject) => {
      const server = await NatsServer.start(temp('nats'), 'max_payload: 2048');
      await createStream({ servers: server.url });
      // One more byte each, so that one of them has exactly the size of the limit with its headers.
      const sizes = Array.from({ length: 200 }, (_, n) => 1750 + n);
      const fields = `${subject}\nmessage: ${message}\nbatch: { events: 1 }`;
      const { result, numbers, letters } = await deliver(
        { servers: server.url },
        server.url,
        fields,
        lines(sizes),
      );
      const refused = numbersIn(letters);
      expect(numbers).toEqual(upTo(numbers.length));
      expect([...numbers, ...refused]).toEqual(upTo(200));
      expect(refused.length).toBeGreaterThan(0);
      const sizeOf = (n: number) => /takes a message of (\d+) bytes/.exec(letters.split('\n')[n] ?? '')?.[1];
      expect(sizeOf(0)).toBe('2049');
      expect(result.stderr).not.toMatch(/attempt \d+ failed/);
    },
    TIMEOUT,
  );

  it.each([
    ['max_msg_size', { max_msg_size: 2000 }],
    ['max_bytes, where it refuses new messages', { max_bytes: 200_000, discard: 'new' }],
    ['max_bytes, where it removes old messages', { max_bytes: 200_000, discard: 'old' }],
    ['max_bytes in memory', { max_bytes: 200_000, discard: 'new', storage: 'memory' }],
  ])(
    'of the stream split batches, and give the dead letter only the event that is too large: %s',
    async (_, stream) => {
      const server = await NatsServer.start(temp('nats'));
      await createStream({ servers: server.url }, stream as Partial<StreamConfig>);
      const large = Math.max(...Object.values(stream).filter((value) => typeof value === 'number'));
      const sizes = [...many(50, 100), large, ...many(250, 100), large, ...many(50, 100)];
      const { result, numbers, letters } = await deliver(
        { servers: server.url },
        server.url,
        `${LITERAL}\nbatch: { events: 5000 }`,
        lines(sizes),
      );
      expect(numbersIn(letters)).toEqual([50, 301]);
      expect(numbers).toEqual(upTo(352).filter((n) => n !== 50 && n !== 301));
      expect(result.stderr).not.toMatch(/attempt \d+ failed/);
    },
    TIMEOUT,
  );

  it.each([
    ['a user', () => credsUser(3000)],
    [
      'an account',
      () => ({
        config:
          'jetstream { store_dir: "STORE" }\naccounts { A { jetstream: enabled, limits: { max_payload: 3000 }, users: [{ user: a, password: b }] } }',
        creds: '',
      }),
    ],
  ])(
    'of %s do the same, whether the server announces them or closes the connection',
    async (_, account) => {
      const { config: users, creds } = account();
      const server = await NatsServer.start(temp('nats'), users.replace('STORE', temp('store')));
      const { credsAuthenticator } = await import('@nats-io/transport-node');
      const login = creds
        ? { servers: server.url, authenticator: credsAuthenticator(new TextEncoder().encode(creds)), creds }
        : { servers: server.url, user: 'a', pass: 'b' };
      await createStream(login);
      const auth = creds ? 'creds: { file: user.creds }' : 'user: a, password: b';
      const sizes = [...many(50, 100), 3000, ...many(100, 100), 10_000, ...many(50, 100)];
      const { numbers, letters } = await deliver(
        login,
        server.url,
        `${LITERAL}\nauth: { ${auth} }`,
        lines(sizes),
      );
      expect(numbersIn(letters)).toEqual([50, 151]);
      expect(numbers).toEqual(upTo(202).filter((n) => n !== 50 && n !== 151));
    },
    TIMEOUT,
  );

  it.each([
    ['is started again', true],
    ['reads its configuration again', false],
  ])(
    'may be smaller when the server %s',
    async (_, isRestart) => {
      const server = await NatsServer.start(temp('nats'), 'max_payload: 100000');
      const stored = async () =>
        (await storedMessages({ servers: server.url }, 'LOGS')).map(({ text }) => text).join('');
      await createStream({ servers: server.url });
      const input = lines([10, ...many(500, 100), 3000, ...many(500, 100)]);
      const first = input.indexOf('\n') + 1;
      const cwd = folderWith({
        'a.yaml': config(server.url, `${LITERAL}\nbatch: { events: 500 }`),
        'in.log': input.slice(0, first),
      });
      const agent = await startCli(['run', 'a.yaml', '--log-level', 'info'], { cwd });
      while ((await stored()) === '') await delay(20);
      server.configure('max_payload: 2000');
      if (isRestart) {
        await server.kill();
        appendFileSync(join(cwd, 'in.log'), input.slice(first));
        await agent.shows('stderr', /attempt 1 failed/);
        await server.start();
      } else {
        await server.reload();
        appendFileSync(join(cwd, 'in.log'), input.slice(first));
      }
      while (!lettersIn(cwd).endsWith('\n') || !(await stored()).includes('"n":1001,')) await delay(20);
      agent.kill('SIGTERM');
      await agent.ended();
      expect(numbersIn(lettersIn(cwd))).toEqual([501]);
      expect(numbersIn(await stored())).toEqual(upTo(1002).filter((n) => n !== 501));
    },
    TIMEOUT,
  );

  it(
    'include the length of a subject: an event with a longer one goes to the dead letter',
    async () => {
      const server = await NatsServer.start(temp('nats'));
      await createStream({ servers: server.url });
      const input =
        lines([10]) +
        lines([0, 10], `logs.${'y'.repeat(5000)}`).split('\n')[1] +
        '\n' +
        lines([0, 0, 10]).split('\n')[2] +
        '\n';
      const { numbers, letters } = await deliver({ servers: server.url }, server.url, COMPUTED, input);
      expect(numbersIn(letters)).toEqual([1]);
      expect(numbers).toEqual([0, 2]);
      expect(letters).toContain('max_control_line');
    },
    TIMEOUT,
  );
});

function credsOf(login: object): string {
  return 'creds' in login ? `${login.creds}\n` : '';
}
