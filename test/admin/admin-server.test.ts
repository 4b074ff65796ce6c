import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { AdminServer, type AdminServerOptions } from '../../src/admin/admin-server.ts';
import { Metrics } from '../../src/admin/metrics.ts';
import { silentLogger } from '../../src/sdk/context.ts';
import { MillraceError } from '../../src/sdk/errors.ts';
import { Secret } from '../../src/sdk/secret.ts';
import type { PipelineHealth } from '../../src/sdk/status.ts';

const LISTEN = { host: '127.0.0.1', port: 0 };
const open: AdminServer[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function serve(options: Partial<AdminServerOptions> = {}): Promise<URL> {
  const server = await AdminServer.listen({
    listen: LISTEN,
    token: undefined,
    hosts: [],
    metrics: new Metrics(() => []),
    health: () => [],
    start: (pipeline) => {
      throw new MillraceError('MILLRACE_PIPELINE_UNKNOWN', `there is no pipeline ${pipeline}`);
    },
    record: async () => ({ status: 404, error: 'there is no such pipeline' }),
    logger: silentLogger,
    ...options,
  });
  open.push(server);
  return new URL(server.address);
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** `fetch` would not send another Host. */
function ask(
  { hostname, port }: URL,
  path: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    })
      .on('error', reject)
      .end(body);
  });
}

const well: PipelineHealth = {
  pipeline: 'main',
  state: 'running',
  isReady: true,
  isStalled: false,
  problems: [],
};
const failing: PipelineHealth = {
  pipeline: 'other',
  state: 'running',
  isReady: false,
  isStalled: false,
  problems: ['forwarder archive has failed 29 times since 10:02 UTC: no space left'],
};

