import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, type Observable, toArray } from 'rxjs';
import syslog from '../../../plugins/forward/syslog.ts';
import { messageParser } from '../../../plugins/syslog/parse-message.ts';
import { RelpFrames, relpFrame } from '../../../plugins/syslog/relp-frames.ts';
import { messageWriter } from '../../../plugins/syslog/write-message.ts';
import { PluginError } from '../../../src/sdk/errors.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { CertificateAuthority } from '../../servers/support/certificates.ts';
import { testContext } from '../../support/context.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const TIME = '2026-01-02T03:04:05.678Z';
const event = (data: CollectedEvent['data']): CollectedEvent => ({ timestamp: TIME, data });
const events = (...messages: readonly string[]) => messages.map((message) => event({ message }));

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

/** A server that answers as `serve` does. */
async function serverOf(serve: (socket: Socket) => void, port = 0) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    serve(socket);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  cleanUps.push(stop);
  return { port: (server.address() as { port: number }).port, sockets, stop };
}

/** A server that keeps what it gets. */
async function textServer() {
  let text = '';
  const server = await serverOf((socket) =>
    socket.on('data', (chunk) => {
      text += chunk;
    }),
  );
  return Object.assign(server, { text: () => text });
}

/** A server of RELP. `answer` gives the answer to a message; undefined: none. */
function relpServer(answer: (message: string, socket: Socket) => string | undefined, port = 0) {
  return serverOf((socket) => {
    const frames = new RelpFrames(100_000);
    socket.on('data', (chunk: Buffer) => {
      frames.push(chunk);
      for (let frame = frames.next(); frame !== undefined; frame = frames.next()) {
        const reply = frame.command === 'syslog' ? answer(String(frame.data), socket) : '200 OK';
        if (reply !== undefined) socket.write(relpFrame(frame.number, 'rsp', reply));
      }
    });
  }, port);
}

function forwarder(settings: { url: string; [key: string]: unknown }) {
  const parsed = syslog.get_config_schema().safeParse({ plugin: 'syslog', ...settings });
  if (!parsed.success) throw new Error(JSON.stringify(parsed.error));
  const ended = new AbortController();
  cleanUps.push(() => ended.abort());
  const ctx = testContext(parsed.data as { plugin: string }, { ended: ended.signal });
  return (batch: readonly CollectedEvent[]) => {
    const args = { ctx: ctx as never, events: batch, id: 'a' as never };
    const sent$ = syslog.forwardBatch?.(args) as Observable<never>;
    return firstValueFrom(sent$.pipe(toArray()));
  };
}

const problemOf = async (promise: Promise<unknown>) => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PluginError);
  return error as PluginError;
};

