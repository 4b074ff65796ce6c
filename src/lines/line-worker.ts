import { parentPort, workerData } from 'node:worker_threads';
import { LineProcessors } from './line-processors.ts';
import type { LineResult, LineTask, RefusedTask, WorkerMessage, WorkerSetup } from './protocol.ts';
import { areasOf, withOwnBuffer } from './slots.ts';

const { processors, slots } = workerData as WorkerSetup;
const lines = await LineProcessors.load(processors);

parentPort?.on('message', (task: LineTask) => {
  const { bytes } = task;
  if (bytes instanceof Uint8Array) {
    answer(lines.run({ ...task, bytes }));
    return;
  }
  const { lines: input, free } = areasOf(slots[bytes.slot] as SharedArrayBuffer, bytes.length);
  const result = lines.run({ ...task, bytes: input }, free);
  if ('member' in result || result.documents.buffer !== free.buffer) answer(result);
  else post({ ...result, documents: { slot: bytes.slot, length: result.documents.length } });
});
post('ready');

/** Hands documents over rather than copying them. */
function answer(result: LineResult | RefusedTask): void {
  if ('member' in result) {
    post(result);
    return;
  }
  const documents = withOwnBuffer(result.documents);
  post({ ...result, documents }, documents.buffer);
}

function post(message: WorkerMessage, ...transferred: ArrayBuffer[]): void {
  parentPort?.postMessage(message, transferred);
}