describe('the server', () => {
  it('does not scrape the metrics for a HEAD, which would begin the next measurement', async () => {
    const metrics = new Metrics(() => []);
    let scrapes = 0;
    const text = metrics.text.bind(metrics);
    metrics.text = () => {
      scrapes++;
      return text();
    };
    const url = await serve({ metrics });
    expect(await ask(url, '/metrics', { method: 'HEAD' })).toEqual({ status: 200, body: '' });
    expect(scrapes).toBe(0);
    await ask(url, '/metrics');
    expect(scrapes).toBe(1);
  });

  it('compresses metrics for a client that asks for it', async () => {
    const url = await serve();
    const { headers, bytes } = await new Promise<{ headers: object; bytes: Buffer }>((resolve, reject) => {
      request(
        { hostname: url.hostname, port: url.port, path: '/metrics', headers: { 'accept-encoding': 'gzip' } },
        async (response) => {
          const chunks: Buffer[] = [];
          for await (const chunk of response) chunks.push(chunk as Buffer);
          resolve({ headers: response.headers, bytes: Buffer.concat(chunks) });
        },
      )
        .on('error', reject)
        .end();
    });
    expect(headers).toMatchObject({ 'content-encoding': 'gzip' });
    expect(gunzipSync(bytes).toString()).toContain('millrace_build_info{version=');
  });

  it.each(['identity', 'br', 'gzip;q=0', 'gzip; q=0.0, br', 'xgzip'])(
    'does not compress for a client that accepts %s',
    async (encoding) => {
      const url = await serve();
      const { body } = await ask(url, '/metrics', { headers: { 'accept-encoding': encoding } });
      expect(body).toContain('millrace_build_info{version=');
    },
  );

  it('asks for no more of the metrics than the client reads', async () => {
    const metrics = new Metrics(() => []);
    const PARTS = 2000;
    let asked = 0;
    metrics.text = async function* () {
      for (; asked < PARTS; asked++) yield 'x'.repeat(65_536);
    };
    const url = await serve({ metrics });
    const socket = connect(Number(url.port), url.hostname);
    socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'readable');
    expect(asked).toBeLessThan(PARTS / 2);
    socket.resume();
    await closing(socket);
    expect(asked).toBe(PARTS);
  });

  it('logs why the metrics cannot be read, and nothing if a client goes away', async () => {
    const errors: string[] = [];
    const logger = { ...silentLogger, error: (message: string) => void errors.push(message) };
    const metrics = new Metrics(() => []);
    const url = await serve({ metrics, logger });
    const left = new Promise<void>((resolve) => {
      metrics.text = async function* () {
        try {
          for (;;) yield 'x'.repeat(65_536);
        } finally {
          resolve();
        }
      };
    });
    const socket = connect(Number(url.port), url.hostname);
    socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n');
    socket.once('data', () => socket.destroy());
    await left;
    // biome-ignore lint/correctness/useYield: it fails before its first part
    metrics.text = async function* () {
      throw new MillraceError('MILLRACE_ADMIN', 'no such gauge');
    };
    const answer = await ask(url, '/metrics');
    expect(answer.status).toBe(500);
    expect(answer.body).toContain('the request failed; the log says why');
    expect(errors).toEqual(['admin: a request failed: no such gauge']);
    expect((await ask(url, '/health/live')).status).toBe(200);
  });

  it.each([
    ['http://localhost/health/live', 200],
    ['/health/live?x=/y', 200],
    ['//localhost/health/live', 404],
    ['/health//live', 404],
    ['/HEALTH/LIVE', 404],
    ['/health/live/', 404],
    ['*', 404],
  ])('answers the target %s with %i', async (path, status) => {
    expect((await ask(await serve(), path)).status).toBe(status);
  });

  it('serves metrics, and says whether the process is live and ready', async () => {
    const url = await serve({ health: () => [well] });
    expect(await ask(url, '/metrics')).toMatchObject({
      status: 200,
      body: expect.stringContaining('millrace_build_info{version='),
    });
    expect(await ask(url, '/health/live')).toEqual({ status: 200, body: '{"status":"live"}' });
    const ready = await ask(url, '/health/ready');
    expect(ready.status).toBe(200);
    expect(JSON.parse(ready.body)).toMatchObject({ status: 'ready', reasons: [] });
    expect((await ask(url, '/')).status).toBe(404);
  });

  it('is not ready before the pipelines have been started', async () => {
    const { status, body } = await ask(await serve({ health: () => [] }), '/health/ready');
    expect({ status, ...JSON.parse(body) }).toEqual({
      status: 'not ready',
      reasons: ['no pipeline has been started yet'],
      pipelines: [],
    });
    expect(status).toBe(503);
  });

  it('gives the reasons why it is not ready in words', async () => {
    const url = await serve({ health: () => [well, failing] });
    const { status, body } = await ask(url, '/health/ready');
    expect(status).toBe(503);
    expect(JSON.parse(body)).toEqual({
      status: 'not ready',
      reasons: ['other: forwarder archive has failed 29 times since 10:02 UTC: no space left'],
      pipelines: [
        { pipeline: 'main', state: 'running', ready: true, problems: [] },
        { pipeline: 'other', state: 'running', ready: false, problems: failing.problems },
      ],
    });
  });

  it('refuses names that could be made to point at this machine', async () => {
    const url = await serve({ hosts: ['agent.example.org'] });
    const statusFor = async (host: string) => (await ask(url, '/metrics', { headers: { host } })).status;
    for (const host of ['evil.example', 'localhost.evil.example', 'evil.example:80']) {
      expect(await statusFor(host)).toBe(421);
    }
    expect(await statusFor('a b')).toBe(400);
    for (const host of ['localhost', '127.0.0.1:9464', '[::1]:9464', '10.0.0.7', 'Agent.Example.org:9464']) {
      expect(await statusFor(host)).toBe(200);
    }
  });

  it('refuses pages of other sites', async () => {
    const url = await serve();
    const statusFor = async (origin: string) => (await ask(url, '/metrics', { headers: { origin } })).status;
    expect(await statusFor('http://evil.example')).toBe(403);
    expect(await statusFor('null')).toBe(403);
    expect(await statusFor(url.origin)).toBe(200);
  });

  it('admits only who knows the token, where there is one', async () => {
    const url = await serve({ token: new Secret('t0ken-of-the-admin') });
    const statusFor = async (authorization?: string) =>
      (await ask(url, '/metrics', authorization === undefined ? {} : { headers: { authorization } })).status;
    expect(await statusFor()).toBe(401);
    expect(await statusFor('Bearer wrong')).toBe(401);
    expect(await statusFor('Basic t0ken-of-the-admin')).toBe(401);
    expect(await statusFor('Bearer t0ken-of-the-admin')).toBe(200);
  });

  it('admits nobody if the token cannot be read', async () => {
    const url = await serve({ token: new Secret({ file: '/no/such/token' }) });
    expect((await ask(url, '/metrics', { headers: { authorization: 'Bearer x' } })).status).toBe(401);
  });

  it('takes no other methods, no bodies and no large headers', async () => {
    const url = await serve();
    expect((await ask(url, '/metrics', { method: 'POST' })).status).toBe(405);
    expect((await ask(url, '/metrics', { headers: { 'content-length': '3' }, body: 'abc' })).status).toBe(
      413,
    );
    expect((await ask(url, '/metrics', { headers: { 'x-long': 'x'.repeat(9000) } })).status).toBe(431);
    expect((await ask(url, '/metrics')).status).toBe(200);
  });

  it('closes the connections that are open', async () => {
    const url = await serve();
    const socket = connect(Number(url.port), url.hostname);
    await new Promise((resolve) => socket.once('connect', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {}).resume();
    for (const server of open.splice(0)) server.close();
    await closed;
  });

  it('says which address cannot be listened on', async () => {
    const { port } = await serve();
    await expect(serve({ listen: { host: '127.0.0.1', port: Number(port) } })).rejects.toThrow(
      /^admin: cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE.*; choose another address/,
    );
  });
});

