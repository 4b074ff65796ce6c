import { parentPort, workerData } from 'node:worker_threads';
import { alone } from './hand-over.ts';
import { LineProcessors } from './line-processors.ts';
import type { LineResult, LineTask, WorkerMessage, WorkerSetup } from './protocol.ts';
import { areasOf } from './slots.ts';

const { processors, slots } = workerData as WorkerSetup;
const lines = await LineProcessors.load(processors);

parentPort?.on('message', (task: LineTask) => {
  const { bytes } = task;
  if (bytes instanceof Uint8Array) {
    handOver(lines.run({ ...task, bytes }));
    return;
  }
  const { lines: input, free } = areasOf(slots[bytes.slot] as SharedArrayBuffer, bytes.length);
  const result = lines.run({ ...task, bytes: input }, free);
  const { documents } = result;
  if (documents.buffer !== free.buffer) handOver(result);
  else post({ ...result, documents: { slot: bytes.slot, length: documents.length } });
});
post('ready');

/** Rather than copy. */
function handOver(result: LineResult): void {
  const documents = alone(result.documents);
  post({ ...result, documents }, documents.buffer);
}

function post(message: WorkerMessage, ...transferred: ArrayBuffer[]): void {
  parentPort?.postMessage(message, transferred);
}
