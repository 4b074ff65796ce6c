import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, jest } from '@jest/globals';
import http from '../../../plugins/collect/http.ts';
import { BodyBudget } from '../../../plugins/http-in/request-body.ts';
import { toJsonLine } from '../../../src/sdk/serialise.ts';
import { eventually } from '../../support/eventually.ts';
import { Collector } from './http-helpers.ts';

const NDJSON = { 'content-type': 'application/x-ndjson' };
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const TEXT = { 'content-type': 'text/plain' };

const start = (entry: Record<string, unknown> = {}, options = {}) =>
  Collector.start(http, { plugin: 'http', ...entry }, options);
const line = (text: string) => ({ line: text, source: '/' });

describe('http: bodies', () => {
  it.each([
    ['an object a line', NDJSON, '{"a":1}\n\n{"b":2}\r\n', [{ a: 1 }, { b: 2 }]],
    ['a line without an end', NDJSON, '{"a":1}', [{ a: 1 }]],
    [
      'another name of JSON lines',
      { 'content-type': 'application/jsonl' },
      '{"a":1}\n{"b":2}',
      [{ a: 1 }, { b: 2 }],
    ],
    ['an object', JSON_TYPE, '{\n"a": 1\n}', [{ a: 1 }]],
    ['an array', JSON_TYPE, '[{"a":1},{"b":2}]', [{ a: 1 }, { b: 2 }]],
    ['an empty array', JSON_TYPE, '[]', []],
    ['lines of JSON that are called JSON', JSON_TYPE, '{"a":1}\n{"b":2}', [{ a: 1 }, { b: 2 }]],
    ['JSON of a vendor', { 'content-type': 'application/vnd.x+json' }, '{"a":1}', [{ a: 1 }]],
    ['digits that JavaScript has not', NDJSON, '{"id":9007199254740993}', [{ id: '9007199254740993' }]],
    ['the last of two fields of a name', NDJSON, '{"a":1,"a":2}', [{ a: 2 }]],
    ['a mark at its start', NDJSON, '\ufeff{"a":1}', [{ a: 1 }]],
    ['text', TEXT, 'one\r\n\n two ü\n\nthree', [line('one'), line(' two ü'), line('three')]],
    ['text with a mark', TEXT, '\ufeffone\n', [line('one')]],
    ['JSON in text', {}, '{"a":1}\n', [line('{"a":1}')]],
    ['nothing', TEXT, '', []],
    ['nothing of JSON', NDJSON, '\n', []],
  ])('take %s', async (_, headers, body, data) => {
    const collector = await start();
    const answer = await collector.post(body, headers as Record<string, string>);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ events: data.length });
    expect(collector.data).toEqual(data);
  });

  it('keep a field `__proto__` what it is', async () => {
    const collector = await start();
    await collector.post('{"__proto__":{"polluted":1},"a":1}', NDJSON);
    expect(JSON.stringify(collector.data)).toBe('[{"__proto__":{"polluted":1},"a":1}]');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it.each([
    [NDJSON, '{"a":1}\n\n{"hunter2"\n', 'line 3 of the body is not JSON, or nested too deeply'],
    [NDJSON, '{"a":1}\n"hunter2"', 'line 2 of the body is not a JSON object'],
    [NDJSON, '[{"a":1}]', 'line 1 of the body is not a JSON object'],
    [
      NDJSON,
      `{"a":${'['.repeat(100)}${']'.repeat(100)}}`,
      'line 1 of the body is not JSON, or nested too deeply',
    ],
    [NDJSON, '{"a":1}{"b":2}', 'line 1 of the body is not JSON, or nested too deeply'],
    [JSON_TYPE, '[{"a":1},2]', 'item 2 of the body is not a JSON object'],
    [JSON_TYPE, 'hunter2', 'line 1 of the body is not JSON, or nested too deeply'],
    [JSON_TYPE, '12', 'line 1 of the body is not a JSON object'],
  ])('of %j that hold %s are refused, by their place alone', async (headers, body, error) => {
    const collector = await start();
    const answer = await collector.post(body, headers);
    expect([answer.status, await answer.json()]).toEqual([400, { error }]);
    expect(collector.batches).toEqual([]);
    expect(collector.logs.join()).not.toContain('hunter2');
  });

  it('that are not UTF-8 are no JSON, and characters of text', async () => {
    const collector = await start();
    const bytes = Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]);
    expect((await collector.post(bytes, NDJSON)).status).toBe(400);
    expect((await collector.post(bytes, TEXT)).status).toBe(200);
    expect(collector.data).toEqual([line('{"a":"\ufffd"}')]);
  });

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('may be compressed as %s', async (encoding, compress) => {
    const collector = await start();
    const answer = await collector.post(compress('one\ntwo\n'), { ...TEXT, 'content-encoding': encoding });
    expect(answer.status).toBe(200);
    expect(collector.data).toEqual([line('one'), line('two')]);
  });

  it('are refused if they are too large, also when decompressed, or compressed in another way', async () => {
    const collector = await start({ max_body_bytes: 10_000 });
    const statusOf = async (body: string | Uint8Array, headers: Record<string, string>) =>
      (await collector.post(body, { ...TEXT, ...headers })).status;
    const gzipped = { 'content-encoding': 'gzip' };
    expect(await statusOf('x'.repeat(10_000), {})).toBe(200);
    expect(await statusOf('x'.repeat(10_001), {})).toBe(413);
    expect(await statusOf(gzipSync('x'.repeat(10_000_000)), gzipped)).toBe(413);
    expect(await statusOf('no gzip', gzipped)).toBe(400);
    expect(await statusOf(gzipSync('cut off').subarray(0, 20), gzipped)).toBe(400);
    expect(await statusOf('x', { 'content-encoding': 'snappy' })).toBe(415);
    expect(await statusOf('x', { 'content-encoding': 'constructor' })).toBe(415);
    expect(await statusOf('x', { 'content-type': 'multipart/form-data; boundary=x' })).toBe(415);
    expect(collector.data).toHaveLength(1);
  });

  it('of an http forwarder are events again', async () => {
    const collector = await start({ format: 'events' });
    const event = { timestamp: '2026-01-01T00:00:00.000Z', data: { n: 1 } };
    expect((await collector.post(toJsonLine(event).repeat(2))).status).toBe(200);
    expect(collector.batches[0]?.events).toEqual([event, event]);
    const refused = await collector.post('{"data":{}}\n');
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('line 1')]);
  });
});

