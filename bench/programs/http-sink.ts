// node http-sink.js [stall]: prints its port, reads every request and answers it; with `stall`, it never answers.
// GET / returns how many lines have come, and the milliseconds from the first request to the last answer.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const LF = 0x0a;
const isStalled = process.argv[2] === 'stall';
let lines = 0;
let first: number | undefined;
let last = 0;

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ lines, ms: last - (first ?? last) }));
    return;
  }
  first ??= performance.now();
  request.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) lines++;
  });
  request.on('end', () => {
    if (isStalled) return;
    response.end();
    last = performance.now();
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
