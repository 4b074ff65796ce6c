import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, type Observable, Subscription } from 'rxjs';
import { InFlightWindow } from '../../../operators/in-flight-window.ts';
import syslog from '../../../plugins/collect/syslog.ts';
import { listenForDatagrams } from '../../../plugins/syslog/datagrams.ts';
import { RELP_OFFERS, relpFrame } from '../../../plugins/syslog/relp-frames.ts';
import { type PipelineRunContext, silentLogger } from '../../../src/sdk/context.ts';
import type { EventBatch } from '../../../src/sdk/event-batch.ts';
import { silentStats } from '../../../src/sdk/metrics.ts';
import { CertificateAuthority } from '../../servers/support/certificates.ts';
import { testContext } from '../../support/context.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const temp = tempFolder();
let cleanUp = new Subscription();

afterEach(() => {
  cleanUp.unsubscribe();
  cleanUp = new Subscription();
  jest.restoreAllMocks();
});

const parseConfig = (settings: object) =>
  syslog.get_config_schema().safeParse({ plugin: 'syslog', ...settings });

/** Runs the collector on a port that the system chooses. `acknowledges` all that comes, unless a test does it itself. */
async function listen(
  settings: { listen: string; [key: string]: unknown },
  { room = 1000, acknowledges = true, overrides = {} as Partial<PipelineRunContext> } = {},
) {
  const parsed = parseConfig(settings);
  if (!parsed.success) throw new Error(JSON.stringify(parsed.error));
  const window = new InFlightWindow(room);
  const logs: string[] = [];
  let port = 0;
  const logger = {
    ...silentLogger,
    info: (_: string, fields?: Record<string, unknown>) => {
      port = Number(fields?.port);
    },
    warn: (message: string) => void logs.push(message),
  };
  const ended = new AbortController();
  const stopping = new AbortController();
  const ctx = testContext(parsed.data as { plugin: string }, {
    ...{ demand: window, logger, ended: ended.signal, signal: stopping.signal },
    ...overrides,
  });
  const batches: EventBatch[] = [];
  const result = { error: undefined as unknown, isComplete: false };
  const acknowledge = (batch: EventBatch, outcome: 'forwarded' | 'failed' | 'refused' = 'forwarded') => {
    batch.acknowledge?.(outcome);
    window.release(batch.size);
  };
  const subscription = (syslog.collect({ ctx: ctx as never }) as Observable<EventBatch>).subscribe({
    next: (batch) => {
      window.take(batch.size);
      batches.push(batch);
      if (acknowledges) acknowledge(batch);
    },
    error: (error) => {
      result.error = error;
    },
    complete: () => {
      result.isComplete = true;
    },
  });
  cleanUp.add(() => {
    subscription.unsubscribe();
    ended.abort();
  });
  await eventually(() => expect(port > 0 || result.error !== undefined).toBe(true));
  return Object.assign(result, {
    ...{ port, batches, logs, acknowledge, ended },
    stop: () => subscription.unsubscribe(),
    abort: () => stopping.abort(),
    events: () => batches.filter(({ refusal }) => refusal === undefined).flatMap(({ events }) => events),
    messages: () => batches.flatMap(({ events }) => events.map(({ data }) => data.message)),
  });
}

/** A client, with what it has received. */
async function client(port: number): Promise<Socket & { received(): string; isClosed(): boolean }> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  let isClosed = false;
  socket
    .on('data', (chunk) => {
      received += chunk;
    })
    .on('error', () => {})
    .on('close', () => {
      isClosed = true;
    });
  cleanUp.add(() => socket.destroy());
  await once(socket, 'connect');
  return Object.assign(socket, { received: () => received, isClosed: () => isClosed });
}

const OPEN = relpFrame(1, 'open', RELP_OFFERS);

/** Returns a function that sets the clock of limits forward, by seconds. */
function stopClock(): (seconds: number) => void {
  let time = performance.now();
  jest.spyOn(performance, 'now').mockImplementation(() => time);
  return (seconds) => {
    time += seconds * 1000;
  };
}

/** A listener accepts connections in their order, so those before it are open then. */
async function expectRefused(port: number): Promise<void> {
  const refused = await client(port);
  await eventually(() => expect(refused.isClosed()).toBe(true));
}

