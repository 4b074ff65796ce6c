import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { Observable } from 'rxjs';
import http from '../../../plugins/forward/http.ts';
import { halves, LineDocuments } from '../../../plugins/http/documents.ts';
import { toJsonLine } from '../../../src/sdk/serialise.ts';
import { type Answerer, httpSink, inTurn, status } from '../../support/http-sink.ts';
import { contextOf, done, ends, event, events, failure, sendTo, sinkOf, temp } from './http-helpers.ts';

describe('http: requests', () => {
  it.each([
    ['ndjson', {}, 'application/x-ndjson', [event(0), event(1)].map((each) => toJsonLine(each)).join('')],
    ['json_array', { format: 'json_array' }, 'application/json', JSON.stringify([event(0), event(1)])],
    ['lines', { format: 'lines' }, 'text/plain; charset=utf-8', 'line 0\nline 1\n'],
    [
      'flat',
      { payload: 'flat' },
      'application/x-ndjson',
      '{"timestamp":"2026-01-01T00:00:00.000Z","line":"line 0"}\n{"timestamp":"2026-01-01T00:00:00.000Z","line":"line 1"}\n',
    ],
  ])('hold the events as %s, also compressed', async (_, settings, type, body) => {
    const sink = await sinkOf();
    await sendTo(contextOf({ url: `${sink.url}in?x=1`, ...settings }), events(2));
    await sendTo(contextOf({ url: sink.url, method: 'PUT', compression: 'gzip', ...settings }), events(2));
    const [plain, gzipped] = sink.requests;
    expect(plain).toMatchObject({ method: 'POST', path: '/in?x=1', body });
    expect(plain?.headers).toMatchObject({ 'content-type': type, 'user-agent': 'millrace/0.0.0' });
    expect(gzipped).toMatchObject({ method: 'PUT', path: '/', body });
    expect(gzipped?.headers['content-encoding']).toBe('gzip');
  });

  it('are made of JSON lines without events, and the same', async () => {
    const sink = await sinkOf();
    const bytes = Buffer.from(
      events(3)
        .map((each) => toJsonLine(each))
        .join(''),
    );
    const forms = ['ndjson', 'json_array'].flatMap((format) => [{ format }, { format, payload: 'flat' }]);
    for (const form of forms) {
      const ctx = contextOf({ url: sink.url, ...form });
      await done(http.forwardJsonLines?.({ ctx })?.(bytes, 'id' as never));
      await sendTo(ctx, events(3));
    }
    const bodies = sink.requests.map(({ body }) => body);
    expect(bodies.filter((_, n) => n % 2 === 0)).toEqual(bodies.filter((_, n) => n % 2 === 1));
    expect(http.forwardJsonLines?.({ ctx: contextOf({ url: sink.url, format: 'lines' }) })).toBeUndefined();
  });

  it('keep a line one line, and send an event without one as JSON', async () => {
    const sink = await sinkOf();
    const odd = { timestamp: '2026-01-01T00:00:00.000Z', data: { n: 1 } };
    await sendTo(contextOf({ url: sink.url, format: 'lines' }), [event(1, { line: 'a\r\nb' }), odd]);
    expect(sink.requests[0]?.body).toBe(`a\\r\\nb\n${toJsonLine(odd)}`);
  });

  it('are authorised, with a token that is read again when its file changes', async () => {
    const sink = await sinkOf();
    const file = temp('token');
    writeFileSync(file, 'first\n');
    const basic = { username: 'ada', password: 'hunter2' };
    const contexts = [
      contextOf({ url: sink.url, auth: { bearer: { file } } }),
      contextOf({ url: sink.url, auth: { basic } }),
      contextOf({
        url: sink.url,
        auth: { header: { name: 'X-Api-Key', value: 'k1' } },
        headers: { 'X-Team': 'web' },
      }),
    ];
    for (const ctx of contexts) await sendTo(ctx, events(1));
    writeFileSync(file, 'second one\n');
    await sendTo(contexts[0] as never, events(1));
    expect(sink.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first',
      `Basic ${Buffer.from('ada:hunter2').toString('base64')}`,
      undefined,
      'Bearer second one',
    ]);
    expect(sink.requests[2]?.headers).toMatchObject({ 'x-api-key': 'k1', 'x-team': 'web' });
  });

  it('never have a header with a line break in it', async () => {
    const sink = await sinkOf();
    const error = await failure(
      sendTo(contextOf({ url: sink.url, auth: { bearer: 'a\r\nX-Evil: 1' } }), events(1)),
    );
    expect(error.message).toMatch(
      /^the value of the header `authorization` has characters that no header may have; it needs characters of/,
    );
    expect(error.fatal).toBe(true);
  });

  it('share connections, and close them with the run', async () => {
    const sockets = new Set<unknown>();
    const sink = await sinkOf((_, response, incoming) => {
      sockets.add(incoming.socket);
      response.end();
    });
    const run = new AbortController();
    const ctx = { ...contextOf({ url: sink.url }), signal: run.signal } as never;
    for (let n = 0; n < 5; n++) await sendTo(ctx, events(1));
    expect(sockets.size).toBe(1);
    const closed = once([...sockets][0] as never, 'close');
    run.abort();
    await closed;
  });

  it('go through a proxy, with its credentials', async () => {
    const sink = await sinkOf();
    const seen: string[] = [];
    const proxy = createServer((incoming, response) => {
      seen.push(`${incoming.method} ${incoming.url} ${incoming.headers['proxy-authorization']}`);
      const { host, pathname } = new URL(incoming.url ?? '');
      const [name = '', port] = host.split(':');
      const upstream = connect(Number(port), name, () => {
        upstream.write(
          `${incoming.method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
        );
        upstream.resume().on('end', () => response.end());
        incoming.resume();
      });
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    ends.unshift(() => proxy.close());
    ends.unshift(() => proxy.closeAllConnections());
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await sendTo(contextOf({ url: sink.url, proxy: url }), events(1));
    await sendTo(contextOf({ url: sink.url, proxy: { url, username: 'ada', password: 'pw' } }), events(1));
    const token = `Basic ${Buffer.from('ada:pw').toString('base64')}`;
    expect(seen).toEqual([`POST ${sink.url} undefined`, `POST ${sink.url} ${token}`]);
    expect(sink.requests).toHaveLength(2);
  });
});

describe('http: connections', () => {
  it('that are refused say so', async () => {
    const sink = await httpSink();
    await sink.close();
    const error = await failure(sendTo(contextOf({ url: sink.url }), events(1)));
    expect(error.message).toBe(
      `cannot deliver to ${sink.url.slice(0, -1)}: ECONNREFUSED: connection refused, connect`,
    );
    expect(error.permanent).toBe(false);
  });

  it.each([
    ['before the answer', (_: unknown, response: { destroy(): void }) => response.destroy()],
    [
      'in the middle of the answer',
      (_: unknown, response: import('node:http').ServerResponse) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('x', () => response.destroy());
      },
    ],
  ])('that break %s fail the batch', async (_, answer) => {
    const sink = await sinkOf(answer as Answerer);
    const error = await failure(sendTo(contextOf({ url: sink.url }), events(1)));
    expect(error.message).toMatch(/^cannot deliver to http:\/\/127\.0\.0\.1:\d+: \w+: /);
  });

  it('that are accepted and never answered time out', async () => {
    const sink = await sinkOf(() => {});
    const error = await failure(sendTo(contextOf({ url: sink.url, timeout: 0.1 }), events(1)));
    expect(error.message).toBe(`${sink.url.slice(0, -1)} did not answer within 0.1 s`);
  });

  it('are aborted when nobody waits any more', async () => {
    const aborted = new Promise((resolve) => {
      sinkOf((_, __, incoming) => incoming.socket.once('close', resolve)).then((sink) => {
        const sent = http.forwardBatch?.({
          ctx: contextOf({ url: sink.url }),
          events: events(1),
          id: '' as never,
        });
        const subscription = (sent as Observable<never>).subscribe();
        ends.unshift(() => subscription.unsubscribe());
        const wait = setInterval(() => sink.requests.length > 0 && subscription.unsubscribe(), 5);
        ends.unshift(() => clearInterval(wait));
      });
    });
    await aborted;
  });
});

describe('http: statistics', () => {
  it('count the bytes of requests that succeeded', async () => {
    const sink = await sinkOf(inTurn(status(503), status(200)));
    const counted: number[] = [];
    const ctx = contextOf({ url: sink.url });
    const counting = { ...ctx, stats: { ...ctx.stats, bytes: (count: number) => void counted.push(count) } };
    await failure(sendTo(counting, events(2)));
    await sendTo(counting, events(2));
    expect(counted).toEqual([
      Buffer.byteLength(
        events(2)
          .map((each) => toJsonLine(each))
          .join(''),
      ),
    ]);
  });
});

describe('http: documents', () => {
  it('are halved until one is left', () => {
    const all = LineDocuments.in(Buffer.from('a\nbb\nccc\n'));
    const [first, second] = halves(all);
    const shown = [first, second].map((part) => [String(part.body()), part.count, part.first]);
    expect(shown).toEqual([
      ['a\nbb\n', 2, 0],
      ['ccc\n', 1, 2],
    ]);
    expect(halves(first)[1]).toMatchObject({ count: 1, first: 1 });
  });
});
