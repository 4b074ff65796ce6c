import { parentPort, workerData } from 'node:worker_threads';
import { LineMasker } from './mask-lines.ts';
import type { LineTask, WorkerMask } from './protocol.ts';

const masker = new LineMasker(workerData as readonly WorkerMask[]);

parentPort?.on('message', (task: LineTask) => {
  const result = masker.run(task);
  // Handed over rather than copied.
  parentPort?.postMessage(result, [result.documents.buffer as ArrayBuffer]);
});
parentPort?.postMessage('ready');
