// node subject.js SUBJECT COUNT: prints how many nanoseconds the subject takes for each of so many inputs.
import { median } from '../measure/statistics.ts';
import { SUBJECTS, type SubjectName } from '../subjects/index.ts';

/** The first ones are for the compiler, and are not counted. */
const WARM_UP = 3;
const PASSES = 15;

const [name, count] = process.argv.slice(2) as [SubjectName, string];
const pass = SUBJECTS[name].prepare(Number(count));
const taken: number[] = [];
for (let i = 0; i < WARM_UP + PASSES; i++) {
  const start = performance.now();
  pass();
  if (i >= WARM_UP) taken.push(performance.now() - start);
}
process.stdout.write(String((median(taken) * 1e6) / Number(count)));