describe('connections of syslog', () => {
  it('that send nothing keep nobody out', async () => {
    const pass = stopClock();
    const { port, messages, logs } = await listen({ listen: 'tcp://127.0.0.1:0', max_connections: 3 });
    const sender = await client(port);
    sender.write('<13>one\n');
    await eventually(() => expect(messages()).toEqual(['one']));
    const silent = [await client(port), await client(port)];
    await expectRefused(port);
    pass(1);
    (await client(port)).write('<13>two\n');
    await eventually(() => expect(messages()).toEqual(['one', 'two']));
    await eventually(() => expect(silent.map((socket) => socket.isClosed())).toEqual([true, false]));
    expect(sender.isClosed()).toBe(false);
    expect(logs.at(-1)).toMatch(/nothing came over it, and a new connection needed its place/);
  });

  it('that are quiet for hours are not closed, also if they have sent nothing yet', async () => {
    const pass = stopClock();
    const { port, messages, logs } = await listen({ listen: 'tcp://127.0.0.1:0' });
    const [silent, quiet] = [await client(port), await client(port)];
    quiet.write('<13>one\n');
    await eventually(() => expect(messages()).toEqual(['one']));
    pass(5 * 3600);
    quiet.write('<13>two\n');
    await eventually(() => expect(messages()).toEqual(['one', 'two']));
    silent.write('<13>three\n');
    await eventually(() => expect(messages()).toEqual(['one', 'two', 'three']));
    expect(logs).toEqual([]);
  });

  it('that were quiet longest make room, with nothing to acknowledge', async () => {
    const pass = stopClock();
    const { port, batches, messages, acknowledge, logs } = await listen(
      { listen: 'relp://127.0.0.1:0', max_connections: 3 },
      { acknowledges: false },
    );
    const senders = [await client(port), await client(port), await client(port)];
    for (const [n, sender] of senders.entries()) {
      sender.write(`${OPEN}2 syslog 6 <13>m${n}\n`);
      await eventually(() => expect(messages()).toHaveLength(n + 1));
      pass(1);
    }
    // The first one waits for its acknowledgement.
    for (const batch of batches.slice(1)) acknowledge(batch);
    pass(60);
    const next = await client(port);
    next.write(OPEN);
    await eventually(() => expect(next.received()).toMatch(/^1 rsp/));
    await eventually(() => expect(senders.filter((sender) => sender.isClosed())).toHaveLength(1));
    expect(senders[0]?.isClosed()).toBe(false);
    expect(logs).toEqual([expect.stringMatching(/it was quiet longest/)]);
    acknowledge(batches[0] as EventBatch);
    await eventually(() => expect(senders[0]?.received()).toMatch(/2 rsp 6 200 OK\n$/));
  });

  it('make no room while their messages wait for room in the pipeline', async () => {
    const pass = stopClock();
    let bytes = 0;
    const count = (more: number) => {
      bytes += more;
    };
    const { port, batches, messages, acknowledge } = await listen(
      { listen: 'tcp://127.0.0.1:0', max_connections: 2 },
      { acknowledges: false, room: 1, overrides: { stats: { ...silentStats, bytes: count } } },
    );
    const senders = [await client(port), await client(port)];
    senders[0]?.write('<13>a1\n<13>a2\n<13>a3\n');
    await eventually(() => expect(messages()).toEqual(['a1']));
    senders[1]?.write('<13>b1\n');
    await eventually(() => expect(bytes).toBe(28));
    // All that came of the first sender is acknowledged, but it has one more.
    for (const n of [0, 1]) acknowledge(batches[n] as EventBatch);
    expect(messages()).toEqual(['a1', 'a2', 'b1']);
    pass(3600);
    await expectRefused(port);
    expect(senders.map((sender) => sender.isClosed())).toEqual([false, false]);
  });

  it('whose TLS handshake never ends keep nobody out', async () => {
    new CertificateAuthority(temp('.'), 'ca').issue('server');
    const pass = stopClock();
    const tls = { cert: { file: temp('server.pem') }, key: { file: temp('server.key') } };
    const { port, messages, logs } = await listen({ listen: 'tls://127.0.0.1:0', max_connections: 3, tls });
    const silent = [await client(port), await client(port), await client(port)];
    // The start of a handshake.
    silent[2]?.write(Buffer.from([0x16, 0x03, 0x01]));
    await expectRefused(port);
    pass(1);
    const sender = connectTls({ port, host: '127.0.0.1', ca: readFileSync(temp('ca.pem')) });
    cleanUp.add(() => sender.destroy());
    await once(sender, 'secureConnect');
    sender.write('<13>one\n');
    await eventually(() => expect(messages()).toEqual(['one']));
    await eventually(() => expect(silent.map((socket) => socket.isClosed())).toEqual([true, false, false]));
    expect(logs).toHaveLength(2);
    expect(logs.join()).not.toContain('handshake');
  });
});

