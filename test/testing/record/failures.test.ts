import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../src/config/parse-config.ts';
import type { CallPart, Calls, StagePlace } from '../../../src/engine/observer.ts';
import { PluginError } from '../../../src/sdk/errors.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { recordedTest, recorderFor } from '../../../src/testing/record/record-test.ts';
import type { Recorder, Recording } from '../../../src/testing/record/recorder.ts';
import { findings, lines, recorded, source } from '../recorded.ts';
import { load, run } from '../yaml/helpers.ts';

const CONFIG = {
  collectors: { log: { plugin: 'file', paths: ['/nowhere/web.log'] } },
  processors: {},
  forwarders: {
    archive: { plugin: 'disk', path: '/nowhere' },
    copy: { plugin: 'disk', path: '/nowhere' },
  },
  pipelines: { web: { collect: 'log', forward: ['archive', 'copy'], restart: false } },
  host_config: {},
};
const COLLECT: StagePlace = { kind: 'collect', name: 'log' };
const ARCHIVE: StagePlace = { kind: 'forward', name: 'archive' };
const COPY: StagePlace = { kind: 'forward', name: 'copy' };
const FATAL = { cause: Object.assign(new PluginError('gone', { permanent: true }), { fatal: true }) };

const event = (line: string): CollectedEvent => ({ timestamp: '', data: { line } });

async function recorderOf(config: object, isRunning = false): Promise<Recorder> {
  const parsed = await parseConfig(config);
  return recorderFor({ config: parsed, pipeline: 'web', mostEvents: 100, onFull: () => {}, isRunning });
}

/** An event is collected, and is in flight from now on. */
function collect(recorder: Recorder, line: string) {
  const root = {};
  const events = [event(line)];
  recorder.collected(COLLECT, events.length, () => events);
  recorder.admitted(COLLECT, events.length, () => events, root);
  return [{ root, size: 1 }];
}

function oneCall(parts: readonly CallPart[]): Calls {
  return { count: 1, events: parts.length, startedAt: 0, parts: () => parts };
}

async function replayed(recording: Recording, config: object, forwarded: Record<string, number>) {
  const { text, problem } = await recordedTest(recording, {
    config: await parseConfig(config),
    pipeline: 'web',
    files: ['web.yaml'],
    startedAt: '2026-01-01T00:00:00.000Z',
    endedBy: undefined,
    once: false,
    drainTimeout: 10,
    outcome: undefined,
    stateAtEnd: 'failed',
    inFlightBefore: 0,
    timeLimitMs: 10_000,
  });
  expect(problem).toBeUndefined();
  for (const [name, count] of Object.entries(forwarded)) {
    expect(text).toMatch(new RegExp(`^#   delivered by ${name} +${count}$`, 'm'));
  }
  const suites = await load({ 'web.test.yaml': text, 'web.yaml': JSON.stringify(config) });
  expect((await run(suites)).flatMap(({ findings }) => findings)).toEqual([]);
  return text;
}

describe('a fatal failure in the millisecond', () => {
  /** Both forwarders are called with one event at the start. */
  const bothCalled = async (answer: (archive: Ended, copy: Ended) => void) => {
    const recorder = await recorderOf(CONFIG);
    recorder.started(COLLECT);
    const parts = collect(recorder, 'a');
    answer(recorder.called(ARCHIVE, oneCall(parts)), recorder.called(COPY, oneCall(parts)));
    recorder.endCollecting();
    return recorder.recording;
  };
  type Ended = ReturnType<Recorder['called']>;

  it('in which another forwarder delivered comes after that in the test', async () => {
    const recording = await bothCalled((archive, copy) => {
      copy();
      archive(FATAL);
    });
    await replayed(atOneTime(recording), CONFIG, { archive: 0, copy: 1 });
  });

  it('in which another call had not ended comes before that ends', async () => {
    const recording = await bothCalled((archive) => archive(FATAL));
    await replayed(atOneTime(recording), CONFIG, { archive: 0, copy: 0 });
  });

  it('of its call comes before all that the run did not do any more', async () => {
    const recorder = await recorderOf(CONFIG);
    recorder.started(COLLECT);
    recorder.called(ARCHIVE, oneCall(collect(recorder, 'a')))(FATAL);
    recorder.endCollecting();
    const text = await replayed(atOneTime(recorder.recording), CONFIG, { archive: 0, copy: 0 });
    expect(text).toContain('{ takes: 0s, fails: true, permanent: true, fatal: true }');
  });
});

