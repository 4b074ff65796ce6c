import { describe, expect, it } from '@jest/globals';
import http from '../../../plugins/collect/http.ts';
import { Collector } from './http-helpers.ts';

const AUTH = { authorization: 'Splunk hec-token' };

const start = (options = {}) =>
  Collector.start(http, { plugin: 'http', auth: { bearer: 'hec-token' } }, options);

describe('http: Splunk HEC', () => {
  it('takes events one after the other, with and without space between them', async () => {
    const collector = await start();
    const events = [
      '{"event":"text with } and \\" and {","time":1700000000.123,"host":"web1","sourcetype":"app","fields":{"a":"b"}}',
      '{"event":{"level":"info","nested":{"a":[{}]}},"time":"1700000000.5"}',
      '{"event":[1,2]}',
      '{"event":{"hec":1,"a":2},"index":"main"}',
    ];
    const expected = [
      { line: 'text with } and " and {', hec: { host: 'web1', sourcetype: 'app', fields: { a: 'b' } } },
      { level: 'info', nested: { a: [{}] } },
      { event: [1, 2] },
      { event: { hec: 1, a: 2 }, hec: { index: 'main' } },
    ];
    for (const between of ['', '\n', ' \r\n ']) {
      const answer = await collector.post(events.join(between), AUTH, '/services/collector/event');
      expect([answer.status, await answer.json()]).toEqual([200, { text: 'Success', code: 0 }]);
    }
    expect(collector.data).toEqual([...expected, ...expected, ...expected]);
    expect(collector.batches[0]?.events.slice(0, 2).map(({ timestamp }) => timestamp)).toEqual([
      '2023-11-14T22:13:20.123Z',
      '2023-11-14T22:13:20.500Z',
    ]);
  });

  it.each([
    ['', 400, { text: 'No data', code: 5 }],
    [
      '{"event":"a"}{"evnt":"hunter2"}',
      400,
      { text: 'Event field is required', code: 12, 'invalid-event-number': 1 },
    ],
    ['{"event":""}', 400, { text: 'Event field cannot be blank', code: 13, 'invalid-event-number': 0 }],
    ['{"event":"a"} hunter2', 400, { text: 'Invalid data format', code: 6, 'invalid-event-number': 1 }],
    ['{"event":"a"', 400, { text: 'Invalid data format', code: 6, 'invalid-event-number': 0 }],
    ['}{', 400, { text: 'Invalid data format', code: 6, 'invalid-event-number': 0 }],
    ['[{"event":"a"}]', 400, { text: 'Invalid data format', code: 6, 'invalid-event-number': 0 }],
    [
      '{"event":"a","time":"hunter2"}',
      400,
      { text: 'Invalid data format', code: 6, 'invalid-event-number': 0 },
    ],
  ])('refuses %j as Splunk does', async (body, status, expected) => {
    const collector = await start();
    const answer = await collector.post(body, AUTH, '/services/collector');
    expect([answer.status, await answer.json()]).toEqual([status, expected]);
    expect(collector.batches).toEqual([]);
    expect(collector.logs.join()).not.toContain('hunter2');
  });

  it('takes tokens as its senders send them', async () => {
    const collector = await start();
    const post = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await collector.post(
        '{"event":"a"}',
        headers as Record<string, string>,
        '/services/collector',
      );
      return [answer.status, ((await answer.json()) as { code: number }).code];
    };
    expect(await post('Splunk hec-token')).toEqual([200, 0]);
    expect(await post('Bearer hec-token')).toEqual([200, 0]);
    expect(await post(`Basic ${Buffer.from('any:hec-token').toString('base64')}`)).toEqual([200, 0]);
    expect(await post('Splunk other')).toEqual([403, 4]);
    expect(await post()).toEqual([401, 2]);
  });

  it('takes raw lines, with what the query says of them', async () => {
    const collector = await start();
    const post = (query: string) => collector.post('one\r\ntwo', AUTH, `/services/collector/raw${query}`);
    expect((await post('')).status).toBe(200);
    expect((await post('/1.0?sourcetype=nginx&host=web1')).status).toBe(200);
    const hec = { host: 'web1', sourcetype: 'nginx' };
    expect(collector.data).toEqual([
      { line: 'one', source: '/services/collector/raw' },
      { line: 'two', source: '/services/collector/raw' },
      { line: 'one', hec },
      { line: 'two', hec },
    ]);
  });

  it('says that it is healthy without a token', async () => {
    const collector = await start();
    for (const path of ['health', 'health/1.0']) {
      const answer = await fetch(`http://127.0.0.1:${collector.port}/services/collector/${path}`);
      expect([answer.status, await answer.json()]).toEqual([200, { text: 'HEC is healthy', code: 17 }]);
    }
  });

  it('gives a channel an id for what is acknowledged', async () => {
    const collector = await start();
    const headers = { ...AUTH, 'x-splunk-request-channel': 'c1' };
    const post = async (body: string, path: string) =>
      (await collector.post(body, headers, `/services/collector${path}`)).json();
    expect(await post('{"event":"a"}', '')).toEqual({ text: 'Success', code: 0, ackId: 0 });
    expect(await post('{"event":"a"}', '')).toEqual({ text: 'Success', code: 0, ackId: 1 });
    expect(await post('{"acks":[0,1]}', '/ack')).toEqual({ acks: { 0: true, 1: true } });
    expect(await post('{}', '/ack')).toMatchObject({ code: 6 });
  });

  it('is busy when there is no room, and when the buffer is full: senders discard events after 429', async () => {
    for (const options of [{ room: 0 }, { outcome: 'rejected' }, { outcome: 'failed' }] as const) {
      const collector = await start(options);
      const answer = await collector.post('{"event":"a"}', AUTH, '/services/collector');
      expect([answer.status, await answer.json()]).toEqual([
        503,
        { text: expect.stringMatching(/busy/), code: 9 },
      ]);
      expect(answer.headers.get('retry-after')).toBe('5');
    }
  });

  it('is busy or refuses a token with the status that the log has too', async () => {
    const busy = await start({ room: 0 });
    await busy.post('{"event":"a"}', AUTH, '/services/collector');
    expect(busy.logs.join('\n')).toMatch(/refused a request with 503: .*\(requests with 503 so far: 1\)/);
    const wrong = await start();
    await wrong.post('{"event":"a"}', { ...AUTH, authorization: 'Splunk wrong' }, '/services/collector');
    expect(wrong.logs.join('\n')).toContain('refused a request with 403: invalid credentials');
  });

  it('takes what fails for good, and refuses for ever what is larger than the buffer', async () => {
    const headers = { ...AUTH, 'x-splunk-request-channel': 'c1' };
    const post = async (outcome: 'refused' | 'too_large') => {
      const answer = await (await start({ outcome })).post('{"event":"a"}', headers, '/services/collector');
      return [answer.status, await answer.json(), answer.headers.get('retry-after')];
    };
    expect(await post('refused')).toEqual([200, { text: 'Success', code: 0, ackId: 0 }, null]);
    expect(await post('too_large')).toEqual([413, { text: expect.stringMatching(/buffer/), code: 27 }, null]);
  });

  it('says in its health that there is no room, until there is', async () => {
    const collector = await start({ room: 0 });
    const health = async () => {
      const answer = await fetch(`http://127.0.0.1:${collector.port}/services/collector/health`);
      return [answer.status, ((await answer.json()) as { code: number }).code];
    };
    expect(await health()).toEqual([200, 17]);
    expect((await collector.post('{"event":"a"}', AUTH, '/services/collector')).status).toBe(503);
    expect(await health()).toEqual([503, 18]);
    collector.makeRoom(10);
    expect(await health()).toEqual([200, 17]);
  });
});
