import { firstValueFrom, timer } from 'rxjs';
import type { TestDefinition } from '../../config/tests/test-definition.ts';
import type { AnalyticsConfig } from '../../sdk/config.ts';
import { safeReason } from '../../sdk/errors.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import { testHost } from '../stand-ins.ts';
import { runPipeline } from '../test-pipeline.ts';
import { pipelineOptions } from '../yaml/run-test.ts';
import { hideFindings } from './hide-findings.ts';
import type { RecordedTest } from './make-test.ts';
import { hideEvent, type ShownEvent } from './mask-recording.ts';
import { expectationOf, forwarderNames } from './recorded-expectation.ts';
import { hasSettingsOf, type Processor } from './run-processor.ts';
import { EventSearch, OutputSearch } from './search-secrets.ts';
import { type MaskFinding, maskNames, watchMasks } from './watch-masks.ts';

/** A recording that was replayed in virtual time. */
export interface Replay {
  readonly test: RecordedTest;
  readonly expect: TestDefinition['expect'];
  /** Undefined if it could not be replayed. */
  readonly run: PipelineRun | undefined;
  /** Why it could not be replayed. */
  readonly problem: string | undefined;
}

interface ReplayOptions {
  readonly config: AnalyticsConfig;
  readonly pipeline: string;
  /** `redact` as it is without settings. */
  readonly defaultMask: Processor;
  /** By collector and run. The values of those that may show a secret are replaced. */
  readonly events: ReadonlyMap<string, readonly ShownEvent[][]>;
  /** The test of the recording, made of the events as they are now. */
  readonly makeTest: (lastRunStartsAt: number | undefined) => RecordedTest;
  /** Real milliseconds that are left for all replays. */
  readonly timeLeft: () => number;
}

/** Rounds in which masks look at the recorded events: replacing one secret may show another one. */
const MAX_ROUNDS = 4;

/**
 * Runs a recording in virtual time. First, until masks find nothing more in it: what they find is replaced where it was
 * collected, and an event in which it cannot be found is hidden. What the last run did is what the test expects.
 */
export async function replayRecording(options: ReplayOptions): Promise<Replay> {
  const { config, events, pipeline, timeLeft } = options;
  const all = [...events.values()].flat(2);
  const last = config.processors[config.pipelines[pipeline]?.process?.at(-1) ?? ''];
  const isLast = last !== undefined && hasSettingsOf(last, options.defaultMask);
  const hasOthers = hasOtherProcessors(config, pipeline);
  // What masks alone leave of masked events has no secrets.
  const defaultMask = isLast || !hasOthers ? undefined : options.defaultMask;
  const search = { config, pipeline, defaultMask, asksMasks: !masksComeFirst(config, pipeline) };
  const outputSearch = new OutputSearch(defaultMask);
  const forwarders = forwarderNames(config, pipeline);
  const replay = async () => {
    // Between two replays, pipelines of this process have a turn.
    await firstValueFrom(timer(0));
    const found: MaskFinding[] = [];
    const watched = watchMasks(config, pipeline, (finding) => found.push(finding), timeLeft);
    const { originOf, seen } = watched;
    const replayed = runOnce(watched.config, options);
    const output = replayed.run && outputSearch.findingsIn(replayed.run, forwarders, originOf);
    const findings = () => {
      // Of an event that was delivered, masks have seen all, unless something that was made of it went no further.
      const lost = new Set(lostEvents(replayed.run).map((event) => originOf(event).data));
      const isDelivered = ({ value: { data } }: ShownEvent) =>
        output?.delivered.has(data) === true && !lost.has(data);
      const others = all.filter((event) => !event.isHidden && !isDelivered(event));
      return [
        ...(search.asksMasks ? found : []),
        ...(output?.findings ?? []),
        ...findingsInEvents(others, search, seen, timeLeft),
      ];
    };
    return { ...replayed, unmasked: output?.unmasked ?? new Set<string>(), findings };
  };
  let replayed = await replay();
  if (hasOthers) {
    let isClean = false;
    // Masks that come first have seen the events, also if they cannot be replayed.
    const isLookedAt = () => replayed.run !== undefined || !search.asksMasks;
    for (let round = 1; round <= MAX_ROUNDS && isLookedAt() && !isClean; round++) {
      isClean = !hideFindings(replayed.findings(), all, round) && timeLeft() > 0;
      if (!isClean && timeLeft() > 0) replayed = await replay();
    }
    if (!isClean) {
      for (const event of all) hideEvent(event);
      replayed = await replay();
    }
  }
  const { test, run, problem, unmasked } = replayed;
  return { test, run, problem, expect: run === undefined ? {} : expectationOf(config, test, run, unmasked) };
}

