import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import elasticsearch from '../../plugins/forward/elasticsearch.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from '../faults/support/trial.ts';
import { contextFor, done, event, events, failure } from '../plugins/forward/http-helpers.ts';
import { type OpenSearch, startOpenSearch } from './support/opensearch.ts';
import { skipWithout } from './support/start-server.ts';
import { startVictoriaLogs, type VictoriaLogs } from './support/victoria-logs.ts';

const send = (settings: object, batch: readonly ReturnType<typeof event>[], id: string) =>
  done(elasticsearch.forwardBatch?.({ ctx: contextFor(elasticsearch, settings), events: batch, id }));

skipWithout('opensearch')('elasticsearch to OpenSearch', () => {
  let server: OpenSearch;
  beforeAll(async () => {
    server = await startOpenSearch();
  });
  afterAll(() => server.stop());
  let indices = 0;
  const newIndex = () => `logs-${indices++}`;

  it('stores the fields of events at the top level', async () => {
    const index = newIndex();
    await send({ url: server.url, index }, [event(1, { n: 7, deep: { a: [1, 2] } })], 'one');
    expect(await server.documents(index)).toMatchObject([
      {
        _id: 'one-0',
        _source: { '@timestamp': '2026-01-01T00:00:00.000Z', line: 'line 1', n: 7, deep: { a: [1, 2] } },
      },
    ]);
  });

  it('stores events once that are sent again', async () => {
    const index = newIndex();
    await send({ url: server.url, index }, events(3), 'same');
    await send({ url: server.url, index, compression: 'gzip' }, events(5), 'same');
    expect(await server.count(index)).toBe(5);
    await send({ url: server.url, index, id: 'none' }, events(5), 'same');
    expect(await server.count(index)).toBe(10);
  });

  it('says which events of a batch it cannot store, and stores the others', async () => {
    const index = newIndex();
    await send({ url: server.url, index }, [event(0, { n: 1 })], 'a');
    const batch = [event(1, { n: 'hunter2' }), event(2, { n: 3 }), event(3, { _id: 'x' }), event(4)];
    const error = await failure(send({ url: server.url, index }, batch, 'b'));
    expect(error.failedEvents).toMatchObject([
      { index: 0, permanent: true, reason: expect.stringContaining('400 (mapper_parsing_exception)') },
      { index: 2, permanent: true },
    ]);
    expect(JSON.stringify(error) + error.message).not.toContain('hunter2');
    expect(await server.count(index)).toBe(3);
  });

  it('waits for a closed index, one that is missing and a wrong path', async () => {
    const index = newIndex();
    await send({ url: server.url, index }, events(1), 'a');
    await server.request('POST', `${index}/_close`);
    const closed = await failure(send({ url: server.url, index }, events(2), 'b'));
    expect(closed.failedEvents).toMatchObject([
      { index: 0, permanent: false, reason: expect.stringContaining('index_closed_exception') },
      { index: 1, permanent: false },
    ]);
    await server.request('POST', `${index}/_open`);
    await server.request('PUT', `${index}/_settings`, { 'index.blocks.write': true });
    const blocked = await failure(send({ url: server.url, index }, events(2), 'b'));
    expect(blocked.failedEvents).toMatchObject([{ permanent: false }, { permanent: false }]);
    await server.request('PUT', '_cluster/settings', {
      transient: { 'action.auto_create_index': false },
    });
    const missing = await failure(send({ url: server.url, index: newIndex() }, events(1), 'c'));
    expect(missing.failedEvents).toMatchObject([{ permanent: false }]);
    await server.request('PUT', '_cluster/settings', { transient: { 'action.auto_create_index': null } });
    expect(await failure(send({ url: `${server.url}/a/b/c`, index }, events(1), 'd'))).toMatchObject({
      permanent: false,
      fatal: true,
    });
  });

  it('stores events in a data stream', async () => {
    await server.request('PUT', '_index_template/streams', { index_patterns: ['stream-*'], data_stream: {} });
    const settings = { url: server.url, data_stream: 'stream-app' };
    await send(settings, events(3), 'same');
    await send(settings, events(3), 'same');
    const documents = await server.documents('stream-app');
    expect(documents).toHaveLength(3);
    expect(documents[0]?._index).toMatch(/^\.ds-stream-app-/);
    const bad = event(9, { '@timestamp': 'hunter2' });
    expect((await failure(send(settings, [bad, event(1)], 'other'))).failedEvents).toMatchObject([
      { index: 0, permanent: true },
    ]);
  });

  describe('from a file, while processes are killed', () => {
    const LINES = 5000;
    const trialWith = (index: string, pipeline: string) =>
      new Trial(
        fileToDisk({
          forwarder: `plugin: elasticsearch, url: '${server.url}', index: ${index}, batch: { events: 200 }`,
          pipeline,
        }),
      );
    const verdictOf = async (trial: Trial, index: string) => {
      const documents = await server.documents(index);
      trial.append('out/out.jsonl', documents.map(({ _source }) => `${JSON.stringify(_source)}\n`).join(''));
      return trial.verdict();
    };

    it('stores each line once with `exactly_once`, however often millrace is killed', async () => {
      const index = newIndex();
      const trial = trialWith(index, 'exactly_once: true');
      for (let n = 0; n < 5; n++) {
        trial.appendLines('in/a.log', LINES / 5);
        const before = await server.count(index);
        const run = await trial.run();
        await trial.until(async () => (await server.count(index)) > before + 100 * n);
        await kill(run);
      }
      expect(await trial.runOnce()).toMatchObject({ code: 0 });
      expect(await verdictOf(trial, index)).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
    });

    it('stores each line once when the server is killed and starts again', async () => {
      const index = newIndex();
      const trial = trialWith(index, 'max_in_flight: 1000');
      trial.appendLines('in/a.log', LINES);
      const run = await trial.run();
      await trial.until(async () => (await server.count(index)) > 0);
      await server.kill();
      trial.appendLines('in/a.log', LINES);
      await server.restart();
      await trial.until(async () => (await server.count(index)) >= 2 * LINES);
      await kill(run, 'SIGTERM');
      expect(await verdictOf(trial, index)).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
    });
  });
});

skipWithout('victoria-logs')('elasticsearch to VictoriaLogs', () => {
  let server: VictoriaLogs;
  beforeAll(async () => {
    server = await startVictoriaLogs();
  });
  afterAll(() => server.stop());

  it('stores events, with its own parameters in the URL', async () => {
    const url = `${server.url}/insert/elasticsearch?_msg_field=line&_time_field=@timestamp&_stream_fields=app`;
    await send({ url, index: 'logs' }, [event(1, { app: 'web', n: 1 }), event(2, { app: 'api' })], 'a');
    await send({ url, index: 'logs', compression: 'gzip' }, [event(3)], 'b');
    const rows = await server.rows();
    expect(rows.map((row) => row._msg).sort()).toEqual(['line 1', 'line 2', 'line 3']);
    expect(rows.find((row) => row._msg === 'line 1')).toMatchObject({
      _time: '2026-01-01T00:00:00Z',
      _stream: '{app="web"}',
      n: '1',
    });
  });
});
