import { asyncScheduler } from 'rxjs';
import type { Law } from '../../config/tests/expectations.ts';
import type { TestDefinition } from '../../config/tests/test-definition.ts';
import { placeText } from '../../engine/observer.ts';
import { formatPath } from '../../sdk/checks/problem.ts';
import { forwardersOf, type PipelineConfig } from '../../sdk/config.ts';
import { MillraceError, safeReason } from '../../sdk/errors.ts';
import { toJson } from '../../sdk/serialise.ts';
import { toMilliseconds } from '../duration.ts';
import { errorText } from '../error-text.ts';
import { joinedRun, type PipelineRun } from '../pipeline-run.ts';
import { seededRandom } from '../seeded-random.ts';
import type { ForwarderBehaviour, PlannedCall } from '../stand-in-forwarder.ts';
import {
  type CollectorEvents,
  runPipelinesOnFiles,
  runPipeline as runWhole,
  type TestPipelineOptions,
} from '../test-pipeline.ts';
import type { PluginFailure } from '../trace.ts';
import { checkExpectations } from './check-expectations.ts';
import { checkLaws } from './laws.ts';
import { type Finding, receivedBy } from './received.ts';
import { collectorInputs } from './row-marbles.ts';
import { runGenerated } from './run-generated.ts';
import type { LoadedTest, TestResult } from './test-suite.ts';

/**
 * Runs one test in virtual time. It never throws: a test that cannot be run has failed, and says why.
 *
 * @param longest milliseconds of real time after which a run is given up. Default: never.
 * @param runPipeline runs the pipeline of a test without files; the playground records steps as well.
 */
export async function runTest(
  test: LoadedTest,
  file: string,
  longest?: number,
  runPipeline = runWhole,
): Promise<TestResult> {
  const { generator, definition } = test;
  if (generator === undefined) return runOnce(test, file, longest, runPipeline);
  return runGenerated(test, generator, (generated) => {
    const one = { ...test, definition: { ...generated, any: definition.any } };
    return runOnce(one, file, longest, runPipeline);
  });
}

/** What became of a test. */
interface Outcome {
  /** Undefined if it could not be run. */
  readonly run: PipelineRun | undefined;
  readonly findings: readonly Finding[];
  /** Of a test with `crash_everywhere` that passed: one of its runs with a crash. */
  readonly crashed?: PipelineRun | undefined;
}

async function runOnce(
  test: LoadedTest,
  file: string,
  longest: number | undefined,
  runPipeline: typeof runWhole,
): Promise<TestResult> {
  const start = asyncScheduler.now();
  const { config, written, definition } = test;
  const runs: PipelineRun[] = [];
  let outcome: Outcome;
  try {
    if (definition.files === undefined) {
      for (const pipeline of pipelinesOf(test)) {
        runs.push(runPipeline(config, pipelineOptions(test, pipeline, runs), written, longest));
      }
      outcome = checked(test, runs);
    } else {
      const run = (crash: Pick<TestPipelineOptions, 'crashAfter'>) => {
        const pipelines = pipelinesOf(test).map((name) => ({ ...pipelineOptions(test, name, []), ...crash }));
        return runPipelinesOnFiles(config, pipelines, written, longest);
      };
      runs.push(...(await run({})));
      outcome = checked(test, runs);
      if (outcome.findings.length === 0) outcome = await withCrashes(test, outcome, runs, run);
    }
  } catch (error) {
    const message = `the test could not be run: ${test.withoutVariables(safeReason(error))}`;
    outcome = { run: undefined, findings: [{ path: [], kind: 'not_run', message }] };
  }
  return resultOf(test, file, runs, outcome, start);
}

/** Crashes of each run of a test with `any`, which would otherwise take as many times as long as it has calls. */
const CRASHES_OF_GENERATED_RUN = 3;

/**
 * Runs a test with `crash_everywhere` again, with a crash after each call that changed the disk in the run without one,
 * until its expectations do not hold. Of a generated run, only some calls are tried, which its seed picks.
 *
 * @param usual the outcome of the run without a crash
 */
