// node append-lines.js FILE COUNT: appends so many lines, 1,000 a second, each with the time at which it is
// written, and prints how many.
import { closeSync, openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const [path = '', count] = process.argv.slice(2);
const file = openSync(path, 'a');
const start = performance.now();
for (let written = 0; written < Number(count); ) {
  // A timer may be late: what is due by now is written, a line at a time as a program would.
  for (; written < Math.min(performance.now() - start, Number(count)); written++) {
    writeSync(
      file,
      `GET /orders/${written} user=ada@example.org ip=10.0.0.7 stamp=${process.hrtime.bigint()}.\n`,
    );
  }
  await pause(1);
}
closeSync(file);
process.stdout.write(String(count));