/** Events that were dropped, or that a plugin failed on. */
function lostEvents(run: PipelineRun | undefined): CollectedEvent[] {
  const marks = run?.trace.rows.flatMap(({ marks }) => marks) ?? [];
  return marks.flatMap((mark) => ('event' in mark && mark.kind !== 'event' ? mark.event : []));
}

/** What masks find in each event on its own. One that cannot be looked at, and that no mask has seen, is a finding too. */
function findingsInEvents(
  events: readonly ShownEvent[],
  options: ConstructorParameters<typeof EventSearch>[0],
  seen: ReadonlySet<object>,
  timeLeft: () => number,
): MaskFinding[] {
  const search = new EventSearch(options);
  const mustBeSeen = options.asksMasks;
  const findings = events.flatMap((event): readonly MaskFinding[] => {
    const { data } = event.value;
    const unseen = mustBeSeen && !seen.has(data) ? [{ data, replaced: undefined, lines: undefined }] : [];
    return timeLeft() === 0 ? [] : (search.findingsIn(event) ?? unseen);
  });
  search.end();
  return findings;
}

/** Long enough for all waits between the runs of a pipeline. */
const DAY = 86_400_000;

function runOnce(
  config: AnalyticsConfig,
  { makeTest, timeLeft }: ReplayOptions,
): Pick<Replay, 'test' | 'run' | 'problem'> {
  let test = makeTest(undefined);
  try {
    const runs = Math.max(
      ...Object.values(test.collect).map((input) =>
        typeof input === 'object' && 'runs' in input ? input.runs.length : 1,
      ),
    );
    // Waits between two runs are random: the time of the stop follows from the start of the last run.
    if (runs > 1 && test.until !== undefined) {
      const { states } = runRecorded(config, makeTest(DAY), timeLeft);
      const start = states.filter(({ state }) => state === 'running')[runs - 1];
      if (start !== undefined) test = makeTest(start.at);
    }
    return { test, run: runRecorded(config, test, timeLeft), problem: undefined };
  } catch (error) {
    const problem =
      timeLeft() > 0 ? safeReason(error) : 'masking and replaying it takes too long; record fewer events';
    return { test, run: undefined, problem };
  }
}

function runRecorded(config: AnalyticsConfig, test: RecordedTest, timeLeft: () => number): PipelineRun {
  const definition: TestDefinition = { ...test, expect: {} };
  const options = pipelineOptions(
    { definition, config, host: testHost, conditions: new Map() },
    test.pipeline,
    [],
  );
  const run = runPipeline(config, options, new Map(), timeLeft());
  if (timeLeft() === 0) throw new Error('processors have failed, because there was no time left');
  return run;
}

/** Whether every mask sees the events as they were collected, so that a recording is masked as the pipeline masks. */
function masksComeFirst(config: AnalyticsConfig, pipeline: string): boolean {
  const names = config.pipelines[pipeline]?.process ?? [];
  const masks = maskNames(config, pipeline);
  return masks.every((name, index) => name === names[index]);
}

/** Whether something makes other events of those that were masked when they were collected. */
function hasOtherProcessors(config: AnalyticsConfig, pipeline: string): boolean {
  return maskNames(config, pipeline).length < (config.pipelines[pipeline]?.process ?? []).length;
}