it('syslog closes connections whose TLS handshake is not over when it is stopped', async () => {
  new CertificateAuthority(temp('.'), 'ca').issue('server');
  const tls = { cert: { file: temp('server.pem') }, key: { file: temp('server.key') } };
  const listener = await listen({ listen: 'tls://127.0.0.1:0', max_connections: 1, tls });
  const silent = await client(listener.port);
  await expectRefused(listener.port);
  listener.stop();
  await eventually(() => expect(silent.isClosed()).toBe(true));
});

describe('syslog over TCP', () => {
  it('becomes events, whose time is that of the message', async () => {
    const { port, events } = await listen({ listen: 'tcp://127.0.0.1:0' });
    const sender = await client(port);
    sender.write('<165>1 2026-01-02T03:04:05.678Z web1 nginx 42 ID [a b="c"] up\n');
    await eventually(() => expect(events()).toHaveLength(1));
    expect(events()).toEqual([
      {
        timestamp: '2026-01-02T03:04:05.678Z',
        data: {
          ...{ facility: 'local4', severity: 'notice', hostname: 'web1', appname: 'nginx', procid: '42' },
          ...{ msgid: 'ID', structured_data: { a: { b: 'c' } }, message: 'up', source: '127.0.0.1' },
        },
      },
    ]);
  });

  it('takes what has come when it is stopped, as far as there is room', async () => {
    const room = 100;
    const listener = await listen({ listen: 'tcp://127.0.0.1:0' }, { room, acknowledges: false });
    const sender = await client(listener.port);
    const lines = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => `<13>n${from + index}\n`).join('');
    sender.write(lines(0, 200));
    await eventually(() => expect(listener.messages().length).toBeGreaterThan(0));
    listener.abort();
    expect(listener.messages()).toEqual(Array.from({ length: room }, (_, index) => `n${index}`));
    expect(listener.isComplete).toBe(true);
    await eventually(() => expect(sender.isClosed()).toBe(true));
  });

  it('includes the last line, when the sender closes the connection without a newline', async () => {
    const { port, messages } = await listen({ listen: 'tcp://127.0.0.1:0' });
    const sender = await client(port);
    sender.end('<13>one\n<13>two');
    await eventually(() => expect(messages()).toEqual(['one', 'two']));
    await eventually(() => expect(sender.isClosed()).toBe(true));
  });

  it('stops reading while there is no room, and loses nothing', async () => {
    const total = 20_000;
    const { port, batches, messages, acknowledge } = await listen(
      { listen: 'tcp://127.0.0.1:0' },
      { room: 100, acknowledges: false },
    );
    const padding = 'x'.repeat(1000);
    const sender = await client(port);
    for (let index = 0; index < total; index++) sender.write(`<13>${index} ${padding}\n`);
    sender.end();
    let acknowledged = 0;
    await eventually(() => expect(messages().length).toBeGreaterThan(0));
    expect(messages().length).toBeLessThanOrEqual(100);
    // Nothing more comes before anything is acknowledged, so most of it stays with the sender.
    expect(sender.writableLength).toBeGreaterThan(1_000_000);
    await eventually(() => {
      for (; acknowledged < batches.length; acknowledged++) acknowledge(batches[acknowledged] as EventBatch);
      expect(messages()).toHaveLength(total);
    });
    expect(messages().map((message) => Number.parseInt(String(message), 10))).toEqual(
      Array.from({ length: total }, (_, index) => index),
    );
  });

  it('closes a connection with malformed framing, no other, and does not quote it', async () => {
    const { port, messages, logs } = await listen({ listen: 'tcp://127.0.0.1:0' });
    const [good, bad] = [await client(port), await client(port)];
    bad.write('9 <13>first hunter2 hunter2\n');
    await eventually(() => expect(bad.isClosed()).toBe(true));
    good.write('<13>second\n');
    await eventually(() => expect(messages()).toEqual(['first', 'second']));
    expect(logs).toEqual([expect.stringMatching(/closed a connection of 127\.0\.0\.1: expected the length/)]);
    expect(logs.join()).not.toContain('hunter2');
  });

  it('refuses a message that is too long, and goes on', async () => {
    const { port, batches, events } = await listen({ listen: 'tcp://127.0.0.1:0', max_message_bytes: 1024 });
    const sender = await client(port);
    sender.write(`<13>${'hunter2'.repeat(1000)}\n<13>short\n`);
    await eventually(() => expect(events()).toHaveLength(1));
    const [refused] = batches.filter(({ refusal }) => refusal !== undefined);
    expect(String(refused?.refusal)).toMatch(/longer than `max_message_bytes` \(1024\)/);
    expect(refused?.events[0]?.data).toEqual({ source: '127.0.0.1' });
  });

  it('closes further connections than max_connections, and accepts others once there is one less', async () => {
    stopClock();
    const { port, logs, messages } = await listen({ listen: 'tcp://127.0.0.1:0', max_connections: 2 });
    const first = await client(port);
    await client(port);
    const third = await client(port);
    await eventually(() => expect(third.isClosed()).toBe(true));
    expect(logs).toEqual([expect.stringMatching(/max_connections/)]);
    first.end('<13>one\n');
    await eventually(() => expect(first.isClosed()).toBe(true));
    (await client(port)).write('<13>two\n');
    await eventually(() => expect(messages()).toEqual(['one', 'two']));
  });

  it('closes a connection whose message does not become complete, but not one that is idle', async () => {
    const { port, messages, logs } = await listen({ listen: 'tcp://127.0.0.1:0' });
    const [slow, idle] = [await client(port), await client(port)];
    idle.write('<13>one\n');
    slow.write('<13>tw');
    await eventually(() => expect(messages()).toEqual(['one']));
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
    // It is not idle.
    slow.write('o');
    await eventually(() => expect(slow.isClosed()).toBe(true));
    expect(logs).toEqual([expect.stringMatching(/a message was not complete after 60 s/)]);
    idle.write('<13>three\n');
    await eventually(() => expect(messages()).toEqual(['one', 'three']));
  });

  it('closes idle connections with idle_timeout', async () => {
    const { port, logs } = await listen({ listen: 'tcp://127.0.0.1:0', idle_timeout: 0.05 });
    const idle = await client(port);
    await eventually(() => expect(idle.isClosed()).toBe(true));
    expect(logs).toEqual([expect.stringMatching(/idle_timeout/)]);
  });

  it('bounds what incomplete messages take: the longest goes', async () => {
    const { port, logs, messages } = await listen({
      ...{ listen: 'tcp://127.0.0.1:0', max_message_bytes: 8 * 1024 * 1024 },
    });
    const small = await client(port);
    small.write('<13>sm');
    const senders = await Promise.all(Array.from({ length: 12 }, () => client(port)));
    for (const sender of senders) sender.write(Buffer.alloc(7 * 1024 * 1024, '<'));
    await eventually(() => expect(senders.some((sender) => sender.isClosed())).toBe(true));
    expect(logs[0]).toMatch(/take more than 64 MiB/);
    small.write('all\n');
    await eventually(() => expect(messages()).toEqual(['small']));
  });

  it('survives connections that are reset', async () => {
    const { port, messages } = await listen({ listen: 'tcp://127.0.0.1:0' });
    for (let count = 0; count < 50; count++) {
      const sender = await client(port);
      sender.write('<13>un');
      sender.resetAndDestroy();
    }
    (await client(port)).write('<13>one\n');
    await eventually(() => expect(messages()).toContain('one'));
  });

  it('fails if the port is taken, and says so', async () => {
    const { port } = await listen({ listen: 'tcp://127.0.0.1:0' });
    const second = await listen({ listen: `tcp://127.0.0.1:${port}` });
    expect(String(second.error)).toMatch(/cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE.*another program/);
  });
});

