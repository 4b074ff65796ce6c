import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import { type Answerer, type HttpSink, httpSink, inTurn, status } from '../support/http-sink.ts';
import { byForm } from './support/form.ts';
import { FLAWLESS, kill, MASK, Trial } from './support/trial.ts';

const LINES = byForm({ short: 3000, long: 100_000 });
const OUTAGE_MS = byForm({ short: 3000, long: 30_000 });
const KILLS = byForm({ short: 3, long: 20 });
const IN_FLIGHT = 1000;

const sinks: HttpSink[] = [];
afterEach(async () => {
  await Promise.all(sinks.splice(0).map((sink) => sink.close()));
});

interface Settings {
  /** Seconds after which a request is sent again. Default: so many that a busy machine answers. */
  readonly timeout?: number;
  /** More settings of the forwarder. */
  readonly http?: string;
  readonly delivery?: string;
}

const config = (url: string, { timeout = 30, http = '', delivery = '{}' }: Settings) => `
collectors:
  log: { plugin: file, paths: ['in/*.log'], backfill: true }
processors:
  ${MASK}
forwarders:
  out: { plugin: http, url: '${url}', timeout: ${timeout}${http} }
  dead: { plugin: disk, path: dead, filename: dead.jsonl }
pipelines:
  main: { collect: log, process: mask, forward: out, max_in_flight: ${IN_FLIGHT}, delivery: ${delivery} }
host_config: {}
`;

/** Keeps the body of a request where the oracle looks. */
const stored = (trial: Trial, body: string) => trial.append('out/out.jsonl', body);

/** A trial whose server does what `fault` says; `ok` keeps a batch and answers 200. */
async function trialWith(
  fault: (ok: Answerer, trial: () => Trial) => Answerer,
  settings: Settings = {},
  lines = LINES,
): Promise<{ trial: Trial; sink: HttpSink }> {
  const sink = await httpSink();
  sinks.push(sink);
  const trial = new Trial(config(sink.url, settings));
  const ok: Answerer = ({ body }, response) => {
    stored(trial, body);
    response.end();
  };
  sink.answer = fault(ok, () => trial);
  trial.appendLines('in/a.log', lines);
  return { trial, sink };
}

const verdict = (trial: Trial) => trial.verdict();
const flawless = (trial: Trial) => ({ ...FLAWLESS, seed: trial.oracle.seed });
/** Lines may come twice, at most `batches` times what is in flight. */
const expectDuplicates = (trial: Trial, batches: number) => {
  const { doubled, ...rest } = verdict(trial);
  expect({ ...rest, doubled: 0 }).toEqual(flawless(trial));
  expect(doubled).toBeLessThanOrEqual(batches * IN_FLIGHT);
  return doubled;
};

/** Every `n`th request, the first one included, meets the fault. */
const every = (n: number, fault: Answerer, otherwise: Answerer): Answerer =>
  (() => {
    let requests = 0;
    return (...args) => (requests++ % n === 0 ? fault : otherwise)(...args);
  })();

it.each([
  ['429', status(429)],
  ['503', status(503)],
  ['429 with Retry-After in seconds', status(429, { 'retry-after': '1' })],
  [
    '503 with Retry-After as a date',
    ((_, response) => {
      const at = new Date(Date.now() + 1500).toUTCString();
      response.writeHead(503, { 'retry-after': at }).end();
    }) satisfies Answerer,
  ],
])('%s every now and then: all lines come once', async (_, refuse) => {
  const { trial } = await trialWith((ok) => every(byForm({ short: 3, long: 20 }), refuse, ok));
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expect(verdict(trial)).toEqual(flawless(trial));
});

it('Retry-After is waited for', async () => {
  const times: number[] = [];
  const { trial } = await trialWith(
    (ok) =>
      inTurn(
        (_, response) => {
          times.push(performance.now());
          response.writeHead(429, { 'retry-after': '2' }).end();
        },
        (...args) => {
          times.push(performance.now());
          ok(...args);
        },
      ),
    {},
    100,
  );
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1900);
});

it('connections that are reset in the middle of the answer: nothing is lost, and a batch comes again', async () => {
  const reset =
    (trial: () => Trial): Answerer =>
    ({ body }, response) => {
      stored(trial(), body);
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    };
  const each = byForm({ short: 3, long: 25 });
  let resets = 0;
  const { trial } = await trialWith((ok, trial) =>
    every(
      each,
      (...args) => {
        resets++;
        reset(trial)(...args);
      },
      ok,
    ),
  );
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expect(expectDuplicates(trial, resets)).toBeGreaterThan(0);
});

