import { checkOptions, refuseArgument } from '../sdk/checks/arguments.ts';
import { isMapping } from '../sdk/checks/problem.ts';
import type { TestPipelineOptions } from './test-pipeline.ts';

/** All of them: the compiler misses one that is added. */
const OPTIONS: Readonly<Record<keyof TestPipelineOptions, true>> = {
  pipeline: true,
  collect: true,
  forward: true,
  seed: true,
  until: true,
  drainTimeout: true,
  once: true,
  random: true,
  host: true,
  explore: true,
  files: true,
  crashAfter: true,
};
const COLLECTOR = "'keep', or an object such as { marbles: 'a 1s b|', values: { a: 'one' } }";
const FORWARDER = "'keep', or an object such as { takes: '3s', fails: 2 }";

/** @throws MillraceError `MILLRACE_ARGUMENT` for an unknown or invalid option. */
export function checkTestOptions(options: TestPipelineOptions): void {
  checkOptions('testPipeline', options, Object.keys(OPTIONS));
  for (const [where, given] of entriesOf('collect', options.collect, COLLECTOR)) {
    if ('runs' in given) {
      checkOptions(where, given, ['runs']);
      const { runs } = given;
      if (!Array.isArray(runs) || runs.length === 0) {
        refuseArgument(`${where}, runs`, runs, 'a list such as [{ events: [{ at: 0, value: "one" }] }]');
      }
      for (const [index, run] of runs.entries()) checkEvents(`${where}, runs[${index}]`, run);
      continue;
    }
    if ('events' in given) {
      checkEvents(where, given);
      continue;
    }
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
    checkOptions(where, given, ['takes', 'fails', 'permanent', 'calls']);
    const { fails = 0, calls = [] } = given;
    if (!Array.isArray(calls) || !calls.every(isMapping)) {
      refuseArgument(`${where}, calls`, calls, "a list such as [{ takes: '20ms' }, { fails: true }]");
    }
    const both = calls.find(({ fails, rejects }) => fails === true && rejects !== undefined);
    if (both !== undefined) {
      refuseArgument(`${where}, calls`, both, 'either `fails`, of all events, or `rejects`, of some of them');
    }
    if (fails !== 'always' && !['number', 'function'].includes(typeof fails)) {
      refuseArgument(`${where}, fails`, fails, "a number of calls, 'always' or a function");
    }
  }
}

function checkEvents(where: string, given: unknown): void {
  if (!isMapping(given))
    refuseArgument(where, given, 'an object such as { events: [{ at: 0, value: "one" }] }');
  checkOptions(where, given, ['events', 'endsAt', 'failsAt']);
  if (Array.isArray(given.events)) return;
  refuseArgument(`${where}, events`, given.events, 'a list such as [{ at: 0, value: "one" }]');
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
