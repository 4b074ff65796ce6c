import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import datadog from '../../../plugins/forward/datadog.ts';
import elasticsearch from '../../../plugins/forward/elasticsearch.ts';
import loki from '../../../plugins/forward/loki.ts';
import otlp from '../../../plugins/forward/otlp.ts';
import s3 from '../../../plugins/forward/s3.ts';
import splunkHec from '../../../plugins/forward/splunk_hec.ts';
import { environmentProxyProblems, proxyRoute } from '../../../plugins/http/proxy.ts';
import type { ForwardPlugin } from '../../../src/sdk/plugin.ts';
import { load, refusal } from '../../config/helpers.ts';
import { CertificateAuthority } from '../../servers/support/certificates.ts';
import { type ConnectProxy, connectProxy } from '../../support/connect-proxy.ts';
import { httpSink } from '../../support/http-sink.ts';
import { contextFor, contextOf, done, ends, events, failure, sendTo, sinkOf, temp } from './http-helpers.ts';

const VARIABLES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);
const TOKEN = `Basic ${Buffer.from('ada:hunter2').toString('base64')}`;

const environment = { ...process.env };
beforeEach(() => {
  for (const name of VARIABLES) delete process.env[name];
});
afterEach(() => {
  for (const name of VARIABLES) delete process.env[name];
  Object.assign(process.env, environment);
});

async function proxyOf(...settings: Parameters<typeof connectProxy>): Promise<ConnectProxy> {
  const proxy = await connectProxy(...settings);
  ends.unshift(() => proxy.close());
  return proxy;
}

/** The URL of a proxy with a user name and a password in it. */
const withCredentials = (proxy: ConnectProxy, credentials: string) =>
  proxy.url.replace('//', `//${credentials}@`);

describe('the proxy of the environment', () => {
  it.each(['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'])('is that of %s', async (variable) => {
    const [sink, proxy] = [await sinkOf(), await proxyOf()];
    process.env[variable] = proxy.url;
    await sendTo(contextOf({ url: `${sink.url}in` }), events(1));
    expect(proxy.asked).toEqual([`POST ${sink.url}in undefined`]);
    expect(sink.requests).toHaveLength(1);
  });

  it('carries no requests for which NO_PROXY has the server', async () => {
    const [sink, proxy] = [await sinkOf(), await proxyOf()];
    process.env.HTTP_PROXY = proxy.url;
    process.env.NO_PROXY = 'example.com, 127.0.0.0/8';
    await sendTo(contextOf({ url: sink.url }), events(1));
    expect(proxy.asked).toEqual([]);
    expect(sink.requests).toHaveLength(1);
  });

  it('gives way to the one of the configuration, to which NO_PROXY does not apply', async () => {
    const [sink, proxy, other] = [await sinkOf(), await proxyOf(), await proxyOf()];
    process.env.HTTP_PROXY = other.url;
    process.env.NO_PROXY = '*';
    await sendTo(contextOf({ url: sink.url, proxy: proxy.url }), events(1));
    expect(proxy.asked).toHaveLength(1);
    expect(other.asked).toEqual([]);
  });

  it('gets the credentials of its URL, and a wrong password is never shown', async () => {
    const [sink, proxy] = [await sinkOf(), await proxyOf(TOKEN)];
    process.env.HTTP_PROXY = withCredentials(proxy, 'ada:hunter2');
    await sendTo(contextOf({ url: sink.url }), events(1));
    process.env.HTTP_PROXY = withCredentials(proxy, 'ada:wr%40ng');
    const error = await failure(sendTo(contextOf({ url: sink.url }), events(1)));
    expect(proxy.asked.at(-1)).toContain(Buffer.from('ada:wr@ng').toString('base64'));
    expect(error.message).toBe(
      `the proxy ${proxy.url} refused a request to ${sink.url.slice(0, -1)}: it answered 407 (Proxy Authentication Required); check the credentials of \`HTTP_PROXY\``,
    );
    expect(error.fatal).toBe(true);
    expect(sink.requests).toHaveLength(1);
  });

  it('is named if it cannot be reached', async () => {
    const sink = await sinkOf();
    const gone = await connectProxy();
    await gone.close();
    process.env.HTTP_PROXY = withCredentials(gone, 'ada:hunter2');
    const error = await failure(sendTo(contextOf({ url: sink.url }), events(1)));
    expect(error.message).toBe(
      `cannot deliver to ${sink.url.slice(0, -1)} through the proxy ${gone.url}: ECONNREFUSED: connection refused, connect`,
    );
  });

  it.each<[string, ForwardPlugin, object]>([
    ['elasticsearch', elasticsearch, { index: 'logs' }],
    ['loki', loki, { labels: { job: 'web' } }],
    ['splunk_hec', splunkHec, { token: 't' }],
    ['otlp', otlp, {}],
    ['datadog', datadog, { api_key: 'k' }],
    ['s3', s3, { bucket: 'logs', access_key_id: 'id', secret_access_key: 'key' }],
  ])('is used by %s too', async (_, plugin, settings) => {
    const [sink, proxy] = [await sinkOf(), await proxyOf()];
    process.env.http_proxy = proxy.url;
    const address = plugin === s3 ? { endpoint: sink.url } : { url: sink.url };
    const ctx = contextFor(plugin, { ...address, ...settings });
    await done(plugin.forwardBatch?.({ ctx, events: events(1), id: 'id-1' as never })).catch(() => {});
    expect(proxy.asked).toHaveLength(sink.requests.length);
    expect(proxy.asked[0]).toMatch(/^P(?:OS|U)T http:\/\/127\.0\.0\.1:/);
  });

  it.each([
    'socks5://127.0.0.1:1080',
    'http://:hunter2@:3128',
    'http://a%zz:hunter2@proxy',
    'ftp://hunter2@x',
  ])('is refused when the configuration is read: %s', async (value) => {
    process.env.HTTPS_PROXY = value;
    const config = `
collectors: { a: { plugin: test } }
forwarders: { out: { plugin: http, url: 'https://logs.example.com/' } }
pipelines: { main: { collect: a, forward: out } }
host_config: {}
`;
    const message = await refusal(config);
    expect(message).toContain('the environment variable `HTTPS_PROXY` names no proxy for HTTP');
    expect(message).not.toContain('hunter2');
    process.env.NO_PROXY = 'example.com';
    await load(config);
  });
});

