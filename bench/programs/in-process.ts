// node in-process.js SUBJECT COUNT: prints how many nanoseconds of the processor the subject takes for each of so many calls.
import { median } from '../measure/statistics.ts';
import { IN_PROCESS, type InProcessName } from '../subjects/in-process.ts';

/** The first ones are for the compiler, and are not counted. */
const WARM_UP = 3;
const PASSES = 9;

const [name, calls] = process.argv.slice(2) as [InProcessName, string];
const call = IN_PROCESS[name]();
const taken: number[] = [];
for (let pass = 0; pass < WARM_UP + PASSES; pass++) {
  const before = process.cpuUsage();
  for (let i = 0; i < Number(calls); i++) call();
  if (pass >= WARM_UP) taken.push(process.cpuUsage(before).user);
}
process.stdout.write(String((median(taken) * 1000) / Number(calls)));