describe('with a token', () => {
  const token = new Secret('t0ken-of-the-admin');
  const headers = { authorization: 'Bearer t0ken-of-the-admin' };

  it('liveness needs none, and shows nothing', async () => {
    const url = await serve({ token, health: () => [failing] });
    const live = { status: 200, body: '{"status":"live"}' };
    expect(await ask(url, '/health/live')).toEqual(live);
    expect(await ask(url, '/health/live', { headers: { authorization: 'Bearer wrong' } })).toEqual(live);
    expect(await ask(url, '/health/live', { headers: { host: 'millrace.svc.cluster.local' } })).toEqual(live);
    expect((await ask(url, '/health/live', { method: 'HEAD' })).status).toBe(200);
    for (const method of ['POST', 'DELETE']) {
      expect((await ask(url, '/health/live', { method })).status).toBe(401);
    }
    for (const path of [
      '/health/live/',
      '/health/live/x',
      '/health',
      '/%68ealth/liv',
      '/start?pipeline=main',
    ]) {
      expect((await ask(url, path)).status).toBe(401);
    }
  });

  it('readiness needs one only for the reasons', async () => {
    let pipelines = [failing];
    const url = await serve({ token, health: () => pipelines });
    expect(await ask(url, '/health/ready')).toEqual({ status: 503, body: '{"status":"not ready"}' });
    expect((await ask(url, '/health/ready', { headers })).body).toContain('no space left');
    expect(await ask(url, '/health/ready', { headers: { authorization: 'Bearer wrong' } })).toMatchObject({
      status: 401,
    });
    pipelines = [well];
    expect(await ask(url, '/health/ready')).toEqual({ status: 200, body: '{"status":"ready"}' });
    pipelines = [];
    expect(await ask(url, '/health/ready')).toEqual({ status: 503, body: '{"status":"not ready"}' });
  });
});

describe('POST /start', () => {
  const start: AdminServerOptions['start'] = (pipeline) => {
    if (pipeline === 'main') return { pipeline, state: 'running', since: '', failures: 0 };
    throw new MillraceError('MILLRACE_PIPELINE_UNKNOWN', 'there is no such pipeline');
  };

  it('starts the pipeline that is named', async () => {
    const url = await serve({ start });
    const post = (path: string, headers = {}) => ask(url, path, { method: 'POST', headers });
    expect(await post('/start?pipeline=main')).toEqual({
      status: 200,
      body: '{"pipeline":"main","state":"running"}',
    });
    expect(await post('/start?pipeline=other')).toMatchObject({ status: 404 });
    expect((await post('/start')).status).toBe(400);
    expect((await post('/start?pipeline=main', { origin: 'http://evil.example' })).status).toBe(403);
    expect((await ask(url, '/start?pipeline=main')).status).toBe(405);
    expect((await ask(url, '/start?pipeline=main', { method: 'PUT' })).status).toBe(405);
  });
});

