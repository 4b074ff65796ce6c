// node loop-in-threads.js LOOP INPUT OUTPUT THREADS: the same in worker threads, the order kept.
import { closeSync, openSync, writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { blocksOf } from '../lines-of.ts';
import { BLOCK_BYTES } from '../loops/event-loop.ts';
import { program } from '../places.ts';

const [loop, input = '', output = '', threads] = process.argv.slice(2);

const file = openSync(output, 'w');
const blocks = blocksOf(input, BLOCK_BYTES);
const waiting = new Map<number, Uint8Array>();
let sent = 0;
let written = 0;

const ends = Array.from({ length: Number(threads) }, () => {
  const worker = new Worker(program('loop-worker'), { workerData: { loop, input } });
  worker.on('message', ({ number, events }: { number: number; events: Uint8Array }) => {
    waiting.set(number, events);
    send(worker);
    writeInOrder();
  });
  // One more than it works on, so that it never waits for the next.
  send(worker);
  send(worker);
  return new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));
});
await Promise.all(ends);
closeSync(file);

/** Null is the end, behind all blocks that the worker still has. */
function send(worker: Worker): void {
  const { value: block } = blocks.next();
  worker.postMessage(block === undefined ? null : { number: sent++, block });
}

function writeInOrder(): void {
  for (let events = waiting.get(written); events !== undefined; events = waiting.get(written)) {
    writeSync(file, events);
    waiting.delete(written++);
  }
}
