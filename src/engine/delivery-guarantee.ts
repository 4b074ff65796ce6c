import { defaultIfEmpty, forkJoin, map, type Observable } from 'rxjs';
import { type AnalyticsConfig, forwardersOf } from '../sdk/config.ts';
import type { CollectorState, PipelineRunContext } from '../sdk/context.ts';
import { CallPlan } from './call-plan.ts';
import { ExactlyOnce } from './exactly-once.ts';
import { OutputRecord } from './exactly-once-state.ts';
import { RetryLog } from './retry-log.ts';
import type { PipelineSetup, RunScope } from './run-scope.ts';

/** Undefined unless the pipeline delivers exactly once to a forwarder that can cut its output back. */
export function exactlyOnceOf(scope: RunScope): ExactlyOnce | undefined {
  const { config, analytics, shared, state, giveUpAfter } = scope.setup;
  const [forwarder] = forwardersOf(config);
  const entry = analytics.forwarders[forwarder as string] as AnalyticsConfig['forwarders'][string];
  const { exactly } = entry.loaded_plugin;
  if (!config.exactly_once || exactly === undefined || state === undefined) {
    // What is written from now on must not be cut off by a later run.
    if (state !== undefined) OutputRecord.forget(state);
    return undefined;
  }
  const ctx = scope.context(scope.place('forward', entry.name), entry) as PipelineRunContext<never>;
  const name = `cutting ${entry.name} back`;
  const log = new RetryLog(`${shared.pipeline}: ${name}`, shared.logger);
  return new ExactlyOnce({
    state,
    collectors: config.collect,
    lostSources: () => lostSources(scope.setup, state),
    output: (events) => exactly({ ctx, ...events }),
    random: shared.random,
    name,
    giveUpAfter,
    log,
    pipeline: shared.pipeline,
    logger: shared.logger,
    onCommit: () => scope.observer.committing(),
  });
}

function lostSources(
  { config, analytics }: PipelineSetup,
  state: (collector: string) => CollectorState,
): Observable<readonly string[]> {
  const asked = config.collect.flatMap((name) => {
    const entry = analytics.collectors[name] as AnalyticsConfig['collectors'][string];
    return entry.loaded_plugin.lostSources?.({ config: entry as never, state: state(name) }) ?? [];
  });
  return forkJoin(asked).pipe(
    map((lost) => lost.flat()),
    defaultIfEmpty([]),
  );
}

/** Undefined unless the pipeline delivers exactly once to a forwarder that stores nothing twice. */
export function callPlanOf({ config, analytics, state }: PipelineSetup): CallPlan | undefined {
  if (state === undefined) return undefined;
  const [forwarder] = forwardersOf(config);
  const plugin = analytics.forwarders[forwarder as string]?.loaded_plugin;
  const calls = state('exactly_once');
  if (config.exactly_once && plugin?.exactly === undefined && plugin?.traits?.deduplicates === true) {
    return new CallPlan(calls);
  }
  CallPlan.forget(calls);
  return undefined;
}