const closing = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

describe('clients that mean no good', () => {
  const connected = async ({ hostname, port }: URL, text = ''): Promise<Socket> => {
    const socket = connect(Number(port), hostname).on('error', () => {});
    ends.push(() => socket.destroy());
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  };
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  it.each([
    ['at once', (get: string) => [get.repeat(1000)]],
    ['one after the other', (get: string) => Array.from({ length: 50 }, () => get)],
  ])('that send many requests %s, and read nothing, get one answer', async (_, writes) => {
    let asked = 0;
    const health = () => {
      asked++;
      return [well];
    };
    const url = await serve({ health });
    const sockets = await Promise.all([1, 2, 3, 4].map(() => connected(url)));
    const get = `GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const closed = sockets.map((socket) => closing(socket));
    for (const socket of sockets) {
      for (const text of writes(get)) socket.write(text);
      socket.resume();
    }
    await Promise.all(closed);
    expect(asked).toBeLessThanOrEqual(sockets.length);
    expect((await ask(url, '/health/live')).status).toBe(200);
  });

  it.each([
    ['send nothing', ''],
    ['send a request slowly', 'GET /health/live HTTP/1.1\r\nHost: '],
    ['do not read', 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ])('that %s do not keep the health check from its answer, however many they are', async (_, text) => {
    const url = await serve();
    for (let n = 0; n < 300; n++) (await connected(url, text)).pause();
    for (let n = 0; n < 10; n++) {
      expect(await ask(url, '/health/live')).toEqual({ status: 200, body: '{"status":"live"}' });
    }
  });

  it('are disconnected soon if they send slowly or nothing', async () => {
    const url = await serve();
    const from = performance.now();
    const silent = await connected(url);
    const slow = await connected(url, 'GET /health/live HTTP/1.1\r\n');
    const drip = setInterval(() => slow.write('x'), 300);
    ends.push(() => clearInterval(drip));
    await Promise.all([silent, slow].map((socket) => closing(socket.resume())));
    // After 5 s; Node.js would look for them 30 s later.
    expect(performance.now() - from).toBeLessThan(20_000);
  }, 60_000);

  it('keep their connection for one answer alone', async () => {
    const url = await serve();
    const socket = await connected(url, 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    await closing(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*connection: close\r\n[\s\S]*\{"status":"live"\}$/i);
  });
});

describe('recordings', () => {
  const token = new Secret({ env: 'ADMIN_TEST_TOKEN' });
  const headers = { authorization: 'Bearer the-token' };
  const record: AdminServerOptions['record'] = async ({ pipeline, forMs }) => ({
    status: 200,
    text: `${pipeline} for ${forMs} ms`,
  });

  it('are served to those who send the token, and to nobody else', async () => {
    process.env.ADMIN_TEST_TOKEN = 'the-token';
    const url = await serve({ token, record });
    const path = '/record?pipeline=web&for=2m';
    expect(await ask(url, path, { headers })).toEqual({ status: 200, body: 'web for 120000 ms' });
    expect((await ask(url, path)).status).toBe(401);
    expect((await ask(url, path, { headers: { authorization: 'Bearer other' } })).status).toBe(401);
    expect((await ask(url, path, { headers: { ...headers, host: 'evil.example' } })).status).toBe(421);
    expect((await ask(url, path, { headers: { ...headers, origin: 'http://evil.example' } })).status).toBe(
      403,
    );
    expect((await ask(url, path, { headers, method: 'POST' })).status).toBe(405);
    expect((await ask(url, path, { headers, method: 'HEAD' })).status).toBe(405);
    // Without a token, other users of the machine could see events.
    const open = await ask(await serve({ record }), path);
    expect(open).toMatchObject({ status: 403, body: expect.stringContaining('they need a token') });
  });

  it.each(['', 'for=0s', 'for=11m', 'for=601s', 'for=60', 'for=1h', 'for=-1s'])(
    'last no longer than ten minutes: %s',
    async (duration) => {
      process.env.ADMIN_TEST_TOKEN = 'the-token';
      const url = await serve({ token, record });
      const { status } = await ask(url, `/record?pipeline=web&${duration}`, { headers });
      expect(status).toBe(duration === '' ? 200 : 400);
    },
  );
});
