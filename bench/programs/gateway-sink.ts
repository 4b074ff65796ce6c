// node gateway-sink.js: prints its port, reads every request, and answers as Elasticsearch, Loki, Splunk, S3 and a receiver of
// OTLP do when they have taken all events. GET / returns the milliseconds from the first request to the last answer.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const LF = 0x0a;
let first: number | undefined;
let last = 0;

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ ms: last - (first ?? last) }));
    return;
  }
  first ??= performance.now();
  const isBulk = request.url?.startsWith('/_bulk') ?? false;
  let lines = 0;
  request.on('data', (chunk: Buffer) => {
    if (isBulk) for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) lines++;
  });
  request.on('end', () => {
    answer(request.url ?? '', lines, response);
    last = performance.now();
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});

const STORED = '{"create":{"status":201}}';

function answer(path: string, lines: number, response: ServerResponse): void {
  if (path.startsWith('/_bulk')) {
    const items = Array(lines / 2).fill(STORED);
    response.setHeader('content-type', 'application/json').end(`{"errors":false,"items":[${items}]}`);
  } else if (path.startsWith('/loki/')) response.writeHead(204).end();
  else if (path.startsWith('/services/')) response.end('{"text":"Success","code":0}');
  else if (path.startsWith('/v1/')) response.setHeader('content-type', 'application/x-protobuf').end();
  else response.end();
}
