import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from '@jest/globals';
import { threadMs } from '../../plugins/thread-time.ts';

it('is that of this thread alone, whatever other threads do', async () => {
  const before = threadMs();
  const busy = `
    const { parentPort } = require('node:worker_threads');
    while (process.cpuUsage().user < ${process.cpuUsage().user + 500_000});
    parentPort.postMessage('done');
  `;
  const worker = new Worker(busy, { eval: true });
  await once(worker, 'message');
  await worker.terminate();
  expect(threadMs() - before).toBeLessThan(250);
});

it('grows with the work of this thread', () => {
  const before = threadMs();
  const { user } = process.cpuUsage();
  while (process.cpuUsage().user < user + 200_000);
  expect(threadMs() - before).toBeGreaterThan(50);
});
