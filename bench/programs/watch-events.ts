// node watch-events.js FILE COUNT: prints the milliseconds from the stamp of each line to when its event was seen.
import { openSync, readSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const [path = '', count] = process.argv.slice(2);
const STAMP = 'stamp=';
const buffer = Buffer.allocUnsafe(1 << 20);
const latencies: number[] = [];
const file = openSync(path, 'r');
let rest = '';
while (latencies.length < Number(count)) {
  const read = readSync(file, buffer, 0, buffer.length, null);
  if (read === 0) {
    await pause(1);
    continue;
  }
  const now = process.hrtime.bigint();
  const text = rest + buffer.toString('latin1', 0, read);
  const end = text.lastIndexOf('\n') + 1;
  for (let at = text.indexOf(STAMP); at !== -1 && at < end; at = text.indexOf(STAMP, at + 1)) {
    const from = at + STAMP.length;
    const stamp = BigInt(text.slice(from, text.indexOf('.', from)));
    latencies.push(Number(now - stamp) / 1e6);
  }
  rest = text.slice(end);
}
process.stdout.write(JSON.stringify(latencies));
