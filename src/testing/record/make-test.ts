import { timeOf } from '../yaml/yaml-text.ts';
import type { MaskedRun, ShownValue } from './mask-events.ts';
import type { MaskedRecording } from './mask-recording.ts';
import type { RecordedCall } from './recorder.ts';
import type { RecordingFacts } from './recording-facts.ts';

/** A test as its file is to define it, without what is expected. Times are durations, such as `1.204s`. */
export interface RecordedTest {
  readonly pipeline: string;
  readonly collect: Readonly<Record<string, RecordedInput | { runs: RecordedInput[] }>>;
  readonly forward?: Readonly<Record<string, { calls: (string | TestCall)[] }>>;
  readonly once?: boolean;
  readonly until?: string;
  readonly drain_timeout?: string;
}

/** What a collector emits in a run. */
export interface RecordedInput {
  readonly events: { at: string; value: ShownValue }[];
  readonly completes_at?: string;
  readonly fails_at?: string;
}

/** A call of a forwarder, or several that go the same way. */
interface TestCall {
  readonly takes: string;
  readonly fails?: boolean;
  readonly rejects?: number[];
  readonly permanent?: boolean | number[];
  readonly fatal?: boolean;
  readonly retry_after?: string;
  readonly backoff?: string;
  readonly count?: number;
}

/** Milliseconds. */
const SPARE_MS = 1000;

/** Seconds that a stop waits in a test that does not say. */
const DEFAULT_DRAIN = 10;

/** The test that a recording makes. A day is longer than any test goes on: a call that never ended. */
export function makeTest(
  recording: MaskedRecording,
  { config, pipeline, endedBy, once, drainTimeout, stateAtEnd }: RecordingFacts,
  lastRunStartsAt: number | undefined,
): RecordedTest {
  const collect = Object.fromEntries(
    Array.from(recording.collectors, ([name, runs]) => {
      const inputs = runs.map(inputOf);
      return [name, inputs.length === 1 ? (inputs[0] as RecordedInput) : { runs: inputs }] as const;
    }),
  );
  const forward = Object.fromEntries(
    Array.from(recording.calls, ([name, calls]) => [name, { calls: callsOf(calls) }] as const).filter(
      ([, { calls }]) => calls.length > 0,
    ),
  );
  const runs = [...recording.collectors.values()].flat();
  const lastRun = Math.max(0, ...runs.map(({ startedAt }) => startedAt));
  // A run fails with a collector, or with an error of a forwarder. The wait for the next one may be shorter in the test.
  const calls = [...recording.calls.values()].flat();
  const ends = [...runs.map(({ end }) => end?.at), ...calls.map(({ endedAt }) => endedAt)];
  const failedAt = Math.max(0, ...ends.map((at = 0) => (at <= recording.endedAt ? at : 0)));
  const endedAt = stateAtEnd === 'backing_off' ? failedAt + 1 : recording.endedAt;
  // A pipeline that ended by itself does so in the test, before that is stopped.
  const spare = endedBy === undefined ? SPARE_MS : 0;
  const until = (lastRunStartsAt ?? lastRun) + Math.max(1, endedAt - lastRun) + spare;
  const isComplete = [...recording.collectors.values()].every((each) => each.at(-1)?.end !== undefined);
  const isDefault = drainTimeout === undefined || drainTimeout === DEFAULT_DRAIN;
  const drain = isDefault ? {} : { drain_timeout: timeOf(drainTimeout * 1000) };
  // With `once`, a run that ends is not started again, and a fatal error fails it.
  const hasFatal = calls.some(({ failure }) => failure?.fatal);
  const isLong = !once && (config.pipelines[pipeline]?.restart === true || hasFatal);
  return {
    pipeline,
    collect,
    ...(Object.keys(forward).length === 0 ? {} : { forward }),
    ...(isLong ? { once: false } : {}),
    // A collector that did not complete would go on for ever.
    ...(endedBy === undefined && isComplete ? {} : { until: timeOf(until), ...drain }),
  };
}

function inputOf({ startedAt, end, events }: MaskedRun): RecordedInput {
  const key = end?.kind === 'failed' ? 'fails_at' : 'completes_at';
  const endsAt = end && { [key]: timeOf(end.at - startedAt) };
  return { events: events.map(({ at, value }) => ({ at: timeOf(at), value })), ...endsAt };
}

/** Without calls at the end that succeed at once, as those do that a test does not name. */
function callsOf(calls: readonly RecordedCall[]): (string | TestCall)[] {
  const items: { key: string; call: TestCall; count: number }[] = [];
  for (const recorded of calls) {
    const call = callOf(recorded);
    const key = JSON.stringify(call);
    const last = items.at(-1);
    if (last?.key === key) last.count += recorded.count;
    else items.push({ key, call, count: recorded.count });
  }
  const count = pendingRetries(calls);
  if (count === 0) {
    while (items.at(-1)?.key === '{"takes":"0s"}') items.pop();
  } else {
    // What was still to be tried again when the recording ended has not succeeded: neither does it in the test.
    items.push({ key: '', call: { takes: '1d' }, count });
  }
  return items.map(({ call, count }) => {
    if (count > 1) return { ...call, count };
    return Object.keys(call).length === 1 ? call.takes : call;
  });
}

/** Milliseconds: a timer may fire a little earlier than the clock says. */
const TIMER_TOLERANCE = 5;

function pendingRetries(calls: readonly RecordedCall[]): number {
  const lastStart = Math.max(...calls.map(({ startedAt }) => startedAt)) + TIMER_TOLERANCE;
  return calls.filter(
    ({ endedAt = 0, failure }) => failure?.wait !== undefined && endedAt + failure.wait > lastStart,
  ).length;
}

/**
 * Milliseconds. Times are whole ones, and a fatal failure is the last thing that happens in a run. So in the test it comes
 * after the other actions of that millisecond.
 */
const FATAL_DELAY = 0.5;

function callOf({ startedAt, endedAt, failure }: RecordedCall): TestCall {
  const delay = failure?.fatal && failure.isConcurrent ? FATAL_DELAY : 0;
  const takes = endedAt === undefined ? '1d' : timeOf(endedAt - startedAt + delay);
  if (failure === undefined) return { takes };
  const { permanent, fatal, rejected, rejectedForGood, retryAfter, wait } = failure;
  const positions = (indexes: readonly number[]) => indexes.map((index) => index + 1);
  return {
    takes,
    ...(rejected === undefined ? { fails: true } : { rejects: positions(rejected) }),
    ...(permanent ? { permanent } : {}),
    ...(!permanent && rejectedForGood.length > 0 ? { permanent: positions(rejectedForGood) } : {}),
    ...(fatal ? { fatal } : {}),
    ...(retryAfter === undefined ? {} : { retry_after: timeOf(retryAfter) }),
    ...(wait === undefined || retryAfter !== undefined ? {} : { backoff: timeOf(wait) }),
  };
}
