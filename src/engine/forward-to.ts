import { type OperatorFunction, pipe, tap } from 'rxjs';
import { batchingOf, MOST_BATCH_EVENTS } from '../sdk/batching.ts';
import type { AnalyticsConfig, PipelineConfig } from '../sdk/config.ts';
import type { PipelineRunContext } from '../sdk/context.ts';
import { Pause, RetryLog } from './attempts.ts';
import type { CallPlan } from './call-plan.ts';
import type { SharedContext } from './context.ts';
import type { DeadLetters } from './dead-letters.ts';
import { type Batch, sizeOf } from './delivery.ts';
import type { ExactlyOnce } from './exactly-once.ts';
import { forwardStage } from './forward-stage.ts';
import type { CallPart, PipelineProbe, StagePlace } from './probe.ts';
import type { EntryCounters, PipelineCounters } from './stats.ts';

const EVENTS_CHANGED =
  'after a crash, the processors made other events of the same lines than before, or the lines are gone: what was in ' +
  'flight may be stored twice';

/** What a forwarder needs of its pipeline. */
interface ForwardToOptions {
  /** Where it stands: a dead letter is tried without end, and its own failures go nowhere. */
  readonly kind: 'forward' | 'dead_letter';
  readonly config: Pick<PipelineConfig, 'ordered' | 'delivery'>;
  readonly shared: Pick<SharedContext, 'pipeline' | 'logger' | 'random'>;
  readonly ctx: PipelineRunContext;
  readonly counters: PipelineCounters;
  readonly entry: EntryCounters;
  readonly deadLetters: DeadLetters;
  readonly probe: PipelineProbe | undefined;
  /** Milliseconds of continuous failure after which the run fails; undefined: never. */
  readonly giveUpAfter: number | undefined;
  /** Takes the place of the plugin's own ways in a pipeline that delivers exactly once. */
  readonly exactly: ExactlyOnce | undefined;
  /** The same for a forwarder that stores nothing twice under one id. */
  readonly plan: CallPlan | undefined;
}

/** The stage of one forwarder: what it is called with, how often it is tried, and who is told what became of it. */
export function forwardTo(
  { name, loaded_plugin: plugin }: AnalyticsConfig['forwarders'][string],
  options: ForwardToOptions,
): OperatorFunction<Batch, never> {
  const { kind, config, shared, counters, entry, deadLetters, probe, exactly, plan, giveUpAfter } = options;
  const { ordered, delivery } = config;
  const ctx = options.ctx as PipelineRunContext<never>;
  const isDeadLetter = kind === 'dead_letter';
  const attempts = isDeadLetter ? undefined : delivery.attempts;
  const place: StagePlace = { kind, name };
  const retryLog = new RetryLog(`${shared.pipeline}: forwarder ${name}`, shared.logger, (outage) => {
    entry.outage = outage;
  });
  const batching = batchingOf({ ...options.ctx.config });
  entry.holdSeconds = batching?.seconds ?? 0;
  const received = tap((batch: Batch) => {
    entry.received += sizeOf(batch);
  });
  const stage = forwardStage({
    ordered,
    entry,
    counters,
    outcome: isDeadLetter ? 'dead_lettered' : 'forwarded',
    forward: (event, id, restOf) =>
      exactly === undefined ? plugin.forward({ ctx, event, id, restOf }) : exactly.write([event]),
    forwardBatch: exactly
      ? (events) => exactly.write(events)
      : plugin.forwardBatch && ((events, id, restOf) => plugin.forwardBatch?.({ ctx, events, id, restOf })),
    forwardJsonLines: exactly ? undefined : plugin.forwardJsonLines?.({ ctx }),
    failsInPart: exactly === undefined,
    // What is delivered exactly once is written in one order.
    batching: exactly ? undefined : batching,
    planned: plan && {
      plan,
      events: batching?.events ?? MOST_BATCH_EVENTS,
      seconds: batching?.seconds ?? 0,
      onChanged: () => shared.logger.warn(`${shared.pipeline}: ${EVENTS_CHANGED}`),
    },
    isWindowFull: () => ctx.demand.room === 0,
    policy: {
      name: `forwarder ${name}`,
      attempts,
      timeout: delivery.timeout,
      giveUpAfter,
      random: shared.random,
      pause: new Pause(),
      onFailing: (isFailing) => retryLog.failing(isFailing),
      onRetry: (attempt, wait, error) => {
        entry.retries++;
        probe?.retried?.(place, attempt, wait);
        retryLog.failed(attempt, wait, error, attempts);
      },
    },
    onDelivered: (count, delivered) => {
      retryLog.delivered();
      exactly?.written(count, delivered);
      entry.sent += count;
    },
    watch: probe?.left && ((events) => probe.left?.(place, events)),
    onCall: probe?.called && ((batches, calls) => probe.called?.(place, batches.map(partOf), calls)),
    onFailure: (...failure) =>
      isDeadLetter ? deadLetters.lost(name, ...failure) : deadLetters.forwarderFailed(name, ...failure),
  });
  return pipe(received, stage);
}

function partOf(batch: Batch): CallPart {
  return { root: batch.delivery.root, size: sizeOf(batch) };
}