describe('a tunnel through the proxy of the environment', () => {
  async function secureSink() {
    const folder = temp();
    const authority = new CertificateAuthority(folder, 'ca');
    authority.issue('server');
    const read = (name: string) => readFileSync(`${folder}/${name}`, 'utf8');
    const bodies: string[] = [];
    let connections = 0;
    const server = createServer(
      { cert: read('server.pem'), key: read('server.key') },
      (incoming, response) => {
        let body = '';
        incoming.on('data', (chunk) => {
          body += chunk;
        });
        incoming.on('end', () => {
          bodies.push(body);
          response.end();
        });
      },
    );
    server.on('secureConnection', () => connections++);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.unshift(() => server.close());
    ends.unshift(() => server.closeAllConnections());
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    authority.issue('client');
    return {
      read,
      host,
      url: `https://${host}/`,
      ca: read('ca.pem'),
      bodies,
      connections: () => connections,
    };
  }

  it('carries TLS to the server, over a connection that is used again', async () => {
    const [sink, proxy] = [await secureSink(), await proxyOf(TOKEN)];
    process.env.HTTPS_PROXY = withCredentials(proxy, 'ada:hunter2');
    process.env.HTTP_PROXY = 'http://127.0.0.1:1';
    const ctx = contextOf({ url: sink.url, tls: { ca: sink.ca } });
    for (let n = 0; n < 3; n++) await sendTo(ctx, events(1));
    expect(proxy.asked).toEqual([`CONNECT ${sink.host} ${TOKEN}`]);
    expect(sink.bodies).toHaveLength(3);
    expect(sink.connections()).toBe(1);
  });

  it('does not make a server trusted that is not', async () => {
    const [sink, proxy] = [await secureSink(), await proxyOf()];
    process.env.https_proxy = proxy.url;
    const error = await failure(sendTo(contextOf({ url: sink.url }), events(1)));
    expect(error.message).toContain(
      `cannot deliver to https://${sink.host} through the proxy ${proxy.url}: `,
    );
    expect(sink.bodies).toEqual([]);
  });

  it('is opened by a proxy with TLS that is verified, and does not get the certificate of the client', async () => {
    const sink = await secureSink();
    const keys = { cert: sink.read('server.pem'), key: sink.read('server.key') };
    const proxy = await proxyOf(TOKEN, keys);
    process.env.HTTPS_PROXY = withCredentials(proxy, 'ada:hunter2');
    const own = { cert: sink.read('client.pem'), key: { file: temp('client.key') } };
    await sendTo(contextOf({ url: sink.url, tls: { ca: sink.ca, ...own } }), events(1));
    expect(sink.bodies).toHaveLength(1);
    expect(proxy.certificates).toEqual([]);
    await failure(sendTo(contextOf({ url: sink.url, tls: { verify: false } }), events(1)));
    expect(proxy.asked).toHaveLength(1);
  });

  it('is not opened with wrong credentials, which are not shown', async () => {
    const [sink, proxy] = [await secureSink(), await proxyOf(TOKEN)];
    process.env.https_proxy = withCredentials(proxy, 'ada:wrong');
    const error = await failure(sendTo(contextOf({ url: sink.url, tls: { ca: sink.ca } }), events(1)));
    expect(error.message).toBe(
      `the proxy ${proxy.url} opened no tunnel to https://${sink.host}: it answered 407 (Proxy Authentication Required); check the credentials of \`https_proxy\``,
    );
    expect(error.fatal).toBe(true);
  });

  it('is opened for each request at a time', async () => {
    const sink = await httpSink((_, response) => void setImmediate(() => response.end()));
    ends.unshift(() => sink.close());
    const proxy = await proxyOf();
    process.env.HTTP_PROXY = proxy.url;
    const ctx = contextOf({ url: sink.url, concurrency: 4 });
    await Promise.all(Array.from({ length: 8 }, () => sendTo(ctx, events(1))));
    expect(proxy.asked).toHaveLength(8);
    expect(sink.requests).toHaveLength(8);
  });
});

