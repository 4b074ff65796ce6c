import { join } from 'node:path';
import { CertificateAuthority } from '../support/certificates.ts';
import { type Rsyslog, startRsyslog } from '../support/rsyslog.ts';
import { serverFolder } from '../support/start-server.ts';
import type { TcpConnector } from './connector.ts';
import { testOverTcp } from './tcp-scenarios.ts';

/** The messages of a program that rsyslog has, once no more come. */
async function messagesOf(server: Rsyslog, program: string): Promise<string[]> {
  await server.settled();
  return server.rows(program).map(({ msg }) => JSON.stringify({ line: msg }));
}

const portOf = (address: string) => Number(address.split(':')[1]);

const overScheme = (scheme: 'tcp' | 'tls' | 'relp') =>
  ({
    needs: ['rsyslogd'],
    target: (server, name) => ({
      forwarder: (at) => `plugin: syslog, url: '${scheme}://${at}', appname: ${name}`,
      documents: () => messagesOf(server, name),
    }),
    recognises: false,
    exactlyOnce: false,
  }) satisfies Partial<TcpConnector<Rsyslog>>;

/** A server that has written a message before it acknowledges it. */
const DIRECT = 'main_queue(queue.type="Direct")';

testOverTcp<Rsyslog>({
  ...overScheme('relp'),
  name: 'syslog over RELP',
  start: () => startRsyslog({ global: DIRECT }),
  port: ({ relp }) => portOf(relp),
  endsBy: 'SIGKILL',
  timeout: 'timeout: 2',
  acknowledges: true,
  mayBeSecure: true,
});

/** Nobody knows what of them arrives. */
const unacknowledged = { endsBy: 'SIGTERM', acknowledges: false } as const;

testOverTcp<Rsyslog>({
  ...overScheme('tcp'),
  ...unacknowledged,
  name: 'syslog over TCP',
  start: () => startRsyslog(),
  port: ({ address }) => portOf(address),
  mayBeSecure: false,
});

const folder = serverFolder('certificates-of-rsyslog');
const ca = join(folder, 'ca.pem');

testOverTcp<Rsyslog>({
  ...overScheme('tls'),
  ...unacknowledged,
  name: 'syslog over TLS',
  start: () => {
    new CertificateAuthority(folder, 'ca').issue('server');
    const [certificate, key] = [join(folder, 'server.pem'), join(folder, 'server.key')];
    return startRsyslog({ tls: { ca, certificate, key } });
  },
  port: ({ tls }) => portOf(tls),
  mayBeSecure: true,
  authority: () => ca,
});
