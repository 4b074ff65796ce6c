import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  batching,
  type CollectedEvent,
  collectedEvent,
  defineForwarder,
  EventBatch,
  ForwardConfigBase,
  PluginError,
  serialise,
} from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { testManager } from '../support/pipelines.ts';

/** The answers to the first requests; then 200. */
let answers: number[] = [];
let requests: number[] = [];
let server: Server;

beforeEach(async () => {
  answers = [];
  requests = [];
  server = createServer((request, response) => {
    let body = '';
    request
      .on('data', (data) => {
        body += data;
      })
      .on('end', () => {
        requests.push(body.split('\n').length - 1);
        response.writeHead(answers.shift() ?? 200).end();
      });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});

afterEach(() => {
  server.close();
  server.closeAllConnections();
});

/** Posts events to the server; 422 is permanent. */
const post = async (events: readonly CollectedEvent[]): Promise<undefined> => {
  const { port } = server.address() as AddressInfo;
  const body = events.map((event) => `${serialise(event)}\n`).join('');
  const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
  if (status >= 400) throw new PluginError(`the server answered ${status}`, { permanent: status === 422 });
};

const hook = (defaults: { events: number }) =>
  defineForwarder({
    schema: ForwardConfigBase.extend({ ...batching(defaults), url: z.string().optional() }),
    forward: ({ event }) => post([event]),
    forwardBatch: ({ events }) => post(events),
  });

async function forwarded(count: number, events: number) {
  const batch = Array.from({ length: count }, (_, n) => collectedEvent({ n }));
  const manager = testManager({
    collect: { source: () => new EventBatch(batch) },
    forward: { out: hook({ events }) },
    pipeline: { max_in_flight: 2000, delivery: { attempts: 5 } },
    options: { random: () => 0.01 },
  });
  manager.start();
  await eventually(() => expect(manager.states().main?.state).toBe('completed'));
  await manager.stop();
  return manager.stats().main;
}

describe('a web server that counts requests, with delivery.attempts: 5', () => {
  it('gets one request more for each answer of 503', async () => {
    answers = [200, 503];
    const stats = await forwarded(2000, 500);
    expect(requests).toEqual([500, 500, 500, 500, 500]);
    expect(stats).toMatchObject({ forwarded: { out: 2000 }, retries: 1, dropped: {} });
  });

  it('gets one request for a batch of 2,000 that it refuses for good', async () => {
    answers = [422];
    const stats = await forwarded(2000, 2000);
    expect(requests).toEqual([2000]);
    expect(stats).toMatchObject({ dropped: { forwarder_failed: 2000 }, retries: 0 });
  });
});