async function withCrashes(
  test: LoadedTest,
  usual: Outcome,
  runs: readonly PipelineRun[],
  runAgain: (options: Pick<TestPipelineOptions, 'crashAfter'>) => Promise<PipelineRun[]>,
): Promise<Outcome> {
  const { crash_everywhere: kind } = test.definition;
  if (kind === undefined) return usual;
  const calls = runs.at(-1)?.disk.calls ?? [];
  const all = Array.from(calls, (_, index) => index + 1);
  const tried = test.generator === undefined ? all : sample(all, test.generator.seed);
  const middle = tried[tried.length >> 1];
  let crashed: PipelineRun | undefined;
  for (const number of tried) {
    const { run, findings } = checked(test, await runAgain({ crashAfter: { call: number, kind } }));
    if (number === middle) crashed = run;
    if (findings.length === 0) continue;
    const { call, path } = calls[number - 1] as (typeof calls)[number];
    const what = kind === 'power' ? 'a power loss' : 'a crash';
    const where = `with ${what} after call ${number} of ${calls.length} that changed the disk (${call} ${path})`;
    return {
      run,
      findings: findings.map((finding) => ({ ...finding, message: `${finding.message}, ${where}` })),
    };
  }
  return { ...usual, crashed };
}

/** The calls after which a run crashes: always the same for the same number of calls, so that a smaller run repeats them. */
function sample(calls: readonly number[], seed: number): number[] {
  const random = seededRandom(seed + calls.length);
  const picked = Array.from(
    { length: CRASHES_OF_GENERATED_RUN },
    () => calls[Math.floor(random() * calls.length)],
  );
  return [...new Set(picked)].filter((call) => call !== undefined).sort((a, b) => a - b);
}

/** What is wrong with runs, and if anything is, what failed in them. */
function checked(test: LoadedTest, runs: readonly PipelineRun[]): Outcome {
  const { definition, config } = test;
  const run = joinedRun(runs);
  const wrong = [
    ...checkExpectations(test, run),
    ...checkLaws(lawsOf(definition), runs, config),
    ...checkKept(definition, run),
  ];
  const failures = failureFindings(run).map(({ message, ...finding }) => ({
    ...finding,
    message: test.withoutVariables(message),
  }));
  return { run, findings: wrong.length === 0 ? [] : [...wrong, ...failures] };
}

function resultOf(
  test: LoadedTest,
  file: string,
  runs: readonly PipelineRun[],
  { run, findings, crashed }: Outcome,
  start: number,
): TestResult {
  const { name, definition } = test;
  return {
    file,
    name,
    place: test.place([]),
    isPassed: findings.length === 0,
    findings: findings.map(({ path, ...finding }) => {
      const inner = path.length === 0 ? [] : [placeOfExpectation(definition, path), ...path];
      return { ...finding, path: formatPath(inner), place: test.place(inner) };
    }),
    run,
    ...(crashed === undefined ? {} : { crashed }),
    runs,
    virtualMs: run === undefined ? 0 : coveredTime(run),
    realMs: asyncScheduler.now() - start,
  };
}

/** Conditions and laws may stand in `any`. */
function placeOfExpectation({ any }: TestDefinition, [key]: Finding['path']): string {
  const isInAny = (key === 'always' || key === 'laws') && any?.[key] !== undefined;
  return isInAny ? 'any' : 'expect';
}

/** The pipelines that a test is about, in the order in which events reach them. */
export function pipelinesOf({ definition, config }: LoadedTest): string[] {
  return [definition.pipeline ?? Object.keys(config.pipelines)[0] ?? ''].flat();
}

/**
 * How a test runs one of its pipelines.
 *
 * @param before the runs of the pipelines before this one
 */
export function pipelineOptions(
  {
    definition,
    config,
    host,
    conditions,
    explore,
  }: Pick<LoadedTest, 'definition' | 'config' | 'host' | 'conditions' | 'explore'>,
  pipeline: string,
  before: readonly PipelineRun[],
): TestPipelineOptions {
  const { collect = {}, forward = {}, seed, until, once, files, drain_timeout: drainTimeout } = definition;
  const named = config.pipelines[pipeline] as PipelineConfig;
  const forwarders = [...forwardersOf(named), named.delivery.dead_letter];
  const delivered = Object.entries(collect).flatMap(([name, input]) =>
    named.collect.includes(name) && typeof input === 'object' && 'from' in input
      ? [[name, deliveries(input, before)] as const]
      : [],
  );
  const inputs = Object.entries({ ...collectorInputs(collect), ...Object.fromEntries(delivered) });
  return {
    pipeline,
    collect: Object.fromEntries(inputs.filter(([name]) => named.collect.includes(name))),
    forward: Object.fromEntries(
      Object.entries(forward)
        .filter(([name]) => forwarders.includes(name))
        .map(([name, given]) => [name, given === 'keep' ? given : behaviourOf(given, conditions)]),
    ),
    host,
    ...defined({ seed, until, once, files, drainTimeout, explore }),
  };
}