it('cannot be used with --once', async () => {
  const { error } = await listen({ listen: 'tcp://127.0.0.1:0' }, { overrides: { once: true } });
  expect(error).toMatchObject({ fatal: true, message: expect.stringContaining('--once') });
});

describe('syslog over UDP', () => {
  it('takes each datagram for a message, in batches by sender', async () => {
    const { port, messages, batches } = await listen({ listen: 'udp://127.0.0.1:0' });
    const socket = createSocket('udp4');
    cleanUp.add(() => socket.close());
    for (const text of ['<13>one', '<13>two\n', '', '<13>three\0', '5 <13>x'])
      socket.send(text, port, '127.0.0.1');
    await eventually(() => expect(messages()).toEqual(['one', 'two', 'three', '5 <13>x']));
    expect(batches.every(({ acknowledge }) => acknowledge === undefined)).toBe(true);
  });

  it('emits the datagrams that it holds when it is stopped', async () => {
    // Those that come within a millisecond are held: here, all that come.
    jest.spyOn(asyncScheduler, 'schedule').mockReturnValue(new Subscription());
    let bytes = 0;
    const stats = {
      ...silentStats,
      bytes: (more: number) => {
        bytes += more;
      },
    };
    const listener = await listen({ listen: 'udp://127.0.0.1:0' }, { overrides: { stats } });
    const socket = createSocket('udp4');
    cleanUp.add(() => socket.close());
    socket.send('<13>one', listener.port, '127.0.0.1');
    socket.send('<13>two', listener.port, '127.0.0.1');
    await eventually(() => expect(bytes).toBe(14));
    expect(listener.messages()).toEqual([]);
    listener.abort();
    expect(listener.messages()).toEqual(['one', 'two']);
    expect(listener.isComplete).toBe(true);
  });

  it('keeps nothing of what it has emitted', async () => {
    let port = 0;
    const listening = (address: { port: number }) => {
      port = address.port;
    };
    const reports = { listening };
    const { data } = parseConfig({ listen: 'udp://127.0.0.1:0' }) as { data: { plugin: string } };
    let emitted = 0;
    const subscription = listenForDatagrams(testContext(data) as never, reports as never).subscribe(() => {
      emitted++;
    });
    cleanUp.add(subscription);
    await eventually(() => expect(port).toBeGreaterThan(0));
    const socket = createSocket('udp4');
    cleanUp.add(() => socket.close());
    const finalizers = () => (subscription as unknown as { _finalizers: unknown[] })._finalizers.length;
    const before = finalizers();
    for (let count = 1; count <= 20; count++) {
      socket.send('<13>one', port, '127.0.0.1');
      await eventually(() => expect(emitted).toBe(count));
    }
    expect(finalizers()).toBe(before);
  });

  it('refuses a datagram that is too long', async () => {
    const { port, batches } = await listen({ listen: 'udp://127.0.0.1:0', max_message_bytes: 1024 });
    const socket = createSocket('udp4');
    cleanUp.add(() => socket.close());
    socket.send(`<13>${'x'.repeat(2000)}`, port, '127.0.0.1');
    await eventually(() => expect(batches.map(({ refusal }) => refusal !== undefined)).toEqual([true]));
  });
});