describe('http: answers', () => {
  it('wait for the acknowledgement', async () => {
    const collector = await start({}, { outcome: undefined });
    let isAnswered = false;
    const answer = collector.post('one\n', TEXT).then((response) => {
      isAnswered = true;
      return response;
    });
    await eventually(() => collector.batches.length === 1);
    // Another request has been through meanwhile.
    expect((await collector.post('', TEXT)).status).toBe(200);
    expect(isAnswered).toBe(false);
    collector.batches[0]?.acknowledge?.('dead_lettered');
    expect((await answer).status).toBe(200);
  });

  it.each([
    ['ask to repeat what a full buffer has refused', 'rejected', 429, '5'],
    ['ask to send less than the whole buffer at a time, and not to repeat it', 'too_large', 413, null],
    ['do not ask to repeat what failed for good', 'refused', 200, null],
    ['ask to repeat what could not be delivered for now', 'failed', 429, '5'],
  ] as const)('%s', async (_name, outcome, status, retryAfter) => {
    const collector = await start({}, { outcome });
    const answer = await collector.post('one\n', TEXT);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, retryAfter]);
  });

  it('ask to repeat a request that found no room', async () => {
    const collector = await start({}, { room: 0 });
    const answer = await collector.post('one\n', TEXT);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '5']);
    expect(collector.batches).toEqual([]);
    collector.makeRoom(10);
    expect((await collector.post('two\n', TEXT)).status).toBe(200);
    expect(collector.data).toEqual([line('two')]);
  });

  it('ask to repeat a request that is not acknowledged in time', async () => {
    const collector = await start({ timeout: 0.2 }, { outcome: undefined });
    const answer = await collector.post('one\n', TEXT);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    // It comes too late, and changes nothing.
    collector.batches[0]?.acknowledge?.('forwarded');
  });

  it.each([
    ['lines', TEXT, Array.from({ length: 5000 }, (_, n) => `${n}\n`).join('')],
    ['JSON', JSON_TYPE, '{"n":1}\n'.repeat(5000)],
  ])('are of one batch, also if there is less room: %s', async (_name, headers, body) => {
    const collector = await start({}, { room: 1, outcome: undefined });
    const answer = collector.post(body, headers);
    await eventually(() => collector.batches.length > 0);
    collector.room = 0;
    const other = collector.post('other\n', TEXT);
    expect(collector.batches.map(({ size }) => size)).toEqual([5000]);
    collector.batches[0]?.acknowledge?.('forwarded');
    expect(await (await answer).json()).toEqual({ events: 5000 });
    expect((await other).status).toBe(429);
  });

  it('name what can be asked for', async () => {
    const collector = await start({ path: '/in' });
    const url = `http://127.0.0.1:${collector.port}`;
    expect((await fetch(`${url}/in`)).status).toBe(405);
    expect((await collector.post('x', TEXT)).status).toBe(404);
    expect((await collector.post('x', TEXT, '/in?x=1')).status).toBe(200);
  });

  it('are logged ever more rarely', async () => {
    const collector = await start();
    for (let n = 0; n < 12; n++) await collector.post('{', NDJSON);
    expect(collector.logs.filter((text) => text.includes('refused a request with 400'))).toHaveLength(4);
  });
});

