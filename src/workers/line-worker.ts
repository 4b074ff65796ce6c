import { parentPort, workerData } from 'node:worker_threads';
import { alone } from './hand-over.ts';
import { LineMasker } from './mask-lines.ts';
import type { LineTask, WorkerMask } from './protocol.ts';

const masker = new LineMasker(workerData as readonly WorkerMask[]);

parentPort?.on('message', (task: LineTask) => {
  const result = masker.run(task);
  const documents = alone(result.documents);
  // Handed over rather than copied.
  parentPort?.postMessage({ ...result, documents }, [documents.buffer]);
});
parentPort?.postMessage('ready');
