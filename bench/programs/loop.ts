// node loop.js LOOP INPUT OUTPUT: runs one of bench/loops over a file, in one thread.
import { closeSync, openSync, writeSync } from 'node:fs';
import { blocksOf } from '../lines-of.ts';
import { BLOCK_BYTES } from '../loops/event-loop.ts';
import { LOOPS } from '../loops/index.ts';
import { structured } from '../loops/structured.ts';

const ALL = { ...LOOPS, structured };
const [name, input, output] = process.argv.slice(2) as [keyof typeof ALL, string, string];
const file = openSync(output, 'w');
for (const block of blocksOf(input, BLOCK_BYTES)) writeSync(file, ALL[name](block.toString(), input));
closeSync(file);
