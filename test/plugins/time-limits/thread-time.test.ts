import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { expect, it } from '@jest/globals';
import { threadMs } from '../../../plugins/time-limits/thread-time.ts';

/** Otherwise nothing tells the time of one thread. */
const isTold = 'threadCpuUsage' in process || existsSync('/proc/thread-self/schedstat');

(isTold ? it : it.skip)('is that of this thread alone, whatever other threads do', async () => {
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