describe('a message', () => {
  const write = (data: CollectedEvent['data'], values = {}) => messageWriter(values, 'here')(event(data));

  it.each([
    [{ message: 'up' }, '<13>1 2026-01-02T03:04:05.678Z here - - - - up'],
    [{ line: 'GET /', source: 'a.log' }, '<13>1 2026-01-02T03:04:05.678Z here - - - - GET /'],
    [{ n: 1 }, '<13>1 2026-01-02T03:04:05.678Z here - - - - {"n":1}'],
    [{ message: { n: 1 }, level: 'error' }, '<11>1 2026-01-02T03:04:05.678Z here - - - - {"n":1}'],
    [{ message: 'a', facility: 'local4', severity: 'notice' }, '<165>1 2026-01-02T03:04:05.678Z - - - - - a'],
    [{ message: 'a', facility: 99, severity: 'x' }, '<13>1 2026-01-02T03:04:05.678Z - - - - - a'],
    [
      { message: '', hostname: 'h h', appname: 'a\nb', procid: 42, msgid: 'x'.repeat(50) },
      `<13>1 2026-01-02T03:04:05.678Z h_h a_b 42 ${'x'.repeat(32)} -`,
    ],
    [
      { message: 'a', structured_data: { 'x y': { 'k=': 'v"]\\', list: ['1', 2] }, empty: {} } },
      '<13>1 2026-01-02T03:04:05.678Z here - - - [x_y k_="v\\"\\]\\\\" list="1" list="2"][empty] a',
    ],
  ])('is made of %j', (data, text) => {
    expect(write(data)).toBe(text);
  });

  it.each([
    ['never\nX', '-'],
    [undefined, '-'],
    [1767323045678, '-'],
    ['2026-01-02T03:04:05.123456789Z', '2026-01-02T03:04:05.123456Z'],
    ['2026-01-02T03:04:05.123456+02:00', '2026-01-02T03:04:05.123456+02:00'],
    ['2026-01-02T03:04:05+0200', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02 03:04:05z', '2026-01-02T03:04:05.000Z'],
    ['+012026-01-02T03:04:05Z', '-'],
  ])('has a time of RFC 5424 in place of %j', (timestamp, text) => {
    const message = messageWriter({}, 'here')({ timestamp: timestamp as string, data: { message: 'a' } });
    expect(message).toBe(`<13>1 ${text} here - - - - a`);
  });

  it('has no element or parameter twice, after their names were cut', () => {
    const long = 'x'.repeat(32);
    expect(
      write({ message: 'a', structured_data: { [`${long}1`]: { 'k ': 1, 'k=': 2 }, [`${long}2`]: {} } }),
    ).toMatch(/- \[x{32} k_="1" k__2="2"\]\[x{30}_2\] a$/);
  });

  it('has the fields that came in, after it was sent and received', () => {
    const parse = messageParser();
    for (const text of [
      '<165>1 2026-01-02T03:04:05.678Z web1 nginx 42 ID [a@1 b="c\\"\\]" d="1" d="2"][e] up\nand down',
      '<0>1 2026-01-02T03:04:05.000Z - - - - - x',
      '<191>1 2026-01-02T03:04:05.000Z web1 - - - -',
    ]) {
      const { fields, timestamp } = parse(text, '10.0.0.7', TIME);
      expect(messageWriter({}, 'here')({ timestamp: timestamp as string, data: fields })).toBe(text);
    }
  });
});

describe('syslog over TCP', () => {
  it('sends messages with their length in front of them', async () => {
    const { port, text } = await textServer();
    await forwarder({ url: `tcp://127.0.0.1:${port}` })(events('one', 'ä\nb'));
    expect(text()).toBe(
      '47 <13>1 2026-01-02T03:04:05.678Z test - - - - one48 <13>1 2026-01-02T03:04:05.678Z test - - - - ä\nb',
    );
  });

  it('sends a line for each message with framing: newline', async () => {
    const { port, text } = await textServer();
    await forwarder({ url: `tcp://127.0.0.1:${port}`, framing: 'newline' })(events('one', 'a\nb'));
    expect(text()).toMatch(/- one\n.*- a b\n$/);
  });

  it('takes values from the configuration, a field or an expression', async () => {
    const { port, text } = await textServer();
    const send = forwarder({
      ...{ url: `tcp://127.0.0.1:${port}`, framing: 'newline', appname: 'shop', facility: 'local0' },
      ...{ msgid: { field: 'kind.id' }, message: { cel: 'data.user + " left"' } },
    });
    await send([event({ kind: { id: 'X' }, user: 'ada' })]);
    expect(text()).toBe('<133>1 2026-01-02T03:04:05.678Z test shop - X - ada left\n');
  });

  it('connects again if the server has closed the connection while it was idle', async () => {
    const { port, text, sockets } = await textServer();
    const send = forwarder({ url: `tcp://127.0.0.1:${port}`, framing: 'newline' });
    await send(events('one'));
    for (const socket of sockets) socket.destroy();
    // The end may still be on its way. Then the call fails, and the engine repeats it.
    await send(events('two')).catch(() => send(events('two')));
    await eventually(() => expect(text()).toMatch(/one\n.*two\n$/));
  });

  it('fails if the connection ends right after the messages were sent', async () => {
    const { port } = await serverOf((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const error = await problemOf(forwarder({ url: `tcp://127.0.0.1:${port}` })(events('hunter2')));
    expect(error.message).toMatch(/the connection to tcp:\/\/127\.0\.0\.1:\d+ is lost/);
    expect(error.message).not.toContain('hunter2');
  });

  it('says why it cannot connect', async () => {
    const { port, stop } = await textServer();
    stop();
    const error = await problemOf(forwarder({ url: `tcp://127.0.0.1:${port}` })(events('one')));
    expect(error.message).toMatch(/cannot connect to tcp:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/);
    expect(error.permanent).toBe(false);
  });
});

describe('syslog over TLS', () => {
  const temp = tempFolder();

  /** A server that accepts clients of the authority `clients` alone, 50 ms away. */
  async function distantServer(clients: 'ca' | 'other') {
    const ca = new CertificateAuthority(temp(), 'ca');
    new CertificateAuthority(temp(), 'other');
    for (const name of ['server', 'client']) ca.issue(name);
    const read = (name: string) => readFileSync(join(temp(), name), 'utf8');
    let text = '';
    const options = {
      ...{ cert: read('server.pem'), key: read('server.key'), ca: read(`${clients}.pem`) },
      ...{ requestCert: true, rejectUnauthorized: true },
    };
    const server = createTlsServer(options, (socket) => {
      socket
        .on('error', () => {})
        .on('data', (chunk) => {
          text += chunk;
        });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUps.push(() => server.close());
    const later = (then: () => void) => void setTimeout(then, 50);
    const { port } = await serverOf((near) => {
      const far = connect((server.address() as { port: number }).port, '127.0.0.1');
      cleanUps.push(() => far.destroy());
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        from
          .on('error', () => {})
          .on('data', (chunk) => later(() => to.write(chunk)))
          .on('close', () => later(() => to.destroy()));
      }
    });
    const file = (name: string) => ({ file: join(temp(), name) });
    const tls = { ca: file('ca.pem'), cert: file('client.pem'), key: file('client.key') };
    return { send: forwarder({ url: `tls://127.0.0.1:${port}`, tls }), text: () => text };
  }

  it('takes nothing for delivered if the server refuses the certificate, however far away it is', async () => {
    const { send, text } = await distantServer('other');
    expect((await problemOf(send(events('one')))).message).toMatch(
      /^(cannot connect|the connection) to tls:/,
    );
    expect(text()).toBe('');
  });

  it('sends to a server that accepts the certificate', async () => {
    const { send, text } = await distantServer('ca');
    await send(events('one'));
    await eventually(() => expect(text()).toMatch(/ one$/));
  });
});

describe('syslog over RELP', () => {
  it('completes when each message is acknowledged', async () => {
    const got: string[] = [];
    const { port } = await relpServer((message) => {
      got.push(message.replace(/.* - /, ''));
      return '200 OK';
    });
    const send = forwarder({ url: `relp://127.0.0.1:${port}` });
    await send(events('one', 'two'));
    await send(events('three'));
    expect(got).toEqual(['one', 'two', 'three']);
  });

  it('names the messages that are not acknowledged when the connection breaks', async () => {
    const { port } = await relpServer((message, socket) => {
      if (message.endsWith('two')) setImmediate(() => socket.destroy());
      return message.endsWith('one') ? '200 OK' : undefined;
    });
    const error = await problemOf(
      forwarder({ url: `relp://127.0.0.1:${port}` })(events('one', 'two', 'three')),
    );
    expect(error.failedEvents).toEqual([{ index: 1 }, { index: 2 }]);
  });

  it('names the messages that are refused', async () => {
    const { port } = await relpServer((message) => (message.endsWith('two') ? '500 hunter2' : '200 OK'));
    const error = await problemOf(
      forwarder({ url: `relp://127.0.0.1:${port}` })(events('one', 'two', 'three')),
    );
    expect(error.failedEvents).toEqual([{ index: 1 }]);
    expect(error.message).not.toContain('hunter2');
  });

  it('gives up on a server that does not answer, and connects again for the next call', async () => {
    let isSilent = true;
    const { port } = await relpServer(() => (isSilent ? undefined : '200 OK'));
    const send = forwarder({ url: `relp://127.0.0.1:${port}`, timeout: 0.2 });
    expect((await problemOf(send(events('one')))).message).toMatch(/did not answer within 0.2 s/);
    isSilent = false;
    await send(events('one'));
  });

  it('fails with a server that is not one of RELP', async () => {
    const { port } = await serverOf((socket) => socket.write('HTTP/1.1 400 hunter2\r\n\r\n'));
    const error = await problemOf(forwarder({ url: `relp://127.0.0.1:${port}` })(events('one')));
    expect(error.message).toMatch(/does not answer as RELP/);
    expect(error.message).not.toContain('hunter2');
  });
});

describe('the configuration of the forwarder', () => {
  it.each([
    [{ url: 'udp://127.0.0.1:514' }, 'url'],
    [{ url: 'tcp://127.0.0.1' }, 'url'],
    [{ url: 'tcp://127.0.0.1:0' }, 'url'],
    [{ url: 'tcp://user:hunter2@127.0.0.1:514' }, 'url'],
    [{ url: 'tcp://127.0.0.1:514', tls: {} }, 'tls'],
    [{ url: 'tcp://127.0.0.1:514', message: { cel: 'data.' } }, 'message'],
  ])('refuses %j', (settings, path) => {
    const parsed = syslog.get_config_schema().safeParse({ plugin: 'syslog', ...settings });
    const issues = parsed.success ? [] : parsed.error.issues;
    expect(issues.map((issue) => String(issue.path[0]))).toEqual([path]);
    expect(JSON.stringify(issues.map(({ message }) => message))).not.toContain('hunter2');
  });
});
