import { parentPort, workerData } from 'node:worker_threads';
import { allowV8Flags } from '../../operators/internal.ts';
import type { LineTask, WorkerMessage, WorkerSetup } from '../worker-pool/protocol.ts';
import { LineProcessors } from './line-processors.ts';

const { processors, v8Flags } = workerData as WorkerSetup;
if (v8Flags !== undefined) allowV8Flags(await import(v8Flags));
const lines = await LineProcessors.load(processors);

parentPort?.on('message', (task: LineTask) => {
  const answer = lines.run(task);
  if ('member' in answer) {
    post(answer);
    return;
  }
  post(answer, answer.documents.buffer);
});
post('ready');

/** Hands the transferred buffers over rather than copying them. */
function post(message: WorkerMessage, ...transferred: ArrayBuffer[]): void {
  parentPort?.postMessage(message, transferred);
}