describe('http: who may send', () => {
  const auth = { bearer: 'secret-token', basic: { username: 'ada', password: 'pass-word' } };

  it('is checked before the body is read', async () => {
    const collector = await start({ auth });
    const socket = await collector.raw('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nstart');
    await eventually(() => socket.received.includes('\r\n\r\n'));
    expect(socket.received).toMatch(/^HTTP\/1.1 401 /);
    const waiting = await collector.raw(
      'POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n',
    );
    await eventually(() => waiting.received !== '');
    expect(waiting.received).toMatch(/^HTTP\/1.1 401 /);
    socket.destroy();
    waiting.destroy();
  });

  it.each([
    [{ bearer: auth.bearer }, 'Bearer realm="millrace"'],
    [{ basic: auth.basic }, 'Basic realm="millrace"'],
    [auth, 'Bearer realm="millrace", Basic realm="millrace"'],
  ])('is told how, by what is configured: %#', async (auth, challenge) => {
    const collector = await start({ auth });
    for (const headers of [{}, { authorization: 'Bearer wrong-token' }])
      expect((await collector.post('x', { ...TEXT, ...headers })).headers.get('www-authenticate')).toBe(
        challenge,
      );
    const forbidden = await collector.post(
      '{"event":"x"}',
      { authorization: 'Splunk wrong-token' },
      '/services/collector',
    );
    expect([forbidden.status, forbidden.headers.has('www-authenticate')]).toEqual([403, false]);
  });

  it('sends a token, or a user and a password', async () => {
    const collector = await start({ auth });
    const statusOf = async (authorization: string) =>
      (await collector.post('x', { ...TEXT, authorization })).status;
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    expect(await statusOf('Bearer secret-token')).toBe(200);
    expect(await statusOf(basic('ada:pass-word'))).toBe(200);
    expect(await statusOf(basic('ada:secret-token'))).toBe(401);
    expect(await statusOf('Splunk secret-token')).toBe(401);
    expect(collector.logs.join()).not.toContain('secret-token');
  });

  it('is told to go on where a client asks for that', async () => {
    const collector = await start();
    const socket = await collector.raw(
      'POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n',
    );
    await eventually(() => socket.received.startsWith('HTTP/1.1 100 Continue'));
    socket.write('one\n');
    await eventually(() => socket.received.includes('HTTP/1.1 200'));
    expect(collector.data).toEqual([line('one')]);
  });
});

