import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import zlib from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import s3 from '../../../plugins/forward/s3.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import type { PartlyFailedCall } from '../../../src/sdk/plugin.ts';
import { toJsonLine } from '../../../src/sdk/serialise.ts';
import { refusal } from '../../config/helpers.ts';
import { type Answerer, inTurn, status } from '../../support/http-sink.ts';
import { contextFor, done, event, events, failure, sinkOf, temp } from './http-helpers.ts';

const ID = '20261126T143000.123Z-one';
const hasZstd = 'zstdCompress' in zlib;
const FOLDER = '/logs/2026/11/26/14/';
const KEYS = { access_key_id: 'AKID', secret_access_key: 'sesame' };

interface Call {
  readonly id?: string;
  readonly restOf?: PartlyFailedCall;
}

const contextOf = (settings: object, pipeline = {}) =>
  Object.assign(contextFor(s3, { bucket: 'logs', ...KEYS, ...settings }), {
    pipeline_config: { pipelines: { test: pipeline } },
  });
const send = (ctx: PipelineRunContext<never>, batch = events(3), { id = ID, restOf }: Call = {}) =>
  done(s3.forwardBatch?.({ ctx, events: batch, id, restOf }));
const sendLines = (ctx: PipelineRunContext<never>, batch = events(3), { id = ID, restOf }: Call = {}) => {
  const lines = Buffer.from(batch.map((each) => toJsonLine(each)).join(''));
  return done(s3.forwardJsonLines?.({ ctx })?.(lines, id, restOf));
};
const refuse = (code: number, name: string): Answerer =>
  status(code, {}, `<?xml version="1.0"?><Error><Code>${name}</Code><Message>hunter2</Message></Error>`);
/** Answers 413 to more than `most` lines. */
const takes =
  (most: number): Answerer =>
  (request, response) =>
    response.writeHead(request.body.split('\n').length - 1 > most ? 413 : 200).end();

const variables = { ...process.env };
afterEach(() => {
  for (const name of ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']) {
    if (variables[name] === undefined) delete process.env[name];
    else process.env[name] = variables[name];
  }
});

describe('s3: objects', () => {
  it.each([
    ['events', send],
    ['lines', sendLines],
  ])('hold the %s of a call, under the time of its id', async (_, sendThem) => {
    const sink = await sinkOf();
    await sendThem(contextOf({ endpoint: sink.url }));
    const [request] = sink.requests;
    expect(request).toMatchObject({ method: 'PUT', path: `${FOLDER}${ID}.ndjson.gz` });
    expect(request?.body).toBe(
      events(3)
        .map((one) => toJsonLine(one))
        .join(''),
    );
    expect(request?.headers).toMatchObject({
      'if-none-match': '*',
      'content-type': 'application/x-ndjson',
      'content-encoding': 'gzip',
      'x-amz-content-sha256': expect.stringMatching(/^[\da-f]{64}$/),
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/us-east-1\/s3\/aws4_request/,
      ),
    });
  });

  it('hold all of a call that hardly gets smaller', async () => {
    const sink = await sinkOf();
    const batch = [event(1, { random: randomBytes(3_000_000).toString('latin1') }), ...events(3)];
    await sendLines(contextOf({ endpoint: sink.url }), batch);
    expect(sink.requests[0]?.body === batch.map((one) => toJsonLine(one)).join('')).toBe(true);
  });

  it.each([
    ['events', send],
    ['lines', sendLines],
  ])('hold flat %s without compression if asked for', async (_, sendThem) => {
    const sink = await sinkOf();
    await sendThem(contextOf({ endpoint: sink.url, payload: 'flat', compression: 'none', prefix: 'a/b-' }), [
      event(1, { n: 2 }),
    ]);
    expect(sink.requests[0]?.path).toBe(`/logs/a/b-2026/11/26/14/${ID}.ndjson`);
    expect(sink.requests[0]?.headers['content-encoding']).toBeUndefined();
    expect(sink.requests[0]?.body).toBe('{"timestamp":"2026-01-01T00:00:00.000Z","line":"line 1","n":2}\n');
  });

  it('have the path of the endpoint in front, and characters that URLs do not have escaped', async () => {
    const sink = await sinkOf();
    await send(contextOf({ endpoint: `${sink.url}store/`, prefix: "é +%'(1)*!?#&/" }), [event(1)], {
      id: 'own',
    });
    expect(sink.requests[0]?.path).toBe('/store/logs/%C3%A9%20%2B%25%27%281%29%2A%21%3F%23%26/own.ndjson.gz');
  });

  it('are named by what they have of a call if the server finds it too large', async () => {
    const sink = await sinkOf(takes(3));
    await send(contextOf({ endpoint: sink.url }), events(6));
    expect(sink.requests.map(({ path }) => path.slice(FOLDER.length))).toEqual(
      ['', '-0-2', '-3-5'].map((part) => `${ID}${part}.ndjson.gz`),
    );
  });

  it('have the names of their call when its rest is sent', async () => {
    const sink = await sinkOf();
    const restOf = { id: ID, events: events(6), left: [3, 4, 5] };
    for (const sendThem of [send, sendLines]) {
      await sendThem(contextOf({ endpoint: sink.url }), events(6).slice(3), { id: 'second', restOf });
      expect(sink.requests.at(-1)?.path).toBe(`${FOLDER}${ID}-3-5.ndjson.gz`);
    }
  });

  it('have the same name whether an event without JSON is still among them or not', async () => {
    const sink = await sinkOf(inTurn(status(503), status(412)));
    const ctx = contextOf({ endpoint: sink.url });
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const batch = [event(0), event(1, { circular }), event(2)];
    const error = await failure(send(ctx, batch));
    expect(error.failedEvents).toMatchObject([
      { index: 1, permanent: true },
      { index: 0, permanent: false },
      { index: 2, permanent: false },
    ]);
    await send(ctx, [event(0), event(2)], { id: 'second', restOf: { id: ID, events: batch, left: [0, 2] } });
    expect(sink.requests[1]?.path).toBe(sink.requests[0]?.path);
  });

  it('are not split with `exactly_once`', async () => {
    const sink = await sinkOf(takes(3));
    const ctx = contextOf({ endpoint: sink.url }, { exactly_once: true });
    const error = await failure(send(ctx, events(6)));
    expect(error).toMatchObject({ permanent: false, failedEvents: undefined });
    expect(error.message).toContain(
      '413 (Payload Too Large) to a batch of 6 events; let the server accept larger objects',
    );
    expect(sink.requests).toHaveLength(1);
  });
});

