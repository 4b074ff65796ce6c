import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { connect, createServer as createTlsServer, type PeerCertificate } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { isAuthorised, listenerAuth } from '../../plugins/listen/auth.ts';
import { exposureProblems, listenError, listenOn } from '../../plugins/listen/listening.ts';
import { listenerTls, serverOptions, useCurrentCertificate } from '../../plugins/listen/tls.ts';
import { CertificateAuthority } from '../servers/support/certificates.ts';
import { tempFolder } from '../support/temp-folder.ts';

const temp = tempFolder();

describe('who may send', () => {
  const auth = listenerAuth().parse({
    bearer: ['one-token', 'other-token'],
    basic: { username: 'ada', password: 'pw:1' },
  });
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

  it.each(['Bearer one-token', 'bearer   other-token', basic('ada:pw:1')])('lets in %s', (header) => {
    expect(isAuthorised(auth, header)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'one-token',
    'Bearer',
    'Bearer one-toke',
    'Bearer one-token x',
    'Splunk one-token',
    basic('ada:pw'),
    basic('bob:pw:1'),
    basic('x:one-token'),
    'Basic !!!',
    basic(''),
  ])('refuses %s', (header) => {
    expect(isAuthorised(auth, header)).toBe(false);
  });

  it('accepts the ways of another protocol if it has them', () => {
    const splunk = { tokenScheme: 'splunk', tokenAsPassword: true };
    expect(isAuthorised(auth, 'Splunk one-token', splunk)).toBe(true);
    expect(isAuthorised(auth, basic('x:other-token'), splunk)).toBe(true);
    expect(isAuthorised(auth, basic('x:no-token'), splunk)).toBe(false);
  });

  it('lets nobody in while a secret cannot be read, and takes the rotated one without a restart', () => {
    const fromFile = listenerAuth().parse({ bearer: { file: temp('token') } });
    expect(isAuthorised(fromFile, 'Bearer first-token')).toBe(false);
    writeFileSync(temp('token'), 'first-token\n');
    expect(isAuthorised(fromFile, 'Bearer first-token')).toBe(true);
    writeFileSync(temp('new'), 'second-token\n');
    renameSync(temp('new'), temp('token'));
    expect(isAuthorised(fromFile, 'Bearer first-token')).toBe(false);
    expect(isAuthorised(fromFile, 'Bearer second-token')).toBe(true);
  });

  it('needs one way at least', () => {
    expect(listenerAuth().safeParse({}).error?.issues[0]?.message).toBe('`bearer`, `basic` or both');
  });
});

describe('an address', () => {
  it('says who holds it if it is in use', async () => {
    const first = createServer();
    const port = await new Promise<number>((resolve, reject) =>
      listenOn(
        first,
        { host: '127.0.0.1', port: 0 },
        { onListening: ({ port }) => resolve(port), onError: reject },
      ),
    );
    const error = await new Promise<Error>((resolve, reject) =>
      listenOn(
        createServer(),
        { host: '127.0.0.1', port },
        { onListening: () => reject(), onError: resolve },
      ),
    );
    first.close();
    expect(error.message).toBe(
      `cannot listen on 127.0.0.1:${port}: EADDRINUSE: address already in use, listen; another program, or another ` +
        'collector of this configuration, listens there; choose another address with `listen`',
    );
  });

  it('is shown with brackets if it is of IPv6', () => {
    const refused = Object.assign(new Error(), { code: 'EACCES', syscall: 'listen' });
    expect(listenError(refused, { host: '::1', port: 80 }).message).toMatch(
      /^cannot listen on \[::1\]:80: EACCES/,
    );
  });

  it('is warned of if other machines reach it without auth or TLS', () => {
    const open = { listen: { host: '0.0.0.0', port: 1 } };
    const messages = (settings: Parameters<typeof exposureProblems>[0]) =>
      exposureProblems(settings).map(({ message }) => message);
    expect(messages(open)).toHaveLength(2);
    expect(messages({ ...open, auth: {} })).toEqual([expect.stringContaining('without encryption')]);
    expect(messages({ ...open, tls: {} })).toEqual([expect.stringContaining('anyone there can send events')]);
    expect(messages({ ...open, tls: { client_ca: {} } })).toEqual([]);
    expect(messages({ listen: { host: '127.0.0.2', port: 1 } })).toEqual([]);
  });
});

describe('TLS', () => {
  const settings = (overrides: Record<string, unknown> = {}) =>
    listenerTls().parse({
      cert: { file: temp('server.pem') },
      key: { file: temp('server.key') },
      ...overrides,
    });

  function issue(): CertificateAuthority {
    const authority = new CertificateAuthority(temp(), 'ca');
    authority.issue('server');
    authority.issue('other');
    return authority;
  }

  it('says which setting is wrong, and shows nothing of it', () => {
    issue();
    writeFileSync(temp('text'), 'hunter2');
    const messageOf = (overrides: Record<string, unknown>) => {
      try {
        serverOptions(settings(overrides));
        return undefined;
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(messageOf({})).toBeUndefined();
    expect(messageOf({ client_ca: { file: temp('ca.pem') } })).toBeUndefined();
    const wrong = [
      messageOf({ cert: { file: temp('text') } }),
      messageOf({ key: { file: temp('text') } }),
      messageOf({ key: { file: temp('other.key') } }),
      messageOf({ client_ca: { file: temp('text') } }),
      messageOf({ cert: { file: temp('missing') } }),
    ];
    expect(wrong).toEqual([
      expect.stringMatching(/^`tls.cert` cannot be used: expected PEM/),
      expect.stringMatching(/^`tls.key` cannot be used: expected PEM/),
      '`tls.cert and tls.key` cannot be used: the key is not the one of the certificate',
      '`tls.client_ca` cannot be used: expected certificates as PEM',
      expect.stringContaining('ENOENT'),
    ]);
    expect(wrong.join()).not.toContain('hunter2');
  });

  it('uses a rotated certificate for the next connection, and the last good one while it is broken', async () => {
    issue();
    const tls = settings();
    const problems: string[] = [];
    const server = createTlsServer(serverOptions(tls));
    useCurrentCertificate(server, tls, (problem) => problems.push(problem));
    const port = await new Promise<number>((resolve, reject) =>
      listenOn(
        server,
        { host: '127.0.0.1', port: 0 },
        { onListening: ({ port }) => resolve(port), onError: reject },
      ),
    );
    const nameOf = () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({ port, host: '127.0.0.1', ca: readFileSync(temp('ca.pem')) }, () => {
          resolve(String((socket.getPeerCertificate() as PeerCertificate).subject.CN));
          socket.destroy();
        }).on('error', reject);
      });
    expect(await nameOf()).toBe('server');
    writeFileSync(temp('server.pem'), 'broken');
    expect(await nameOf()).toBe('server');
    expect(await nameOf()).toBe('server');
    expect(problems).toEqual([expect.stringMatching(/^`tls.cert` cannot be used/)]);
    writeFileSync(temp('server.key'), readFileSync(temp('other.key')));
    writeFileSync(temp('server.pem'), readFileSync(temp('other.pem')));
    expect(await nameOf()).toBe('other');
    server.close();
  });
});