describe('http: hostile clients', () => {
  const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n';

  it.each([
    ['a chunk of a wrong length', `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\none\n\r\n0\r\n\r\n`],
    ['two lengths', `${HEAD}Content-Length: 4\r\nContent-Length: 5\r\n\r\none\n`],
    [
      'a length and chunks',
      `${HEAD}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n0\r\n\r\n`,
    ],
    ['no HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a head without end', `${HEAD}X: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('that send %s get 4xx, and no event is taken', async (_, text) => {
    const collector = await start();
    const socket = await collector.raw(text);
    await eventually(() => socket.isClosed);
    expect(socket.received).toMatch(/^HTTP\/1.1 4\d\d /);
    expect(collector.batches).toEqual([]);
    expect((await collector.post('two\n', TEXT)).status).toBe(200);
  });

  it('that leave in the middle of a body leave nothing', async () => {
    const collector = await start({ max_open_bytes: 2000, max_body_bytes: 2000 });
    for (let n = 0; n < 5; n++) {
      const socket = await collector.raw(`${HEAD}Content-Length: 2000\r\n\r\n${'x'.repeat(1000)}`);
      socket.destroy();
      await eventually(() => socket.isClosed);
    }
    await eventually(async () => true);
    // Their bytes are free again.
    let status = 0;
    while (status !== 200) status = (await collector.post('y'.repeat(1999), TEXT)).status;
    expect(collector.data).toEqual([line('y'.repeat(1999))]);
  });

  it('that leave before their answer leave their events', async () => {
    const collector = await start({}, { outcome: undefined });
    const socket = await collector.raw(`${HEAD}Content-Length: 4\r\n\r\none\n`);
    await eventually(() => collector.batches.length === 1);
    socket.destroy();
    collector.batches[0]?.acknowledge?.('forwarded');
    expect((await collector.post('', TEXT)).status).toBe(200);
    expect(collector.data).toEqual([line('one')]);
  });

  it('that send slowly are cut off', async () => {
    const collector = await start({ timeout: 0.5 });
    const socket = await collector.raw(`${HEAD}Content-Length: 2000\r\n\r\nx`);
    await eventually(() => socket.isClosed);
    expect(socket.received).toMatch(/^HTTP\/1.1 408 /);
    expect(collector.batches).toEqual([]);
  });

  it('that hold connections open keep nobody out', async () => {
    const collector = await start({ max_connections: 5 });
    const held: Awaited<ReturnType<Collector['raw']>>[] = [];
    for (let n = 0; n < 20; n++) held.push(await collector.raw('POST / HTTP/1.1\r\nX: '));
    // Those that were just opened have their time.
    let status: number | undefined;
    while (status !== 200)
      status = await collector.post('one\n', TEXT).then(
        ({ status }) => status,
        () => undefined,
      );
    expect(held.filter(({ isClosed }) => !isClosed).length).toBeLessThanOrEqual(5);
    for (const socket of held) socket.destroy();
  });

  it('cannot fill the memory by many requests', async () => {
    const collector = await start({ max_open_bytes: 5000, max_body_bytes: 2000 }, { outcome: undefined });
    const open = [1, 2].map(() => collector.post('x'.repeat(2000), TEXT));
    await eventually(() => collector.batches.length === 2);
    const refused = await collector.post('x'.repeat(2000), TEXT);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    for (const batch of collector.batches) batch.acknowledge?.('forwarded');
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('cannot fill the memory by small bodies that grow (%s)', async (encoding, compress) => {
    const KIB = 1024;
    const take = jest.spyOn(BodyBudget.prototype, 'take');
    const collector = await start({ max_open_bytes: 4000 * KIB }, { outcome: undefined });
    const bomb = compress(Buffer.alloc(1500 * KIB, 'x'));
    const headers = { ...TEXT, 'content-encoding': encoding };
    const statuses: number[] = [];
    const answers = Array.from({ length: 20 }, async () => {
      statuses.push((await collector.post(bomb, headers)).status);
    });
    await eventually(() => statuses.length + collector.batches.length === 20);
    expect(collector.batches.length).toBeLessThanOrEqual(2);
    expect(new Set(statuses)).toEqual(new Set([429]));
    // None was decompressed further than the budget allowed.
    expect(Math.max(...take.mock.calls.map(([bytes]) => bytes))).toBeLessThan(100 * KIB);
    take.mockRestore();
    for (const batch of collector.batches) batch.acknowledge?.('forwarded');
    await Promise.all(answers);
    // All that they held is free again.
    const last = collector.post('x'.repeat(3500 * KIB), TEXT);
    expect((await collector.acknowledgeUntil(last)).status).toBe(200);
  });

  it.each([
    ['objects of an array', JSON_TYPE, `[${'{},'.repeat(9999)}{}]`, '/'],
    ['objects of lines', NDJSON, '{}\n'.repeat(10_000), '/'],
    ['events of HEC', JSON_TYPE, '{"event":1}'.repeat(10_000), '/services/collector'],
    ['lines of HEC', TEXT, 'x\n'.repeat(100), `/services/collector/raw?source=${'x'.repeat(10_000)}`],
  ])('cannot fill the memory by %s that take more there than in a body', async (_, headers, body, path) => {
    const collector = await start({ max_open_bytes: 500_000 });
    const refused = await collector.post(body, headers, path);
    expect([refused.status, await refused.text()]).toEqual([413, expect.stringContaining('max_open_bytes')]);
    expect(collector.batches).toEqual([]);
    const roomy = await start({ max_open_bytes: 1_800_000 }, { outcome: undefined });
    const first = roomy.post(body, headers, path);
    await eventually(() => roomy.batches.length > 0);
    expect([429, 503]).toContain((await roomy.post(body, headers, path)).status);
    expect((await roomy.acknowledgeUntil(first)).status).toBe(200);
  });

  it('that go on after a refusal are not read for ever', async () => {
    const collector = await start({ max_body_bytes: 100_000 });
    const socket = await collector.raw(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `2710\r\n${'x'.repeat(10_000)}\r\n`;
    for (let n = 0; n < 1000 && !socket.isClosed; n++) {
      socket.write(chunk);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually(() => socket.isClosed);
    expect(socket.received).toMatch(/^HTTP\/1.1 413 /);
  });

  it('are served beside 1,000 others', async () => {
    const collector = await start();
    const open: Awaited<ReturnType<Collector['raw']>>[] = [];
    for (let n = 0; n < 1000; n++)
      open.push(await collector.raw(`${HEAD}Content-Length: 4\r\n\r\n${n + 1000}`));
    await eventually(() => open.every(({ received }) => received.startsWith('HTTP/1.1 200')));
    expect(open.filter(({ isClosed }) => isClosed)).toEqual([]);
    expect(new Set(collector.data.map((data) => (data as { line: string }).line)).size).toBe(1000);
    for (const socket of open) socket.destroy();
  });
});

describe('http: a stop', () => {
  it('answers what is acknowledged, and asks to repeat the rest', async () => {
    const collector = await start({}, { room: 1, outcome: undefined });
    const first = collector.post('one\n', TEXT);
    await eventually(() => collector.batches.length === 1);
    collector.room = 0;
    // Whoever is told to go on has been let in.
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n';
    const waiting = await collector.raw(head);
    const slow = await collector.raw(head);
    const idle = await collector.raw('');
    await eventually(() => waiting.received.includes('100') && slow.received.includes('100'));
    waiting.write('two\n');
    slow.write('th');
    collector.stop();
    expect(collector.isComplete).toBe(true);
    slow.write('r\n');
    await eventually(
      () => waiting.received.includes('HTTP/1.1 503') && slow.received.includes('HTTP/1.1 503'),
    );
    await eventually(() => waiting.isClosed && slow.isClosed && idle.isClosed);
    await expect(collector.post('four', TEXT)).rejects.toThrow();
    collector.batches[0]?.acknowledge?.('forwarded');
    expect((await first).status).toBe(200);
    expect(collector.data).toEqual([line('one')]);
    collector.end();
  });

  it('at its deadline asks to repeat what is not acknowledged', async () => {
    const collector = await start({}, { outcome: undefined });
    const answer = collector.post('one\n', TEXT);
    await eventually(() => collector.batches.length === 1);
    collector.close();
    expect((await answer).status).toBe(503);
  });

  it('frees the port at once', async () => {
    const first = await start();
    first.close();
    const second = await start({ listen: first.port });
    expect(second.error).toBeUndefined();
  });
});

describe('http: a wrong configuration', () => {
  it('says that the port is in use', async () => {
    const { port } = await start();
    expect((await start({ listen: port })).error).toMatchObject({
      message: expect.stringMatching(/^cannot listen on 127.0.0.1:\d+: EADDRINUSE/),
    });
  });

  it('cannot be used with --once', async () => {
    expect((await start({}, { once: true })).error).toMatchObject({
      ...{ fatal: true, permanent: true },
      message: 'it never ends, so it cannot be used with --once',
    });
  });

  it.each([
    { path: 'logs' },
    { path: '/a b' },
    { listen: 'x' },
    { format: 'xml' },
    { auth: {} },
    { timeout: 0 },
  ])('is refused: %j', (fields) => {
    expect(http.get_config_schema().safeParse({ plugin: 'http', ...fields }).success).toBe(false);
  });
});