describe('the proxy for a URL', () => {
  const PROXY = 'http://proxy:3128';
  const isDirect = (url: string, noProxy: string) =>
    proxyRoute(url, undefined, { https_proxy: PROXY, http_proxy: PROXY, no_proxy: noProxy }) === undefined;

  it.each([
    ['https://logs.example.com/', '*'],
    ['https://logs.example.com/', 'other.org,*'],
    ['https://logs.example.com/', 'logs.example.com'],
    ['https://LOGS.example.com./', 'logs.Example.com.'],
    ['https://logs.example.com/', 'example.com'],
    ['https://logs.example.com/', '.example.com'],
    ['https://logs.example.com/', '*.example.com'],
    ['https://example.com/', '.example.com'],
    ['https://logs.example.com/', ' a.org , example.com '],
    ['https://logs.example.com/', 'a.org example.com'],
    ['https://logs.example.com:8443/', 'example.com:8443'],
    ['https://logs.example.com/', 'example.com:443'],
    ['http://logs.example.com/', 'example.com:80'],
    ['http://10.1.2.3:9200/', '10.1.2.3'],
    ['http://10.1.2.3:9200/', '10.1.2.3:9200'],
    ['http://10.1.2.3/', '10.0.0.0/8'],
    ['http://10.1.2.3/', '10.1.2.0/23,192.168.0.0/16'],
    ['http://10.1.2.3/', '0.0.0.0/0'],
    ['http://[::1]/', '::1'],
    ['http://[::1]/', '[::1]'],
    ['http://[::1]:9200/', '[::1]:9200'],
    ['http://[fd00::12]/', 'fd00::/8'],
    ['http://[fd00:0:0::12]/', 'fd00:0:0:0:0:0:0:12'],
    ['http://localhost/', 'localhost'],
  ])('%s is none with NO_PROXY %s', (url, noProxy) => {
    expect(isDirect(url, noProxy)).toBe(true);
  });

  it.each([
    ['https://logs.example.com/', ''],
    ['https://logs.example.com/', ' , '],
    ['https://notexample.com/', 'example.com'],
    ['https://notexample.com/', '.example.com'],
    ['https://example.com.org/', 'example.com'],
    ['https://example.com/', 'logs.example.com'],
    ['https://logs.example.com/', 'example.com:8443'],
    ['https://logs.example.com:8443/', 'example.com:443'],
    ['https://logs.example.com/', '.'],
    ['https://logs.example.com/', '*.'],
    ['http://10.1.2.3/', '10.1.2'],
    ['http://10.1.2.3/', '2.3'],
    ['http://10.1.2.3/', '10.2.0.0/16'],
    ['http://10.1.2.3/', '10.0.0.0/33'],
    ['http://10.1.2.3/', '10.0.0.0/'],
    ['http://10.1.2.3/', 'fd00::/8'],
    ['http://[fd00::12]/', '10.0.0.0/8'],
    ['http://[fd00::12]/', 'fe80::/10'],
    ['http://[::1]:9200/', '[::1]:9300'],
  ])('%s is there with NO_PROXY %j', (url, noProxy) => {
    expect(isDirect(url, noProxy)).toBe(false);
  });

  it('comes from the first variable that has a value', () => {
    const originOf = (url: string, env: Readonly<Record<string, string>>) =>
      proxyRoute(url, undefined, env)?.origin;
    expect(originOf('https://x/', { http_proxy: 'http://p' })).toBeUndefined();
    expect(originOf('http://x/', { https_proxy: 'http://p' })).toBeUndefined();
    expect(originOf('http://x/', { http_proxy: '', HTTP_PROXY: 'http://p' })).toBe('http://p');
    expect(originOf('http://x/', { http_proxy: 'http://p', HTTP_PROXY: 'http://q' })).toBe('http://p');
    expect(originOf('http://x/', { HTTP_PROXY: 'http://q', ALL_PROXY: 'http://r' })).toBe('http://q');
    expect(originOf('https://x/', { https_proxy: 'proxy.local:3128' })).toBe('http://proxy.local:3128');
    expect(originOf('https://x/', { https_proxy: 'https://ada:pw@proxy.local' })).toBe('https://proxy.local');
  });

  it('is judged for the URLs only that need it', () => {
    expect(environmentProxyProblems('http://x/', { https_proxy: 'socks5://p' })).toEqual([]);
    expect(environmentProxyProblems('https://x/', { https_proxy: 'socks5://p' })).toHaveLength(1);
  });
});
