import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { describe, it } from '@jest/globals';
import { CertificateAuthority } from '../support/certificates.ts';
import { startRsyslog } from '../support/rsyslog.ts';
import { freePort, serverFolder } from '../support/start-server.ts';
import { Gateway } from './gateway.ts';
import { type InputConnector, STRAY_KEY } from './input-connector.ts';
import { testPullInput } from './pull-scenarios.ts';
import { testInput } from './scenarios.ts';

const MIB = 'x'.repeat(1024 * 1024);
const HEAD = '<165>1 2026-01-02T03:04:05.678Z web1 app 42 ID -';
const counted = (message: string) => `${Buffer.byteLength(message)} ${message}`;

/** What both framings have in common with each other, and TCP with TLS. */
const stream = {
  // A message may take a minute.
  disconnectsSlow: false,
  start: `${HEAD} ${STRAY_KEY}`,
  malformed: {
    'no syslog': `${STRAY_KEY}\n`,
    'a count that is too small': `10 ${HEAD} ${STRAY_KEY}\n`,
    'a count without an end': `${counted(`${HEAD} first`)}99999 ${HEAD} ${STRAY_KEY}`,
    'a count that is no number': `${counted(`${HEAD} first`)}${STRAY_KEY} <1>`,
    'a count that is too large': `99999999 ${HEAD} ${STRAY_KEY}`,
    zeros: Buffer.concat([Buffer.alloc(100_000), Buffer.from(`${STRAY_KEY}\0`)]),
    'no UTF-8': Buffer.concat([
      Buffer.from(HEAD),
      Buffer.from([0x20, 0xff, 0xfe, 0xc0, 0x80]),
      Buffer.from(`${STRAY_KEY}\n`),
    ]),
    'structured data without an end': `${HEAD.slice(0, -1)}[a@1 b="${STRAY_KEY}\n`,
    'a priority that is none': `<99999999999>1 - - - - - - ${STRAY_KEY}\n`,
  },
  oversized: {
    'a line': () => [`${HEAD} `, ...Array.from({ length: 200 }, () => MIB), '\n'],
    'a counted message': () => [`9999999 ${HEAD} `, ...Array.from({ length: 9 }, () => MIB)],
    'many counted messages': () => Array.from({ length: 200 }, () => counted(`${HEAD} ${MIB}`)),
  },
} satisfies Partial<InputConnector>;

let batches = 0;

/** Sends messages, newlines after them or their length in front of them in turn, and ends when the other side has. */
function sendOver(open: (port: number) => Socket): Pick<InputConnector, 'send' | 'sendAndLeave' | 'connect'> {
  const text = (lines: readonly string[]) => {
    const messages = lines.map((line) => `${HEAD} ${line}`);
    return batches++ % 2 === 0 ? `${messages.join('\n')}\n` : messages.map(counted).join('');
  };
  return {
    connect: open,
    async send(port, lines) {
      const socket = open(port).resume();
      socket.end(text(lines));
      return new Promise((resolve) => {
        socket
          .once('error', () => resolve(false))
          .once('end', () => resolve(true))
          .once('close', () => resolve(false));
      });
    },
    async sendAndLeave(port, lines) {
      const socket = open(port).on('error', () => {});
      const closed = once(socket, 'close');
      socket.write(text(lines), () => socket.destroy());
      await closed;
    },
  };
}

const openPlain = (port: number) => connect(port, '127.0.0.1');
const openSecure = (port: number) => connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });

testInput({
  ...{ ...stream, ...sendOver(openPlain) },
  name: 'syslog over TCP',
  needs: [],
  acknowledges: false,
  collector: (port) => `plugin: syslog, listen: 'tcp://127.0.0.1:${port}', idle_timeout: 2`,
});

const folder = serverFolder('certificates');

testInput({
  ...{ ...stream, ...sendOver(openSecure) },
  name: 'syslog over TLS',
  needs: ['openssl'],
  acknowledges: false,
  collector(port) {
    new CertificateAuthority(folder, 'ca').issue('server');
    const file = (name: string) => `{ file: '${join(folder, name)}' }`;
    return `plugin: syslog, listen: 'tls://127.0.0.1:${port}', idle_timeout: 2, tls: { cert: ${file('server.pem')}, key: ${file('server.key')} }`;
  },
});

const frame = (number: number, command: string, data = '') =>
  `${number} ${command} ${Buffer.byteLength(data)}${data === '' ? '' : ` ${data}`}\n`;
const OPEN = frame(1, 'open', 'relp_version=0\nrelp_software=test\ncommands=syslog');
const frames = (lines: readonly string[]) =>
  OPEN + lines.map((line, n) => frame(n + 2, 'syslog', `${HEAD} ${line}`)).join('');