/** The laws that a test asks for. An entry of the pipeline may be called `laws`. */
function lawsOf({ expect: { laws } }: TestDefinition): readonly Law[] {
  return Array.isArray(laws) ? laws : [];
}

/** What a forwarder of an earlier pipeline delivered, as the input of a collector. */
function deliveries(
  { from, as = 'event' }: { readonly from: string; readonly as?: 'event' | 'line' | undefined },
  before: readonly PipelineRun[],
): CollectorEvents {
  const run = before.find(({ trace }) => trace.rows.some(({ place }) => place.name === from));
  if (run === undefined) {
    const message = `no pipeline that runs before has a forwarder ${from}; list the pipelines in the order in which events reach them`;
    throw new MillraceError('MILLRACE_TEST_NAME', message);
  }
  const events = receivedBy(run, from).map(({ at, event }) => ({
    at,
    value: as === 'line' ? toJson(event) : event,
  }));
  const last = events.at(-1)?.at ?? 0;
  return {
    events,
    endsAt: run.endedAt === undefined ? Number.POSITIVE_INFINITY : Math.max(run.endedAt, last),
  };
}

type ForwarderInput = Exclude<NonNullable<TestDefinition['forward']>[string], 'keep'>;
type Fails = ForwarderInput['fails'];

function behaviourOf(
  { takes, fails, permanent, calls }: ForwarderInput,
  conditions: LoadedTest['conditions'],
): ForwarderBehaviour {
  const planned = calls?.map((call): PlannedCall => {
    if (typeof call === 'string') return { takes: call };
    const { retry_after: retryAfter, ...rest } = call;
    return defined({ ...rest, retryAfter });
  });
  return defined({ takes, fails: failsOf(fails, conditions), permanent, calls: planned });
}

/** Outages and conditions as a function of calls: one that begins or ends in an outage fails. */
function failsOf(fails: Fails, conditions: LoadedTest['conditions']): ForwarderBehaviour['fails'] {
  if (typeof fails !== 'object') return fails;
  if ('when' in fails) {
    const { when, count = Number.POSITIVE_INFINITY } = fails;
    const condition = conditions.get(when);
    let failed = 0;
    return ({ events }) =>
      failed < count && events.some((event) => condition?.holds(event) === true) && ++failed > 0;
  }
  const outages = [fails].flat().map(({ from, to }) => [toMilliseconds(from), toMilliseconds(to)] as const);
  const isIn = (at: number) => outages.some(([from, to]) => at >= from && at < to);
  return (call) => isIn(call.from) || isIn(call.to);
}

/** Without the keys that have no value. */
function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** A real collector or forwarder that waits for the real world never ends in virtual time. */
function checkKept({ collect = {}, forward = {} }: TestDefinition, run: PipelineRun): Finding[] {
  const kept = [...Object.entries(collect), ...Object.entries(forward)].flatMap(([name, given]) =>
    given === 'keep' ? [name] : [],
  );
  if (kept.length === 0 || run.endedAt !== undefined) return [];
  const message = `the run did not end, and \`keep\` runs the real ${kept.join(' and ')}: virtual time governs neither files nor networks nor functions of the host. Give marbles, or end the run with \`until\``;
  return [{ path: [], kind: 'not_run', message }];
}

/** From the start to the end of the run, or to the last that was seen of one that did not end. */
function coveredTime({ trace, endedAt }: PipelineRun): number {
  if (endedAt !== undefined) return endedAt;
  return trace.rows.flatMap(({ marks }) => marks).reduce((last, { at }) => Math.max(last, at), 0);
}

/**
 * What plugins threw in a run of a test, each once. Message and place are shown, other than in a log: the events are the
 * author's own. What the test lets fail itself says nothing new.
 */
function failureFindings({ failures }: PipelineRun): Finding[] {
  const counts = new Map<string, number>();
  for (const { place, error } of failures) {
    if (isOfTheTest(place, error)) continue;
    const who = place.kind === 'pipeline' ? `pipeline ${place.name}` : placeText(place);
    const text = `${who} failed: ${errorText(error)}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return Array.from(counts, ([text, count]) => ({
    path: [],
    kind: 'plugin_failed',
    message: count === 1 ? text : `${text} (${count} times)`,
  }));
}

/** A forwarder that is to fail, or a collector whose marbles end with `#`. */
function isOfTheTest({ kind }: PluginFailure['place'], error: unknown): boolean {
  if (kind === 'forward' || kind === 'dead_letter') return true;
  return (error as { code?: unknown } | null | undefined)?.code === 'MILLRACE_TEST_FAILURE';
}
