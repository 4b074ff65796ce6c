import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asyncScheduler } from 'rxjs';
import { formatPath } from '../../checks/problem.ts';
import { safeReason } from '../../sdk/errors.ts';
import type { TestDefinition } from '../../sdk/tests-config.ts';
import { toMilliseconds } from '../duration.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import type { ForwarderBehaviour } from '../stand-in-forwarder.ts';
import { runPipeline as runWhole, type TestPipelineOptions } from '../test-pipeline.ts';
import type { PluginFailure } from '../trace.ts';
import { checkExpectations } from './check-expectations.ts';
import type { Finding } from './received.ts';
import { collectorMarbles } from './row-marbles.ts';
import type { LoadedTest, TestResult } from './test-suite.ts';

/**
 * Runs one test in virtual time. It never throws: a test that cannot be run has failed, and says why.
 *
 * @param runPipeline runs the pipeline; the playground records steps as well.
 */
export function runTest(test: LoadedTest, file: string, runPipeline = runWhole): TestResult {
  const { name, definition } = test;
  const start = asyncScheduler.now();
  let run: PipelineRun | undefined;
  let findings: readonly Finding[];
  try {
    run = runPipeline(test.config, pipelineOptions(test), test.written);
    const wrong = [...checkExpectations(definition, run), ...checkKept(definition, run)];
    const failures = failureFindings(run).map(({ message, ...finding }) => ({
      ...finding,
      message: test.withoutVariables(message),
    }));
    findings = wrong.length === 0 ? [] : [...wrong, ...failures];
  } catch (error) {
    findings = [{ path: [], message: `the test could not be run: ${safeReason(error)}` }];
  }
  return {
    file,
    name,
    place: test.place([]),
    isPassed: findings.length === 0,
    findings: findings.map(({ path, ...finding }) => {
      const inner = path.length === 0 ? [] : ['expect', ...path];
      return { ...finding, path: formatPath(inner), place: test.place(inner) };
    }),
    run,
    virtualMs: run === undefined ? 0 : coveredTime(run),
    realMs: asyncScheduler.now() - start,
  };
}

function pipelineOptions({ definition, host }: LoadedTest): TestPipelineOptions {
  const { pipeline, collect, forward = {}, seed, until, once } = definition;
  return {
    collect: collectorMarbles(collect),
    forward: Object.fromEntries(
      Object.entries(forward).map(([name, given]) => [
        name,
        given === 'keep' ? given : defined({ ...given, fails: failsOf(given.fails) }),
      ]),
    ),
    host,
    ...defined({ pipeline, seed, until, once }),
  };
}

type Fails = Exclude<NonNullable<TestDefinition['forward']>[string], 'keep'>['fails'];

/** Outages as a function of calls: one that begins or ends in an outage fails. */
function failsOf(fails: Fails): ForwarderBehaviour['fails'] {
  if (typeof fails !== 'object') return fails;
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
function checkKept({ collect, forward = {} }: TestDefinition, run: PipelineRun): Finding[] {
  const kept = [...Object.entries(collect), ...Object.entries(forward)].flatMap(([name, given]) =>
    given === 'keep' ? [name] : [],
  );
  if (kept.length === 0 || run.endedAt !== undefined) return [];
  const message = `the run did not end, and \`keep\` runs the real ${kept.join(' and ')}: virtual time governs neither files nor networks nor functions of the host. Give marbles, or end the run with \`until\``;
  return [{ path: [], message }];
}

/** From the start to the end of the run, or to the last that was seen of one that did not end. */
function coveredTime({ trace, endedAt }: PipelineRun): number {
  if (endedAt !== undefined) return endedAt;
  return Math.max(0, ...trace.rows.flatMap(({ marks }) => marks.map(({ at }) => at)));
}

const KINDS = {
  collect: 'collector',
  process: 'processor',
  forward: 'forwarder',
  dead_letter: 'dead letter',
  pipeline: 'pipeline',
} as const satisfies Record<PluginFailure['place']['kind'], string>;

/** A frame of a stack that has a file: its path or URL, and the line. */
const FRAME = /^\s+at .*?\(?((?:file:|\/|[A-Z]:\\).*?:\d+):\d+\)?$/gm;

/**
 * What plugins threw in a run of a test, each once. Message and place are shown, other than in a log: the events are the
 * author's own. What the test lets fail itself says nothing new.
 */
function failureFindings({ failures }: PipelineRun): Finding[] {
  const counts = new Map<string, number>();
  for (const { place, error } of failures) {
    if (isOfTheTest(place, error)) continue;
    const text = `${KINDS[place.kind]} ${place.name} failed: ${errorText(error)}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return Array.from(counts, ([text, count]) => ({
    path: [],
    message: count === 1 ? text : `${text} (${count} times)`,
  }));
}

/** A forwarder that is to fail, or a collector whose marbles end with `#`. */
function isOfTheTest({ kind }: PluginFailure['place'], error: unknown): boolean {
  if (kind === 'forward' || kind === 'dead_letter') return true;
  return (error as { code?: unknown } | null | undefined)?.code === 'MILLRACE_TEST_FAILURE';
}

/** `TypeError: x is not a function, at my-plugins/parse.mjs:12` */
function errorText(error: unknown): string {
  const { name, message, stack } = (error ?? {}) as Partial<Error>;
  if (typeof message !== 'string') return `${String(error)} was thrown`;
  const place = placeOf(stack ?? '', message);
  return `${name}: ${message}${place === undefined ? '' : `, at ${place}`}`;
}

/** The first line of code that is neither Node's nor of an installed package. */
function placeOf(stack: string, message: string): string | undefined {
  // A message may hold what looks like a frame.
  const frames = stack.slice(Math.max(0, stack.indexOf(message)) + message.length);
  const places = Array.from(frames.matchAll(FRAME), ([, place]) => place as string);
  const place = places.find((path) => !/[\\/]node_modules[\\/]/.test(path));
  if (place === undefined) return undefined;
  const path = place.startsWith('file:') ? fileURLToPath(place) : place;
  const below = relative(process.cwd(), path);
  return below.startsWith('..') ? path : below;
}
