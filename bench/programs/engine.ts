// node engine.js ENGINE COUNT: prints how many milliseconds the engine took for the events.
import { ENGINES, type EngineName } from '../engines/index.ts';

const [name, count] = process.argv.slice(2) as [EngineName, string];
const start = performance.now();
const arrived = await ENGINES[name](Number(count));
const ms = performance.now() - start;
if (arrived !== Number(count)) throw new Error(`${arrived} of ${count} events arrived`);
process.stdout.write(String(ms));
