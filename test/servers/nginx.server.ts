import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Trial } from '../faults/support/trial.ts';
import { connectProxy } from '../support/connect-proxy.ts';
import { type HttpSink, httpSink } from '../support/http-sink.ts';
import { CertificateAuthority } from './support/certificates.ts';
import { freePort, type Server, skipWithout, startServer } from './support/start-server.ts';

const LINES = 500;

skipWithout('nginx', 'openssl')('http to nginx, which ends TLS and requires a client certificate', () => {
  let folder = '';
  let nginx: Server;
  let sink: HttpSink;
  let url = '';
  let expiredUrl = '';
  const file = (name: string) => join(folder, name);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-nginx-'));
    const authority = new CertificateAuthority(folder, 'ca');
    authority.issue('server');
    authority.issue('client');
    authority.issue('second');
    authority.issue('expired', -1);
    new CertificateAuthority(folder, 'other');
    sink = await httpSink();
    const [port, expiredPort] = [await freePort(), await freePort()];
    url = `https://127.0.0.1:${port}/in`;
    expiredUrl = `https://127.0.0.1:${expiredPort}/in`;
    const server = (listen: number, certificate: string) => `server {
      listen 127.0.0.1:${listen} ssl;
      ssl_certificate ${certificate}.pem; ssl_certificate_key ${certificate}.key;
      ssl_client_certificate ca.pem; ssl_verify_client on;
      location / { proxy_pass ${sink.url}; proxy_set_header x-client $ssl_client_s_dn; }
    }`;
    writeFileSync(
      file('nginx.conf'),
      `daemon off; pid nginx.pid; error_log stderr; events {}
      http { access_log off; client_max_body_size 20k; ${server(port, 'server')} ${server(expiredPort, 'expired')} }`,
    );
    const args = ['-p', folder, '-c', 'nginx.conf'];
    const answers = () =>
      fetch(url.replace('https', 'http')).then(
        () => true,
        () => false,
      );
    nginx = await startServer('nginx', args, answers);
  });
  afterAll(async () => {
    await nginx.stop();
    await sink.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The trial with the names of its certificate files, and the outcome of its answers. */
  const trialWith = (tls: string, to = url) => {
    const trial = new Trial(`
collectors:
  log: { plugin: file, paths: ['in/*.log'], backfill: true }
processors:
  mask: { plugin: regex_mask, rules: { KEY: 'key_[0-9a-f]{8}-[0-9a-f]{8}_yek' } }
forwarders:
  out: { plugin: http, url: '${to}', tls: { ${tls} } }
pipelines:
  main: { collect: log, process: mask, forward: out }
host_config: {}
`);
    sink.answer = ({ body }, response) => {
      trial.append('out/out.jsonl', body);
      response.end();
    };
    trial.appendLines('in/a.log', LINES);
    return trial;
  };
  const whole = (trial: Trial) => ({ lost: 0, doubled: 0, torn: 0, leaks: [], seed: trial.oracle.seed });
  const client = () =>
    `ca: { file: ${file('ca.pem')} }, cert: { file: ${file('client.pem')} }, key: { file: ${file('client.key')} }`;
  beforeEach(() => {
    sink.requests.splice(0);
  });

  it('sends every line once, and bodies that are too large for nginx in parts', async () => {
    const trial = trialWith(client());
    expect(await trial.runOnce()).toMatchObject({ code: 0 });
    expect(trial.verdict()).toEqual(whole(trial));
    expect(sink.requests.length).toBeGreaterThan(1);
    expect(sink.requests[0]?.headers['x-client']).toBe('CN=client');
  });

  it('takes a certificate that was replaced while it runs', async () => {
    for (const end of ['pem', 'key']) copyFileSync(file(`client.${end}`), file(`rotated.${end}`));
    const trial = trialWith(client().replaceAll('client.', 'rotated.'));
    const child = await trial.run();
    await trial.allDelivered();
    for (const end of ['pem', 'key']) copyFileSync(file(`second.${end}`), file(`rotated.${end}`));
    trial.appendLines('in/a.log', 10);
    await trial.allDelivered();
    child.kill('SIGTERM');
    expect(await child.ended()).toMatchObject({ code: 0 });
    expect(sink.requests.map(({ headers }) => headers['x-client'])).toEqual(
      expect.arrayContaining(['CN=client', 'CN=second']),
    );
    expect(trial.verdict()).toEqual(whole(trial));
  });

  it('sends every line once through a proxy that opens tunnels, which sees nothing of them', async () => {
    const token = `Basic ${Buffer.from('ada:hunter2').toString('base64')}`;
    const proxy = await connectProxy(token);
    writeFileSync(file('proxy-password'), 'wrong');
    const password = `{ file: ${file('proxy-password')} }`;
    const trial = trialWith(
      `${client()} }, proxy: { url: '${proxy.url}', username: ada, password: ${password}`,
    );
    try {
      const refused = await trial.runOnce('--give-up-after', '1');
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(
        `the proxy ${proxy.url} opened no tunnel to ${new URL(url).origin}: it answered 407 (Proxy Authentication Required); check the credentials of \`proxy\``,
      );
      expect(sink.requests).toEqual([]);
      writeFileSync(file('proxy-password'), 'hunter2');
      expect(await trial.runOnce()).toMatchObject({ code: 0 });
      expect(trial.verdict()).toEqual(whole(trial));
      expect(sink.requests[0]?.headers['x-client']).toBe('CN=client');
      expect(proxy.asked.at(-1)).toBe(`CONNECT ${new URL(url).host} ${token}`);
      expect(refused.stderr).not.toContain('hunter2');
    } finally {
      await proxy.close();
    }
  });

  it.each([
    ['an expired certificate', client, () => expiredUrl, 'CERT_HAS_EXPIRED: certificate has expired'],
    ['the wrong authority', () => client().replace('ca.pem', 'other.pem'), () => url, 'certificate'],
    ['no authority', () => client().replace(/^.*?\}, /, ''), () => url, 'certificate'],
  ])(
    '%s: no byte is sent, the log says why, and a later run sends every line',
    async (_, tls, to, reason) => {
      const trial = trialWith(tls(), to());
      const { code, stderr } = await trial.runOnce('--give-up-after', '1');
      expect(code).toBe(1);
      expect(stderr).toContain('cannot deliver to https://127.0.0.1:');
      expect(stderr).toContain(reason);
      expect(stderr).not.toContain('PRIVATE KEY');
      expect(sink.requests).toEqual([]);
      trial.write('p.yaml', trial.text('p.yaml').replace(to(), url).replace(tls(), client()));
      expect(await trial.runOnce()).toMatchObject({ code: 0 });
      expect(trial.verdict()).toEqual(whole(trial));
    },
  );

  it('without a client certificate: nginx answers 400, and the events wait', async () => {
    const trial = trialWith(`ca: { file: ${file('ca.pem')} }`);
    const { code, stderr } = await trial.runOnce('--give-up-after', '1');
    expect(code).toBe(1);
    expect(stderr).toMatch(/answered 400 \(Bad Request\) to a batch of \d+ events/);
    expect(sink.requests).toEqual([]);
  });
});
