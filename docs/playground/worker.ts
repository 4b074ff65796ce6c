import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { drawSvg } from '../../src/testing/draw/draw-svg.ts';
import { drawText } from '../../src/testing/draw/draw-text.ts';
import { timeText, valueText } from '../../src/testing/draw/value-text.ts';
import type { SteppedRun } from '../../src/testing/stepped-run.ts';
import { runSteps } from '../../src/testing/test-pipeline.ts';
import type { TraceMark } from '../../src/testing/trace.ts';
import { loadSuites } from '../../src/testing/yaml/load-suites.ts';
import { runTest } from '../../src/testing/yaml/run-test.ts';
import type { LocatedFinding, TestResult } from '../../src/testing/yaml/test-suite.ts';
import type { Reply, Request, ShownProblem, ShownRun, ShownStep } from './messages.ts';
import { setFiles } from './node/fs.mjs';

const FILE = 'pipelines.yaml';
/** More instants than anyone steps through. */
const MOST_STEPS = 2000;
const LONGEST_VALUE = 200;
const MOST_VALUES = 20;

let latest = 0;

self.addEventListener('message', async ({ data }: MessageEvent<Request>) => {
  latest = data.id;
  const reply = await replyTo(data).catch((error: unknown) => ({
    ...nothing,
    problems: problemsOf(error),
  }));
  // Nobody waits for an older one any more.
  if (data.id === latest) self.postMessage({ ...reply, id: data.id } satisfies Reply);
});

const nothing = { problems: [], tests: [], run: undefined };

async function replyTo({ text, selected, instant }: Request): Promise<Omit<Reply, 'id'>> {
  setFiles({ [FILE]: text });
  const [suite] = await loadSuites([FILE], {});
  if (suite === undefined) {
    await loadConfig([FILE], { env: {} });
    const message = 'the configuration is valid; add a section `tests` to see it run';
    return { ...nothing, problems: [{ line: 1, column: 1, message }] };
  }
  const results: TestResult[] = [];
  for (const test of suite.tests) results.push(await runTest(test, FILE, undefined, runRecorded));
  const shown = results.find(({ name }) => name === selected) ?? results[0];
  return {
    problems: [],
    tests: results.map(({ name, place, isPassed, virtualMs }) => ({
      ...{ name, isPassed, line: place.line, time: timeText(virtualMs) },
    })),
    run:
      shown &&
      (await shownRun(shown.name, shown.findings, shown.runs.at(-1) as SteppedRun | undefined, instant)),
  };
}

/** With steps, and at its end, which is what expectations are about. */
function runRecorded(...args: Parameters<typeof runSteps>): SteppedRun {
  const run = runSteps(...args);
  return run.goTo(run.instants.at(-1) ?? 0);
}

async function shownRun(
  name: string,
  findings: readonly LocatedFinding[],
  run: SteppedRun | undefined,
  instant: number | undefined,
): Promise<ShownRun> {
  const shown = { name, findings: findings.map(findingOf) };
  if (run === undefined) return { ...shown, svg: '', description: '', steps: [], isCut: false };
  const steps = run.instants.slice(0, MOST_STEPS).map((at) => stepAt(run.goTo(at), at));
  const isCut = run.instants.length > MOST_STEPS;
  // A run that is stepped through is drawn up to that instant.
  const { trace } = run.goTo(run.instants[instant ?? run.instants.length - 1] ?? 0);
  return {
    ...shown,
    svg: await drawSvg(trace, { title: name }),
    description: drawText(trace, { width: 100, title: name }),
    steps,
    isCut,
  };
}

function stepAt(run: SteppedRun, now: number): ShownStep {
  const { in_flight, collected, dropped, forwarded } = run.stats;
  const caches = run.trace.rows.map(({ place }) => [place.name, run.cache(place.name)] as const);
  const facts: [string, string][] = [
    ['state', run.state],
    ['collected', String(collected)],
    ['in flight', String(in_flight)],
    ['waiting for room', String(run.waiting)],
    ...Object.entries(forwarded).map(([name, count]): [string, string] => [
      `delivered by ${name}`,
      String(count),
    ]),
    ...Object.entries(dropped).map(([reason, count]): [string, string] => [
      `dropped, ${reason}`,
      String(count),
    ]),
    ...run.retries.map(({ forwarder, attempt, at }): [string, string] => [
      `retry of ${forwarder}`,
      `attempt ${attempt} at ${timeText(at)}`,
    ]),
    ...[...caches, ['shared', run.sharedCache] as const]
      .filter(([, cache]) => Object.keys(cache as object).length > 0)
      .map(([name, cache]): [string, string] => [`cache of ${name}`, valueText(cache, LONGEST_VALUE)]),
  ];
  const happened = run.trace.rows.flatMap(({ place, marks }) =>
    marks
      .filter(({ at }) => at === now)
      .map((mark) => markText(place.kind === 'dead_letter' ? 'dead letter' : place.name, mark)),
  );
  const more = happened.length - MOST_VALUES;
  return {
    at: timeText(now),
    facts,
    happened: more > 0 ? [...happened.slice(0, MOST_VALUES), `… ${more} more`] : happened,
  };
}

function markText(stage: string, mark: TraceMark): string {
  switch (mark.kind) {
    case 'event':
      return `${stage}: ${mark.letter} ${valueText(mark.event.data, LONGEST_VALUE)}`;
    case 'drop':
      return `${stage}: ${mark.letter} dropped (${mark.reason}) ${valueText(mark.event.data, LONGEST_VALUE)}`;
    case 'dead_letter':
      return `${stage}: ${mark.letter} to the dead letter ${valueText(mark.event.data, LONGEST_VALUE)}`;
    case 'retry':
      return `${stage}: attempt ${mark.attempt} failed, the next one in ${timeText(mark.wait)}`;
    case 'error':
      return `${stage}: failed`;
    case 'end':
      return `${stage}: completed`;
  }
}

function findingOf({ place, path, message, details }: LocatedFinding): ShownProblem {
  const { line, column } = place;
  return { line, column, message: `${path === '' ? '' : `${path}: `}${message}`, details };
}

function problemsOf(error: unknown): ShownProblem[] {
  if (!(error instanceof ConfigError)) return [{ line: 1, column: 1, message: String(error) }];
  return error.problems.map(({ line = 1, column = 1, path, message, suggestion }) => ({
    line,
    column,
    message: `${path === '' ? '' : `${path}: `}${message}${suggestion === undefined ? '' : `; did you mean \`${suggestion}\`?`}`,
  }));
}