describe('s3: answers', () => {
  const answered = async (answer: Answerer, settings: object = {}) => {
    const sink = await sinkOf(answer);
    const error = await failure(send(contextOf({ endpoint: sink.url, ...settings })));
    expect(JSON.stringify(error) + error.message).not.toContain('hunter2');
    return error;
  };

  it('take an object that is there for delivered', async () => {
    const sink = await sinkOf(refuse(412, 'PreconditionFailed'));
    await send(contextOf({ endpoint: sink.url }));
    expect(sink.requests).toHaveLength(1);
  });

  it.each([
    [409, 'ConditionalRequestConflict'],
    [429, 'TooManyRequests'],
    [503, 'SlowDown'],
    [500, 'InternalError'],
    [400, 'RequestTimeout'],
    [400, 'BadDigest'],
  ])('repeat the call after %d %s', async (code, name) => {
    const error = await answered(refuse(code, name));
    expect(error).toMatchObject({ permanent: false, failedEvents: undefined });
    expect(error).not.toHaveProperty('fatal', true);
    expect(error.message).toContain(name);
  });

  it('repeat it after the time that the server asks for', async () => {
    expect(await answered(status(503, { 'retry-after': '7' }))).toMatchObject({ retryAfter: 7 });
  });

  it.each([
    [403, 'AccessDenied', 's3:PutObject'],
    [403, 'InvalidAccessKeyId', 'check `access_key_id` and `secret_access_key`'],
    [403, 'SignatureDoesNotMatch', 'check `access_key_id` and `secret_access_key`'],
    [403, 'RequestTimeTooSkewed', 'the clock of this machine is wrong'],
    [400, 'ExpiredToken', 'renew the credentials'],
    [400, 'AuthorizationHeaderMalformed', 'set `region`'],
    [301, 'PermanentRedirect', 'set `region`'],
    [404, 'NoSuchBucket', 'create the bucket'],
    [400, 'InvalidRequest', 'check `bucket`'],
    [403, '', 'check `bucket`'],
  ])('give no event up for %d %s', async (code, name, hint) => {
    const error = await answered(refuse(code, name));
    expect(error).toMatchObject({ permanent: false, fatal: true, failedEvents: undefined });
    expect(error.message).toContain(hint);
    expect(error.message).toContain(name);
  });

  it('give no single event up either', async () => {
    const sink = await sinkOf(refuse(400, 'InvalidArgument'));
    expect(await failure(send(contextOf({ endpoint: sink.url }), events(1)))).toMatchObject({
      permanent: false,
    });
  });

  it('split a call after EntityTooLarge, and give up an event that is too large alone', async () => {
    const sink = await sinkOf(
      inTurn(refuse(400, 'EntityTooLarge'), status(200), refuse(400, 'EntityTooLarge')),
    );
    expect(await failure(send(contextOf({ endpoint: sink.url }), events(2)))).toMatchObject({
      failedEvents: [{ index: 1, permanent: true }],
    });
  });
});

