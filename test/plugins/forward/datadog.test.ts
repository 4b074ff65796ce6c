import { expect, it } from '@jest/globals';
import datadog from '../../../plugins/forward/datadog.ts';
import { status } from '../../support/http-sink.ts';
import { contextFor, done, event, events, failure, sinkOf } from './http-helpers.ts';

const settings = { api_key: 'hunter2' };

it('datadog sends logs with a message and the attributes of all', async () => {
  const sink = await sinkOf(status(202, {}, '{}'));
  const own = {
    ...settings,
    url: sink.url,
    service: 'web',
    source: 'nginx',
    hostname: 'h1',
    tags: ['env:prod', 'team:a'],
  };
  const ctx = contextFor(datadog, own);
  const parsed = { timestamp: '2026-01-01T00:00:00.000Z', data: { service: 'api', n: 1 } };
  await done(datadog.forwardBatch?.({ ctx, events: [event(0), parsed], id: 'x' }));
  expect(sink.requests[0]).toMatchObject({ method: 'POST', path: '/api/v2/logs' });
  expect(sink.requests[0]?.headers).toMatchObject({
    'dd-api-key': 'hunter2',
    'content-type': 'application/json',
  });
  const all = {
    ...{ ddsource: 'nginx', ddtags: 'env:prod,team:a', hostname: 'h1', service: 'web' },
    timestamp: 1767225600000,
  };
  expect(JSON.parse(sink.requests[0]?.body ?? '')).toEqual([
    { ...all, message: 'line 0' },
    { ...all, message: '{"service":"api","n":1}' },
  ]);
});

it.each([
  [413, 400],
  [400, 400],
])('datadog splits a batch after %i, and gives up only the event that is refused', async (whole, single) => {
  const sink = await sinkOf((request, response, incoming) => {
    const logs = JSON.parse(request.body) as unknown[];
    const code = !request.body.includes('line 3') ? 202 : logs.length > 1 ? whole : single;
    status(code, {}, 'line 3')(request, response, incoming);
  });
  const ctx = contextFor(datadog, { ...settings, url: sink.url });
  const error = await failure(done(datadog.forwardBatch?.({ ctx, events: events(5), id: 'x' })));
  expect(error.failedEvents).toMatchObject([{ index: 3, permanent: true }]);
  expect(error.message).not.toContain('line 3');
});

it('datadog waits while the key is wrong', async () => {
  const sink = await sinkOf(status(403));
  const ctx = contextFor(datadog, { ...settings, url: sink.url });
  const error = await failure(done(datadog.forwardBatch?.({ ctx, events: events(2), id: 'x' })));
  expect(error).toMatchObject({ permanent: false, fatal: true });
  expect(error.message).not.toContain('hunter2');
});
