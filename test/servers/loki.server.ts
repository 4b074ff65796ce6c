import { afterAll, beforeAll, expect, it } from '@jest/globals';
import loki from '../../plugins/forward/loki.ts';
import { toJsonLine } from '../../src/sdk/serialise.ts';
import { contextFor, done, event, events } from '../plugins/forward/http-helpers.ts';
import { skipWithout } from './support/start-server.ts';
import { startVictoriaLogs, type VictoriaLogs } from './support/victoria-logs.ts';

skipWithout('victoria-logs')('loki to VictoriaLogs', () => {
  let server: VictoriaLogs;
  beforeAll(async () => {
    server = await startVictoriaLogs();
  });
  afterAll(() => server.stop());

  it('stores lines in streams, with the fields of JSON', async () => {
    const labels = { job: 'a', level: { field: 'level' } };
    const ctx = contextFor(loki, { url: `${server.url}/insert`, labels });
    const parsed = { timestamp: '2026-01-01T00:00:00.000Z', data: { level: 'warn', n: 7 } };
    await done(
      loki.forwardBatch?.({ ctx, events: [event(1), event(2, { level: 'info' }), parsed], id: 'x-1' }),
    );
    const rows = await server.rows();
    expect(rows.find(({ _msg }) => _msg === 'line 1')).toMatchObject({
      _stream: '{job="a"}',
      _time: '2026-01-01T00:00:00.000001Z',
    });
    expect(rows.find(({ _msg }) => _msg === 'line 2')?._stream).toBe('{job="a",level="info"}');
    expect(rows.find(({ n }) => n === '7')?._stream).toBe('{job="a",level="warn"}');
  });

  it('stores what came as bytes, in its order', async () => {
    const ctx = contextFor(loki, {
      url: `${server.url}/insert`,
      labels: { job: 'bytes' },
      compression: 'gzip',
    });
    const bytes = Buffer.from(
      events(100)
        .map((each) => toJsonLine(each))
        .join(''),
    );
    await done(loki.forwardJsonLines?.({ ctx })?.(bytes, 'x-2'));
    const rows = await server.rows('{job="bytes"} | sort by (_time)');
    expect(rows.map(({ _msg }) => _msg)).toEqual(events(100).map(({ data }) => data.line));
  });
});