describe('s3: credentials', () => {
  const headersOf = async (settings: object) => {
    const sink = await sinkOf();
    const config = { plugin: 's3', bucket: 'logs', endpoint: sink.url, ...settings };
    const ctx = contextFor(s3, config);
    await send(ctx);
    return sink.requests[0]?.headers ?? {};
  };

  it('are those of the environment by default, with its token', async () => {
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'ENVID',
      AWS_SECRET_ACCESS_KEY: 'k',
      AWS_SESSION_TOKEN: 'token',
      AWS_REGION: 'eu-north-1',
    });
    expect(await headersOf({})).toMatchObject({
      'x-amz-security-token': 'token',
      authorization: expect.stringContaining('ENVID/'),
    });
    expect((await headersOf({})).authorization).toContain('/eu-north-1/s3/');
    expect(await headersOf(KEYS)).not.toHaveProperty('x-amz-security-token');
    expect(await headersOf({ ...KEYS, session_token: 'own' })).toMatchObject({
      'x-amz-security-token': 'own',
    });
  });

  it('are read again from files for each request', async () => {
    const sink = await sinkOf();
    const file = (name: string, text: string) => {
      fs.writeFileSync(join(temp(), name), text);
      return { file: join(temp(), name) };
    };
    const ctx = contextOf({
      endpoint: sink.url,
      access_key_id: file('id', 'FIRST\n'),
      session_token: file('token', 'one'),
    });
    await send(ctx);
    file('id', 'SECOND');
    file('token', 'another');
    await send(ctx);
    expect(
      sink.requests.map(({ headers }) => /Credential=(\w+)/.exec(headers.authorization ?? '')?.[1]),
    ).toEqual(['FIRST', 'SECOND']);
    expect(sink.requests[1]?.headers['x-amz-security-token']).toBe('another');
  });

  it('that no header can have are not shown', async () => {
    const sink = await sinkOf();
    for (const settings of [{ access_key_id: 'hun\nter2' }, { session_token: 'hun\u20acter2' }]) {
      const error = await failure(send(contextOf({ endpoint: sink.url, ...settings })));
      expect(error).toMatchObject({ fatal: true });
      expect(error.message).toMatch(/^the value of `\w+` has spaces/);
    }
    expect(sink.requests).toHaveLength(0);
  });

  it('sign as Amazon documents it', async () => {
    const sink = await sinkOf();
    await send(contextOf({ endpoint: sink.url, headers: { 'x-amz-storage-class': 'GLACIER' } }));
    const { authorization = '', ...headers } = sink.requests[0]?.headers ?? {};
    expect(authorization).toContain(
      'SignedHeaders=content-encoding;host;if-none-match;x-amz-content-sha256;x-amz-date;x-amz-storage-class, ',
    );
    expect(headers['x-amz-date']).toMatch(/^\d{8}T\d{6}Z$/);
  });
});

describe('s3: configuration', () => {
  const config = (entry: string) => `
collectors: { a: { plugin: file, paths: [a.log] } }
forwarders: { out: { plugin: s3, access_key_id: a, secret_access_key: b, ${entry} } }
pipelines: { main: { collect: a, forward: out } }
host_config: {}
`;

  it.each([
    ['region: eu-west-1', 'bucket'],
    ['bucket: logs', '`region` is required'],
    ["bucket: 'a/b', region: eu-west-1", 'a name of a bucket'],
    ["bucket: logs, region: 'eu.west'", 'a name of a region'],
    ['bucket: logs, region: eu-west-1, prefix: /logs', 'without a slash in front'],
    ["bucket: logs, region: eu-west-1, prefix: 'a/../b'", 'a start of keys'],
    ["bucket: logs, endpoint: 'https://a:b@s3'", 'a URL without a user name'],
    ['bucket: logs, region: eu-west-1, headers: { x: "a\\nb" }', 'it is the value of a header'],
  ])('refuses %s', async (entry, message) => {
    delete process.env.AWS_REGION;
    expect(await refusal(config(entry))).toContain(message);
  });

  (hasZstd ? it.skip : it)('refuses zstd where Node.js does not have it', async () => {
    expect(await refusal(config('bucket: logs, region: eu-west-1, compression: zstd'))).toContain(
      '`zstd` requires Node.js 22.15 or later',
    );
  });

  (hasZstd ? it : it.skip)('compresses by zstd where Node.js has it', async () => {
    const sink = await sinkOf();
    await send(contextOf({ endpoint: sink.url, compression: 'zstd' }));
    expect(sink.requests[0]?.path).toBe(`${FOLDER}${ID}.ndjson.zst`);
    expect(sink.requests[0]?.headers['content-encoding']).toBe('zstd');
  });
});