describe('syslog over RELP', () => {
  const relp = { listen: 'relp://127.0.0.1:0' };

  it('acknowledges a message when it is delivered', async () => {
    const { port, batches, messages, acknowledge } = await listen(relp, { acknowledges: false });
    const sender = await client(port);
    sender.write(`${OPEN}2 syslog 7 <13>one\n3 syslog 9 <13>two\n\n\n`);
    await eventually(() => expect(messages()).toEqual(['one', 'two']));
    await eventually(() =>
      expect(sender.received()).toMatch(/^1 rsp \d+ 200 OK\nrelp_version=0\n.*commands=syslog\n$/s),
    );
    const opened = sender.received();
    for (const batch of batches) acknowledge(batch);
    await eventually(() => expect(sender.received()).toBe(`${opened}2 rsp 6 200 OK\n3 rsp 6 200 OK\n`));
    sender.write('4 close 0\n');
    await eventually(() => expect(sender.isClosed()).toBe(true));
    expect(sender.received()).toMatch(/4 rsp 0\n0 serverclose 0\n$/);
  });

  it('answers `close` when all messages before it are acknowledged', async () => {
    const { port, batches, messages, acknowledge } = await listen(relp, { acknowledges: false });
    const sender = await client(port);
    sender.write(`${OPEN}2 syslog 7 <13>one\n`);
    await eventually(() => expect(messages()).toEqual(['one']));
    sender.write('3 syslog 7 <13>two\n4 close 0\n5 other 0\n');
    await eventually(() => expect(messages()).toEqual(['one', 'two']));
    acknowledge(batches[1] as EventBatch);
    await eventually(() => expect(sender.received()).toContain('3 rsp'));
    expect(sender.received()).not.toContain('4 rsp');
    acknowledge(batches[0] as EventBatch);
    await eventually(() => expect(sender.isClosed()).toBe(true));
    expect(sender.received()).toMatch(/3 rsp 6 200 OK\n2 rsp 6 200 OK\n4 rsp 0\n0 serverclose 0\n$/);
  });

  it('acknowledges to a sender that has sent its last byte', async () => {
    const { port, batches, messages, acknowledge } = await listen(relp, { acknowledges: false });
    const sender = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let received = '';
    sender.on('data', (chunk) => {
      received += chunk;
    });
    cleanUp.add(() => sender.destroy());
    sender.end(`${OPEN}2 syslog 7 <13>one\n`);
    await eventually(() => expect(messages()).toEqual(['one']));
    await new Promise(setImmediate);
    acknowledge(batches[0] as EventBatch);
    await once(sender, 'end');
    expect(received).toMatch(/2 rsp 6 200 OK\n$/);
  });

  it('acknowledges a message that failed for good, which would fail again', async () => {
    const { port, batches, messages, acknowledge } = await listen(relp, { acknowledges: false });
    const sender = await client(port);
    sender.write(`${OPEN}2 syslog 7 <13>one\n3 close 0\n`);
    await eventually(() => expect(messages()).toEqual(['one']));
    acknowledge(batches[0] as EventBatch, 'refused');
    await eventually(() => expect(sender.isClosed()).toBe(true));
    expect(sender.received()).toMatch(/2 rsp 6 200 OK\n3 rsp 0\n/);
  });

  it('closes the connection without an answer if a message could not be delivered for now', async () => {
    const { port, batches, messages, acknowledge } = await listen(relp, { acknowledges: false });
    const sender = await client(port);
    sender.write(`${OPEN}2 syslog 7 <13>one\n3 close 0\n`);
    await eventually(() => expect(messages()).toEqual(['one']));
    acknowledge(batches[0] as EventBatch, 'failed');
    await eventually(() => expect(sender.isClosed()).toBe(true));
    expect(sender.received()).not.toMatch(/[23] rsp/);
  });

  it('answers commands while there is no room for messages', async () => {
    const { port, messages } = await listen(relp, { acknowledges: false, room: 1 });
    (await client(port)).write(`${OPEN}2 syslog 7 <13>one\n`);
    await eventually(() => expect(messages()).toEqual(['one']));
    const other = await client(port);
    other.write(OPEN);
    await eventually(() => expect(other.received()).toMatch(/^1 rsp/));
  });

  it('acknowledges after the collector is stopped, until the run is over', async () => {
    const { port, batches, messages, acknowledge, stop, ended } = await listen(relp, { acknowledges: false });
    const sender = await client(port);
    sender.write(`${OPEN}2 syslog 7 <13>one\n`);
    await eventually(() => expect(messages()).toEqual(['one']));
    stop();
    sender.write('3 syslog 7 <13>two\n');
    acknowledge(batches[0] as EventBatch);
    await eventually(() => expect(sender.received()).toMatch(/2 rsp 6 200 OK\n$/));
    expect(sender.isClosed()).toBe(false);
    ended.abort();
    await eventually(() => expect(sender.isClosed()).toBe(true));
    expect(sender.received()).not.toContain('3 rsp');
  });

  it('takes messages with newlines, without text, and in pieces', async () => {
    const { port, messages } = await listen(relp);
    const sender = await client(port);
    for (const byte of `${OPEN}2 syslog 11 <13>one\ntwo\n3 syslog 0\n4 syslog 7 <13>äx`) sender.write(byte);
    sender.write('\n');
    await eventually(() => expect(messages()).toEqual(['one\ntwo', '', 'äx']));
  });

  it('takes a message that is too long off the sender, which could not make it shorter', async () => {
    const { port, batches } = await listen({ ...relp, max_message_bytes: 1024 });
    const sender = await client(port);
    sender.write(`${OPEN}2 syslog 5000 ${'x'.repeat(5000)}\n3 syslog 7 <13>one\n`);
    await eventually(() => expect(sender.received()).toMatch(/2 rsp 6 200 OK\n3 rsp 6 200 OK\n$/));
    expect(batches.map(({ refusal }) => refusal !== undefined)).toEqual([true, false]);
  });

  it.each([
    ['a message before `open`', '1 syslog 7 <13>one\n'],
    ['text', 'hello\n'],
    ['HTTP', 'GET / HTTP/1.1\r\n\r\n'],
    ['a length that is too large', `${OPEN}2 syslog 99999999 x`],
    ['a number that is too large', '9999999999 open 0\n'],
    ['a negative length', `${OPEN}2 syslog -1 x\n`],
    ['data that is longer than it says', `${OPEN}2 syslog 3 <13>one\n`],
    ['a length without data', `${OPEN}2 syslog 7\n`],
    ['a head without end', `${OPEN}2 ${'s'.repeat(1000)}`],
    ['NULs', '\0'.repeat(100)],
  ])('closes the connection at %s', async (_, text) => {
    const { port, messages, logs } = await listen(relp);
    const sender = await client(port);
    sender.write(text);
    await eventually(() => expect(sender.isClosed()).toBe(true));
    expect(messages()).toEqual([]);
    expect(logs).toHaveLength(1);
    expect(logs.join()).not.toMatch(/<13>|hello|HTTP/);
  });
});

