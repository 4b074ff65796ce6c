// node loop.js LOOP INPUT OUTPUT: runs one of bench/loops over a file, in one thread.
import { closeSync, openSync, writeSync } from 'node:fs';
import { blocksOf } from '../lines-of.ts';
import { BLOCK_BYTES } from '../loops/event-loop.ts';
import { LOOPS, type LoopName } from '../loops/index.ts';

const [name, input, output] = process.argv.slice(2) as [LoopName, string, string];
const file = openSync(output, 'w');
for (const block of blocksOf(input, BLOCK_BYTES)) writeSync(file, LOOPS[name](block.toString(), input));
closeSync(file);
