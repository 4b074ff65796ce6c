// The client of NATS by itself, without an engine, for the same messages as those of millrace.
// node nats-client.js publish URL FILE N: publishes the lines of a file, 256 in a message, N messages at a time.
// node nats-client.js consume URL FILE: appends what the consumer `workers` gets to a file, and acknowledges it, until it is killed.
import { createReadStream, fdatasync, openSync, writeSync } from 'node:fs';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

const LF = 0x0a;
const LINES = 256;
/** Messages that are asked for at a time, as a worker of millrace does in this measurement. */
const ASKED = 32;
/** Milliseconds. `disk` forces what it has written to the disk that often. */
const SYNC_EVERY = 1000;

const [mode, servers = '', path = '', inFlight = '1'] = process.argv.slice(2);
// As in millrace: a stack trace for each request takes as long as the request.
const client = await connect({ servers, noAsyncTraces: true });
const stream = jetstream(client);
if (mode === 'publish') await publish();
else await consume();

async function publish(): Promise<void> {
  const waiting = new Set<Promise<unknown>>();
  let id = 0;
  for await (const payload of messages()) {
    const stored: Promise<unknown> = stream
      .publish('logs.app', payload, { msgID: `bare-${id++}` })
      .finally(() => waiting.delete(stored));
    waiting.add(stored);
    if (waiting.size === Number(inFlight)) await Promise.race(waiting);
  }
  await Promise.all(waiting);
  await client.close();
}

async function* messages(): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    for (let lines = 0, start = 0, at = 0; ; ) {
      at = rest.indexOf(LF, at) + 1;
      if (at === 0) {
        rest = rest.subarray(start);
        break;
      }
      if (++lines < LINES) continue;
      yield rest.subarray(start, at);
      start = at;
      lines = 0;
    }
  }
  if (rest.length > 0) yield rest;
}

async function consume(): Promise<void> {
  const file = openSync(path, 'a');
  setInterval(() => fdatasync(file, () => {}), SYNC_EVERY);
  const consumer = await stream.consumers.get('LOGS', 'workers');
  for await (const message of await consumer.consume({ max_messages: ASKED })) {
    writeSync(file, message.data);
    message.ack();
  }
}
