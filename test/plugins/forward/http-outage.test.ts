import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { concat, NEVER, of } from 'rxjs';
import * as z from 'zod';
import { registerPlugin, unregisterPlugin } from '../../../src/config/registry.ts';
import { collectedEvent, EventBatch, Manager, parseConfig } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type Answerer, status as answering, type HttpSink, httpSink } from '../../support/http-sink.ts';

/** The answers to the first requests; then 200. */
let answers: Answerer[] = [];
let delivered: string[] = [];
let sink: HttpSink;

beforeEach(async () => {
  answers = [];
  delivered = [];
  sink = await httpSink((request, response, incoming) => {
    const answer = answers.shift();
    if (answer !== undefined) return answer(request, response, incoming);
    delivered.push(...request.body.trim().split('\n'));
    return response.end();
  });
});

let manager: Manager | undefined;
afterEach(async () => {
  manager?.stop();
  unregisterPlugin('collect', 'three');
  await sink.close();
});

/** A pipeline that sends three events. Its waits are 0. */
async function pipeline(settings: object = {}, once = false) {
  const acknowledged: string[] = [];
  const emit = (batch: EventBatch) => (once ? of(batch) : concat(of(batch), NEVER));
  const events = [1, 2, 3].map((n) => collectedEvent({ n }));
  registerPlugin('collect', 'three', {
    get_config_schema: () => z.looseObject({ plugin: z.string() }),
    collect: () => emit(new EventBatch(events, (outcome) => acknowledged.push(outcome))),
  });
  const config = await parseConfig({
    collectors: { source: { plugin: 'three' } },
    forwarders: { out: { plugin: 'http', url: sink.url } },
    pipelines: { main: { collect: 'source', forward: 'out', ...settings } },
    host_config: {},
  });
  manager = new Manager(config, { random: () => 0, once, drainTimeout: 0 });
  manager.start();
  return { manager, acknowledged };
}

describe('http: a server that answers wrong for a while', () => {
  const BODY = JSON.stringify({ error: 'no' });
  it.each([
    ['a redirect', 302, { location: 'http://127.0.0.1:1/' }, ''],
    ['a permanent redirect', 308, { location: '/elsewhere' }, ''],
    ['a token that has expired', 401, { 'www-authenticate': 'Bearer' }, BODY],
    ['a credential that lacks a right', 403, {}, BODY],
    ['a deployment that is not there yet', 404, {}, ''],
    ['a method that is not allowed', 405, { allow: 'GET' }, ''],
    ['a table that is missing', 404, { 'x-clickhouse-exception-code': '60' }, ''],
    ['one that is gone', 410, {}, ''],
    ['a content type that is not taken', 415, {}, ''],
    ['any other status', 418, {}, ''],
    ['not modified', 304, {}, ''],
    ['a 207 of another kind', 207, {}, '<multistatus/>'],
  ])(
    '%s: the pipeline runs on, and delivers all events once it is over',
    async (_, status, headers, body) => {
      answers = Array.from({ length: 12 }, () => answering(status, headers, body));
      const { manager, acknowledged } = await pipeline();
      await eventually(() => expect(acknowledged).toEqual(['forwarded']));
      expect(delivered).toHaveLength(3);
      expect(manager.states().main).toMatchObject({ state: 'running', failures: 0 });
      expect(manager.stats().main).toMatchObject({ retries: 12, dropped: {}, dead_lettered: 0 });
    },
  );

  it('health names the answer meanwhile, and what to do', async () => {
    answers = Array.from({ length: 1e5 }, () => answering(403));
    const { manager, acknowledged } = await pipeline();
    await eventually(() =>
      expect(manager.health().main?.problems).toEqual([
        expect.stringMatching(
          /^forwarder out has failed \d+ times since .* UTC: http:\S+ answered 403 \(Forbidden\); check `auth`/,
        ),
      ]),
    );
    answers = [];
    await eventually(() => expect(acknowledged).toEqual(['forwarded']));
    expect(manager.health().main).toMatchObject({ isReady: true, problems: [] });
  });

  it('`delivery.attempts` bounds the attempts, and no event is sent alone', async () => {
    answers = Array.from({ length: 3 }, () => answering(401));
    const { manager, acknowledged } = await pipeline({ delivery: { attempts: 3 } });
    await eventually(() => expect(acknowledged).toEqual(['failed']));
    expect(answers).toEqual([]);
    expect(delivered).toEqual([]);
    expect(manager.stats().main).toMatchObject({ dropped: { forwarder_failed: 3 } });
  });

  it('with once, five failures in a row end it', async () => {
    answers = Array.from({ length: 5 }, () => answering(403));
    const { manager, acknowledged } = await pipeline({}, true);
    await eventually(() => expect(manager.states().main).toMatchObject({ state: 'failed', failures: 5 }));
    expect({ answers, delivered, acknowledged }).toEqual({ answers: [], delivered: [], acknowledged: [] });
  });
});