/** The recording as if all of it had happened in one millisecond: a test may take longer. */
function atOneTime(recording: Recording): Recording {
  const calls = Array.from(
    recording.calls,
    ([name, calls]) =>
      [
        name,
        calls.map(({ endedAt, ...call }) => ({
          ...call,
          startedAt: 0,
          endedAt: endedAt === undefined ? undefined : 0,
        })),
      ] as const,
  );
  const collectors = Array.from(
    recording.collectors,
    ([name, runs]) =>
      [
        name,
        runs.map((run) => ({ ...run, startedAt: 0, events: run.events.map((each) => ({ ...each, at: 0 })) })),
      ] as const,
  );
  return { ...recording, calls: new Map(calls), collectors: new Map(collectors) };
}

it('a fatal failure after which the call is made again is not the end of a run', async () => {
  const config = source({ restart: true, delivery: {} });
  const { recording, differences, text, stats } = await recorded(await parseConfig(config), {
    rows: [{ entries: [{ at: 0, value: 'a' }], end: { at: 9000, kind: 'failed' } }, lines('b')],
    calls: [{ takes: 5, fails: true, fatal: true }],
    until: 20_000,
  });
  expect(stats).toMatchObject({ forwarded: { archive: 2 }, retries: 1 });
  const [log = []] = [...recording.collectors.values()];
  expect(log.slice(0, 2).map(({ end }) => end?.kind)).toEqual(['failed', 'completed']);
  expect(differences).toEqual([]);
  expect(await findings(config, text)).toEqual([]);
});

describe('a run that fails on what is not recorded', () => {
  const ends = ({ collectors }: Recording) =>
    [...collectors.values()].flat().map(({ end, events }) => `${events.length} ${end?.kind}`);

  it('such as a commit, is one in which a collector fails', async () => {
    const recorder = await recorderOf(CONFIG);
    recorder.started(COLLECT);
    recorder.called(ARCHIVE, oneCall(collect(recorder, 'a')))();
    recorder.started(COLLECT);
    collect(recorder, 'b');
    recorder.started(COLLECT);
    expect(ends(recorder.recording)).toEqual(['1 failed', '1 failed', '0 undefined']);
  });

  it('such as a call of an event from before, is one too', async () => {
    const recorder = await recorderOf(CONFIG, true);
    recorder.called(ARCHIVE, oneCall([{ root: {}, size: 1 }]))(FATAL);
    recorder.started(COLLECT);
    expect(ends(recorder.recording)).toEqual(['0 failed', '0 undefined']);
  });

  it('is not one that fails on a recorded call, or that ended', async () => {
    const recorder = await recorderOf(CONFIG);
    recorder.started(COLLECT);
    recorder.called(ARCHIVE, oneCall(collect(recorder, 'a')))(FATAL);
    recorder.started(COLLECT);
    recorder.completed(COLLECT);
    recorder.started(COLLECT);
    recorder.failed(COLLECT);
    recorder.started(COLLECT);
    expect(ends(recorder.recording)).toEqual(['1 undefined', '0 completed', '0 failed', '0 undefined']);
  });
});

it('a call that waits for the end of `retry_after` takes as long as it does behind that', async () => {
  const config = source({ max_in_flight: 1, ordered: false, delivery: { attempts: 1 } });
  const { differences, text, stats } = await recorded(await parseConfig(config), {
    rows: { ...lines('a', 'b'), end: { at: 1, kind: 'completed' } },
    calls: [{ takes: 5, fails: true, retryAfter: 1500 }, { takes: 7 }],
  });
  expect(stats.forwarded).toEqual({ archive: 1 });
  expect(differences).toEqual([]);
  expect(text).toContain('retry_after: 1.5s }, 7ms]');
  expect(await findings(config, text)).toEqual([]);
});

it('calls that wait for the end of `retry_after` are recorded in the order in which they were made', async () => {
  const config = source({ ordered: false, restart: false, delivery: {} });
  const { differences, stats } = await recorded(await parseConfig(config), {
    rows: { entries: [0, 500].map((at) => ({ at, value: 'a' })), end: { at: 501, kind: 'completed' } },
    calls: [
      { takes: 5, fails: true, retryAfter: 1500 },
      { takes: 5, fails: true, fatal: true, permanent: true },
    ],
  });
  expect(stats.given_up).toBe(2);
  expect(differences).toEqual([]);
});

it('a call that succeeds at once is recorded in front of those that are still to be made', async () => {
  const config = source({ ordered: false, restart: false, delivery: {} });
  const { differences, stats } = await recorded(await parseConfig(config), {
    rows: { entries: [0, 1, 2].map((at) => ({ at, value: 'a' })), end: { at: 3, kind: 'completed' } },
    calls: [
      { takes: 5, fails: true, retryAfter: 20 },
      { takes: 5, fails: true, fatal: true, permanent: true },
    ],
  });
  expect(stats.forwarded).toEqual({ archive: 1 });
  expect(differences).toEqual([]);
});
