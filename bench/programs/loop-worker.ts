// A thread of loop-in-threads.ts.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { LOOPS, type LoopName } from '../loops/index.ts';

const port = parentPort as MessagePort;
const { loop, input } = workerData as { loop: LoopName; input: string };

port.on('message', (message: { number: number; block: Uint8Array } | null) => {
  if (message === null) {
    port.close();
    return;
  }
  const { buffer, byteOffset, byteLength } = message.block;
  const text = Buffer.from(buffer, byteOffset, byteLength).toString();
  const events = new TextEncoder().encode(LOOPS[loop](text, input));
  port.postMessage({ number: message.number, events }, [events.buffer]);
});