describe('the configuration of syslog', () => {
  const problems = (settings: object) => {
    const parsed = parseConfig(settings);
    return parsed.success
      ? []
      : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  };

  it.each([
    [{ listen: '127.0.0.1:514' }, /^listen: udp:\/\//],
    [{ listen: 'tcp://127.0.0.1' }, /^listen: udp:\/\//],
    [{ listen: 'tcp://127.0.0.1:70000' }, /^listen: udp:\/\//],
    [{ listen: 'http://127.0.0.1:514' }, /^listen: udp:\/\//],
    [{ listen: 'tls://127.0.0.1:6514' }, /^tls: missing/],
    [{ listen: 'udp://127.0.0.1:514', tls: { cert: { file: 'a' }, key: { file: 'b' } } }, /^tls: only/],
    [{ listen: 'tcp://127.0.0.1:514', time_zone: 'Berlin' }, /^time_zone: a time zone/],
    [{ listen: 'udp://127.0.0.1:514', idle_timeout: 5 }, /^idle_timeout/],
    [{ listen: 'tcp://127.0.0.1:514', receive_buffer_bytes: 65_536 }, /^receive_buffer_bytes/],
  ])('refuses %j', (settings, message) => {
    expect(problems(settings)).toEqual([expect.stringMatching(message)]);
  });

  it('listens on this machine alone, unless it is told another address, and warns then', () => {
    const { data } = parseConfig({ listen: 'tcp://1514' }) as { data: { listen: object } };
    expect(data.listen).toEqual({ scheme: 'tcp', host: '127.0.0.1', port: 1514 });
    const warnings = (listen: string) =>
      syslog.checkConfig?.({
        config: (parseConfig({ listen }) as unknown as { data: never }).data,
        host: undefined,
      });
    expect(warnings('tcp://127.0.0.1:1514')).toEqual([]);
    expect(warnings('udp://0.0.0.0:514')).toEqual([expect.objectContaining({ severity: 'warning' })]);
  });
});
