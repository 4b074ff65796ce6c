import { load as parseYaml } from 'js-yaml';
import { asyncScheduler, timer } from 'rxjs';
import { SwitchableObserver } from '../../src/cli/switchable-observer.ts';
import { Manager } from '../../src/engine/manager.ts';
import type { AnalyticsConfig } from '../../src/sdk/config.ts';
import type { CollectedEvent } from '../../src/sdk/events.ts';
import type { ForwardPlugin } from '../../src/sdk/plugin.ts';
import { memoryStore } from '../../src/state/state-store.ts';
import { toEvent } from '../../src/testing/marbles.ts';
import { recordedTest, recorderFor } from '../../src/testing/record/record-test.ts';
import { standInBuffer } from '../../src/testing/stand-in-buffer.ts';
import { type CollectorRow, standInCollector } from '../../src/testing/stand-in-collector.ts';
import { type PlannedCall, standInForwarder } from '../../src/testing/stand-in-forwarder.ts';
import { replacePlugins, testHost } from '../../src/testing/stand-ins.ts';
import { VirtualTime } from '../../src/testing/virtual-time.ts';
import { load, run } from './yaml/helpers.ts';

/** A run to record: what collectors and forwarders do in it. */
interface Incident {
  readonly rows: CollectorRow | readonly CollectorRow[];
  readonly calls?: readonly PlannedCall[];
  /** What every call of the forwarder fails with. */
  readonly cause?: Error | undefined;
  /** Those of the second forwarder, if there is one. */
  readonly copyCalls?: readonly PlannedCall[];
  readonly until?: number;
  readonly once?: boolean;
  /** When the recording starts, in a pipeline that has been running before. */
  readonly from?: number;
  readonly mostEvents?: number;
  /** Seconds. */
  readonly drainTimeout?: number;
  /** Of masking and replaying. */
  readonly timeLimitMs?: number;
}

/** Lets a run happen in virtual time, and records it. */
export async function recorded(
  config: AnalyticsConfig,
  {
    rows,
    calls = [],
    cause,
    copyCalls = [],
    until,
    once = false,
    from,
    mostEvents = 10_000,
    drainTimeout = 10,
    timeLimitMs = 60_000,
  }: Incident,
) {
  const delivered: CollectedEvent[] = [];
  const live = VirtualTime.run(() => {
    const replaced = {
      ...config,
      collectors: replacePlugins(config.collectors, (entry) =>
        standInCollector(entry, {
          rows: [rows].flat(),
          isOnePerRun: Array.isArray(rows),
          makeEvent: ({ value }) => toEvent(value),
          failure: () => new Error('a failure'),
          onEnd: () => {},
          jitter: () => 0,
        }),
      ),
      forwarders: replacePlugins(config.forwarders, ({ name, loaded_plugin }) => {
        if (name === 'archive' && cause !== undefined) return failing(loaded_plugin, cause);
        return standInForwarder(
          loaded_plugin,
          name === 'archive' ? { calls } : name === 'copy' ? { calls: copyCalls } : {},
          {
            handed: () => {},
            delivering: (events) => name === 'archive' && delivered.push(...events),
            cutBack: () => {},
          },
          () => 0,
        );
      }),
    };
    const isRunning = from !== undefined;
    const recorderOptions = { config, pipeline: 'web', mostEvents, isRunning, onFull: () => {} };
    let recorder = recorderFor(recorderOptions);
    const switchable = new SwitchableObserver();
    switchable.target = isRunning ? undefined : recorder;
    const state = memoryStore();
    const observer = () => switchable.observer;
    const options = {
      ...{ host: testHost, random: () => 0.5, observer, drainTimeout, state, once },
      openBuffer: standInBuffer,
    };
    const manager = new Manager(replaced, options);
    let stateAtEnd: 'running' | 'backing_off' | 'completed' | undefined;
    if (until !== undefined) {
      const stop = timer(until).subscribe(() => {
        stateAtEnd = manager.state('web')?.state as 'running';
        recorder.endCollecting();
        manager.stop();
      });
      manager.finished$.subscribe(() => stop.unsubscribe());
    }
    if (isRunning) {
      timer(from).subscribe(() => {
        recorder = recorderFor(recorderOptions);
        switchable.target = recorder;
      });
    }
    manager.start();
    return () => {
      const state = manager.state('web')?.state ?? 'idle';
      const stats = manager.stats().web;
      if (stats === undefined) throw new Error('there is no such pipeline');
      return { recording: recorder.recording, state, stats, stateAtEnd, end: asyncScheduler.now() };
    };
  });
  const { text, differences, problem } = await recordedTest(live.recording, {
    config,
    pipeline: 'web',
    files: ['web.yaml'],
    startedAt: '2026-01-01T00:00:00.000Z',
    endedBy: live.stateAtEnd === undefined ? undefined : 'a test',
    once,
    drainTimeout,
    outcome: live,
    stateAtEnd: live.stateAtEnd ?? live.state,
    inFlightBefore: 0,
    timeLimitMs,
  });
  const [test] = Object.values((parseYaml(text) as { tests: Record<string, Test> }).tests);
  if (test === undefined) throw new Error('there is no test');
  return { ...live, delivered, text, differences, problem, test };
}

function failing({ get_config_schema }: ForwardPlugin, cause: Error): ForwardPlugin {
  return {
    get_config_schema,
    forward: () => {
      throw cause;
    },
  };
}

interface Test {
  readonly collect: Record<string, { readonly events: readonly { readonly value: unknown }[] }>;
  readonly expect: Record<string, unknown>;
  readonly until?: string;
}

export const source = (extra: object = {}, processors: object = {}) => ({
  collectors: { log: { plugin: 'file', paths: ['/nowhere/web.log'] } },
  processors,
  forwarders: { archive: { plugin: 'disk', path: '/nowhere' }, letters: { plugin: 'noop' } },
  pipelines: {
    web: {
      collect: 'log',
      process: Object.keys(processors),
      forward: 'archive',
      restart: false,
      delivery: { dead_letter: 'letters', attempts: 3 },
      ...extra,
    },
  },
  host_config: {},
});

export const lines = (...values: unknown[]): CollectorRow => ({
  entries: values.map((value, index) => ({ at: index * 10, value })),
  end: { at: values.length * 10, kind: 'completed' },
});

/** Passes the tests of a recording with its configuration, or another one. */
export async function findings(config: object, text: string): Promise<string[]> {
  const suites = await load({ 'web.test.yaml': text, 'web.yaml': JSON.stringify(config) });
  return (await run(suites)).flatMap((result) => result.findings.map(({ message }) => message));
}