testInput({
  name: 'syslog over RELP',
  needs: [],
  acknowledges: true,
  disconnectsSlow: false,
  collector: (port) => `plugin: syslog, listen: 'relp://127.0.0.1:${port}', idle_timeout: 2`,
  connect: openPlain,
  /** Every message has an answer. */
  async send(port, lines) {
    const socket = openPlain(port);
    let answers = '';
    let isTaken = false;
    socket.write(frames(lines));
    socket.setEncoding('latin1').on('data', (data: string) => {
      answers += data;
      const taken = new Set(
        [...answers.matchAll(/^(\d+) rsp \d+ 200 OK$/gm)].map(([, number]) => Number(number)),
      );
      taken.delete(1);
      if (taken.size < lines.length || isTaken) return;
      isTaken = true;
      socket.end(frame(lines.length + 2, 'close'));
    });
    return new Promise((resolve) => {
      socket.on('error', () => {}).once('close', () => resolve(isTaken));
    });
  },
  async sendAndLeave(port, lines) {
    const socket = openPlain(port).on('error', () => {});
    const closed = once(socket, 'close');
    socket.write(frames(lines), () => socket.destroy());
    await closed;
  },
  start: `${OPEN}2 syslog 1000 ${HEAD} ${STRAY_KEY}`,
  malformed: {
    'no RELP': `${STRAY_KEY}\n`,
    'a message before the session': frame(1, 'syslog', `${HEAD} ${STRAY_KEY}`),
    'a length that is too small': `${OPEN}2 syslog 10 ${HEAD} ${STRAY_KEY}\n`,
    'a length that is too large': `${OPEN}2 syslog 99999999 ${HEAD} ${STRAY_KEY}\n`,
    'a message that ends early': `${OPEN}2 syslog 1000 ${HEAD} ${STRAY_KEY}`,
    'a number that is none': `${OPEN}${STRAY_KEY} syslog 5 <1> a\n`,
    'another command': OPEN + frame(2, 'key', STRAY_KEY),
    'two sessions': OPEN + OPEN + frame(2, STRAY_KEY.replace(/[^a-z]/g, '')),
  },
  oversized: {
    'a message': () => [`${OPEN}2 syslog 9999999 ${HEAD} `, ...Array.from({ length: 9 }, () => MIB), '\n'],
    'many messages': () => [
      OPEN,
      ...Array.from({ length: 200 }, (_, n) => frame(n + 2, 'syslog', `${HEAD} ${MIB}`)),
    ],
    'a head': () => Array.from({ length: 20 }, () => MIB),
  },
});

/** rsyslog sends again what was not acknowledged. */
testPullInput<undefined>({
  name: 'syslog from rsyslog over RELP',
  needs: ['rsyslogd'],
  start: async () => undefined,
  ready: /listens on/,
  faults: [],
  async source() {
    const [port, input] = [await freePort(), await freePort()];
    const action = `type="omrelp" target="127.0.0.1" port="${port}" template="RSYSLOG_SyslogProtocol23Format" action.resumeRetryCount="-1" action.resumeInterval="1"`;
    const rsyslog = await startRsyslog({
      config: `module(load="omrelp")
ruleset(name="send") { action(${action}) }
input(type="imptcp" address="127.0.0.1" port="${input}" ruleset="send")`,
    });
    return {
      collector: `plugin: syslog, listen: 'relp://127.0.0.1:${port}'`,
      async write(lines) {
        const socket = openPlain(input);
        socket.end(lines.map((line) => `${HEAD} ${line}\n`).join(''));
        await once(socket.resume(), 'close');
      },
      faults: {},
      close: () => rsyslog.stop(),
    };
  },
});

describe('syslog over UDP (collect)', () => {
  it('loses nothing of what the system can hold, between datagrams that are malformed or too large', async () => {
    const port = await freePort();
    const collector = `plugin: syslog, listen: 'udp://127.0.0.1:${port}', max_message_bytes: 10KiB`;
    const gateway = await Gateway.prepare('syslog over UDP', collector, /listens on/);
    const { trial } = gateway;
    const child = await gateway.run();
    const socket = createSocket('udp4');
    const send = (datagram: string | Buffer) =>
      new Promise((resolve) => socket.send(datagram, port, '127.0.0.1', resolve));
    const stray = [...Object.values(stream.malformed), '', `${HEAD} ${STRAY_KEY} ${'x'.repeat(60_000)}`];
    for (let round = 0; round < 50; round++) {
      // The buffer of a socket has room for more than that.
      for (let n = 0; n < 20; n++) await send(`${HEAD} ${trial.oracle.line()}`);
      const datagram = stray[round % stray.length] as string | Buffer;
      if (datagram.length < 65_000) await send(datagram);
      await trial.until(() => trial.delivered === trial.oracle.written);
    }
    socket.close();
    await gateway.expectAll('malformed datagrams', child);
    await gateway.close();
  });
});
