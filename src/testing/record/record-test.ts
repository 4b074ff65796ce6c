import { type AnalyticsConfig, forwardersOf } from '../../sdk/config.ts';
import { resumesAfterRestart } from '../stand-in-collector.ts';
import { realNow } from '../virtual-time.ts';
import { comment } from '../yaml/yaml-text.ts';
import { comparison, headLines } from './compare-replay.ts';
import { allEvents, maskRecording } from './mask-recording.ts';
import { expectationOf } from './recorded-expectation.ts';
import { Recorder, type Recording } from './recorder.ts';
import type { RecordingFacts } from './recording-facts.ts';
import { testLines } from './test-text.ts';

/** The pipeline that is recorded, and how much of it. */
interface RecordSource {
  readonly config: AnalyticsConfig;
  readonly pipeline: string;
  readonly mostEvents: number;
  readonly onFull: () => void;
  /** Whether the pipeline has been running for some time. */
  readonly isRunning: boolean;
}

/** Of all events as JSON. */
const MAX_RECORDED_BYTES = 8 * 1024 * 1024;
export const MAX_RECORDED_EVENTS = 10_000;

/** Records a pipeline, for {@link recordedTest}. */
export function recorderFor({ config, pipeline, ...limits }: RecordSource): Recorder {
  const settings = config.pipelines[pipeline];
  const forwarders = settings === undefined ? [] : forwardersOf(settings);
  return new Recorder({
    ...limits,
    mostBytes: MAX_RECORDED_BYTES,
    collectors: settings?.collect ?? [],
    commits:
      settings?.exactly_once === true &&
      forwarders.some((name) => config.forwarders[name]?.loaded_plugin.exactly !== undefined),
    redelivers: (name) => {
      const plugin = config.collectors[name]?.loaded_plugin;
      return plugin !== undefined && resumesAfterRestart(plugin);
    },
    comesAgain: (name, deliveries) => {
      const entry = config.collectors[name];
      const redelivery = entry?.loaded_plugin.testing?.redelivery?.({ config: entry as never });
      return redelivery?.afterFailure(deliveries) !== undefined;
    },
  });
}

/** A recording as a file of tests. */
interface RecordedFile {
  readonly text: string;
  /** How many events are in it. */
  readonly events: number;
  /** Differences between the run and its replay, as sentences. */
  readonly differences: readonly string[];
  readonly problem: string | undefined;
}

/** Masks a recording, replays it in virtual time, and writes it as a test that expects what the replay did. */
export async function recordedTest(recording: Recording, facts: RecordingFacts): Promise<RecordedFile> {
  const startedAt = realNow();
  const timeLeft = () => Math.max(0, facts.timeLimitMs - (realNow() - startedAt));
  const { masked, replay } = await maskRecording(recording, facts, timeLeft);
  const { test, run, unmasked, problem } = replay;
  const expect = run === undefined ? {} : expectationOf(facts.config, test, run, unmasked);
  const table = comparison(facts, replay);
  const text = [
    ...headLines(masked, facts, table, replay).map(comment),
    ...testLines(test, expect, facts),
    '',
  ].join('\n');
  const differences = table.flatMap(({ label, inRun, inReplay }) =>
    inRun === undefined || inReplay === undefined || inRun === inReplay
      ? []
      : `${label}: ${inRun} in the run, ${inReplay} in the replay`,
  );
  return { text, events: allEvents(masked).length, differences, problem };
}
