// The client of Kafka by itself, without an engine, for the same records as those of millrace.
// node kafka-client.js write BROKER TOPIC FILE: writes the lines of a file, 1000 in a batch, by an idempotent producer.
// node kafka-client.js read BROKER TOPIC FILE: appends the records of a topic to a file, until it is killed.
import { createReadStream, fdatasync, openSync, writeSync } from 'node:fs';
import { Consumer, Producer } from '@platformatic/kafka';

const LF = 0x0a;
const RECORDS = 1000;
const PARTITIONS = 3;
/** Milliseconds. `disk` forces what it has written to the disk that often. */
const SYNC_EVERY = 1000;

const [mode, broker = '', topic = '', path = ''] = process.argv.slice(2);
const options = { clientId: 'bench', bootstrapBrokers: [broker] };
if (mode === 'write') await write();
else await read();

async function write(): Promise<void> {
  const producer = new Producer<Buffer, Buffer>({ ...options, idempotent: true, retries: 2 });
  let partition = 0;
  for await (const values of batches()) {
    await producer.send({ messages: values.map((value) => ({ topic, partition, value })) });
    partition = (partition + 1) % PARTITIONS;
  }
  await producer.close();
}

async function* batches(): AsyncGenerator<Buffer[]> {
  let rest = Buffer.alloc(0);
  let values: Buffer[] = [];
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    let start = 0;
    for (let end = rest.indexOf(LF); end >= 0; end = rest.indexOf(LF, start)) {
      values.push(rest.subarray(start, end));
      start = end + 1;
      if (values.length < RECORDS) continue;
      yield values;
      values = [];
    }
    rest = rest.subarray(start);
  }
  if (values.length > 0) yield values;
}

async function read(): Promise<void> {
  const file = openSync(path, 'a');
  setInterval(() => fdatasync(file, () => {}), SYNC_EVERY);
  const consumer = new Consumer<Buffer, Buffer>({ ...options, groupId: `bare-${process.pid}-${Date.now()}` });
  const records = await consumer.consume({
    ...{ topics: [topic], mode: 'committed', fallbackMode: 'earliest', autocommit: 100 },
  });
  const newline = Buffer.from('\n');
  let values: Buffer[] = [];
  for await (const { value } of records) {
    values.push(value, newline);
    // As many as wait: a call for each record would take longer than the record.
    if (records.readableLength > 0 && values.length < 2 * RECORDS) continue;
    writeSync(file, Buffer.concat(values));
    values = [];
  }
}