it('a server that accepts and never answers: the timeout tries again, and all lines come once', async () => {
  const never: Answerer = () => {};
  const { trial } = await trialWith((ok) => every(byForm({ short: 3, long: 30 }), never, ok), { timeout: 3 });
  const { code, stderr } = await trial.runOnce();
  expect(code).toBe(0);
  expect(stderr).toMatch(/http:\/\/127\.0\.0\.1:\d+ did not answer within 3 s/);
  expect(verdict(trial)).toEqual(flawless(trial));
});

it('400 for a batch that holds one bad event: it alone goes to the dead letter', async () => {
  const bad = byForm({ short: 1234, long: 56_789 });
  const refuses =
    (ok: Answerer): Answerer =>
    (request, response, incoming) =>
      request.body.includes(`id:${bad}:${bad};`)
        ? response.writeHead(400).end(request.body)
        : ok(request, response, incoming);
  const { trial } = await trialWith(refuses, { delivery: '{ attempts: 3, dead_letter: dead }' });
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  const outputs = [trial.path('out'), trial.path('dead')];
  expect(trial.verdict({ outputs })).toEqual(flawless(trial));
  expect([...trial.oracle.found([trial.path('dead')]).keys()]).toEqual([bad]);
});

it('split_refused: the bad event alone goes to the dead letter, also if the server goes away meanwhile', async () => {
  const bad = byForm({ short: 1234, long: 56_789 });
  let found = 0;
  const refuses =
    (ok: Answerer): Answerer =>
    (request, response, incoming) => {
      if (!request.body.includes(`id:${bad}:${bad};`)) ok(request, response, incoming);
      // Some of the halves in which the bad event is searched for are sent while the server is away.
      else response.writeHead([2, 3, 7].includes(++found) ? 503 : 400).end(request.body);
    };
  const { trial } = await trialWith(refuses, {
    http: ', split_refused: true',
    delivery: '{ dead_letter: dead }',
  });
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  const outputs = [trial.path('out'), trial.path('dead')];
  expect(trial.verdict({ outputs })).toEqual(flawless(trial));
  expect([...trial.oracle.found([trial.path('dead')]).keys()]).toEqual([bad]);
});

it('413 above a size: batches are split, and all lines come once', async () => {
  const { trial } = await trialWith((ok) => (request, response, incoming) => {
    if (request.body.length > 20_000) response.writeHead(413).end();
    else ok(request, response, incoming);
  });
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expect(verdict(trial)).toEqual(flawless(trial));
});

it('a wrong token: the run fails, and the next one with the right token sends every line once', async () => {
  const checks =
    (ok: Answerer): Answerer =>
    (request, response, incoming) =>
      request.headers.authorization === 'Bearer right-token'
        ? ok(request, response, incoming)
        : response.writeHead(401).end();
  const { trial } = await trialWith(checks, { http: ', auth: { bearer: { file: token } }' });
  trial.write('token', 'wrong-token\n');
  const { code, stderr } = await trial.runOnce();
  expect(code).toBe(1);
  expect(stderr).toContain('answered 401 (Unauthorized); check `auth`');
  expect(stderr).not.toContain('wrong-token');
  trial.write('token', 'right-token\n');
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expect(verdict(trial)).toEqual(flawless(trial));
});

it(`an outage of ${OUTAGE_MS / 1000} s: connections are refused, and all lines come once`, async () => {
  const { trial, sink } = await trialWith((ok) => ok);
  const child = await trial.run();
  await trial.allDelivered();
  const port = Number(new URL(sink.url).port);
  await sink.close();
  sinks.splice(0);
  trial.appendLines('in/a.log', LINES);
  await child.shows('stderr', /cannot deliver to .* ECONNREFUSED: connection refused/);
  await delay(OUTAGE_MS);
  const again = await httpSink(sink.answer, port);
  sinks.push(again);
  await trial.allDelivered();
  expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
  expect(verdict(trial)).toEqual(flawless(trial));
});

it(`${KILLS} kills with SIGKILL: nothing is lost, and at most what was in flight comes twice`, async () => {
  const { trial, sink } = await trialWith((ok) => async (request, response, incoming) => {
    await delay(20);
    ok(request, response, incoming);
  });
  for (let n = 0; n < KILLS; n++) {
    const before = sink.requests.length;
    const child = await trial.run();
    trial.appendLines('in/a.log', LINES);
    await trial.until(() => sink.requests.length > before + 1);
    await kill(child);
  }
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expectDuplicates(trial, KILLS);
});

it('a server that stalls holds back the reader, not the memory', async () => {
  const { trial } = await trialWith(() => () => {}, { timeout: 1, http: ', concurrency: 2' }, LINES * 20);
  const child = await trial.run();
  const rss = () =>
    Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${child.child.pid}/status`, 'utf8'))?.[1]) / 1024;
  await delay(2000);
  const before = rss();
  await delay(byForm({ short: 3000, long: 30_000 }));
  expect(rss() - before).toBeLessThan(30);
  await kill(child);
});
