import { checkOptions, refuseArgument } from '../checks/arguments.ts';
import { isMapping } from '../checks/problem.ts';
import type { TestPipelineOptions } from './test-pipeline.ts';

/** All of them: the compiler misses one that is added. */
const OPTIONS: Readonly<Record<keyof TestPipelineOptions, true>> = {
  pipeline: true,
  collect: true,
  forward: true,
  seed: true,
  until: true,
  once: true,
  random: true,
  host: true,
};
const COLLECTOR = "'keep', or an object such as { marbles: 'a 1s b|', values: { a: 'one' } }";
const FORWARDER = "'keep', or an object such as { takes: '3s', fails: 2 }";

/** @throws MillraceError `MILLRACE_ARGUMENT` for an unknown or invalid option. */
export function checkTestOptions(options: TestPipelineOptions): void {
  checkOptions('testPipeline', options, Object.keys(OPTIONS));
  for (const [where, given] of entriesOf('collect', options.collect, COLLECTOR)) {
    checkOptions(where, given, ['marbles', 'values', 'error']);
    const rows: unknown[] = [given.marbles].flat();
    if (rows.length === 0 || !rows.every((row) => typeof row === 'string')) {
      refuseArgument(
        `${where}, marbles`,
        given.marbles,
        "a marble string such as 'a 1s b|', or a list of them",
      );
    }
  }
  for (const [where, given] of entriesOf('forward', options.forward, FORWARDER)) {
    checkOptions(where, given, ['takes', 'fails', 'permanent']);
    const { fails = 0 } = given;
    if (fails !== 'always' && !['number', 'function'].includes(typeof fails)) {
      refuseArgument(`${where}, fails`, fails, "a number of calls, 'always' or a function");
    }
  }
}

/** What is given for each entry that is not kept. */
function entriesOf(
  kind: string,
  given: unknown,
  wanted: string,
): [where: string, given: Record<string, unknown>][] {
  const where = `testPipeline, ${kind}`;
  if (given === undefined) return [];
  if (!isMapping(given)) refuseArgument(where, given, `an object of names, each with ${wanted}`);
  return Object.entries(given).flatMap(([name, entry]) => {
    if (entry === 'keep') return [];
    if (!isMapping(entry)) refuseArgument(`${where}.${name}`, entry, wanted);
    return [[`${where}.${name}`, entry]];
  });
}
