import { randomUUID } from 'node:crypto';
import { type OperatorFunction, pipe, tap } from 'rxjs';
import { batchingOf, MOST_BATCH_EVENTS } from '../sdk/batching.ts';
import type { AnalyticsConfig, PipelineConfig } from '../sdk/config.ts';
import type { PipelineRunContext } from '../sdk/context.ts';
import type { ForwardPlugin } from '../sdk/plugin.ts';
import { calledFor, kindOf, wrongReturn } from '../sdk/plugin-returns.ts';
import { Acknowledgement } from './acknowledgement.ts';
import { Pause } from './attempts.ts';
import type { Batch, Batches } from './batches.ts';
import type { CallPlan } from './call-plan.ts';
import type { Clock } from './clock.ts';
import type { SharedContext } from './context.ts';
import type { DeadLetters } from './dead-letters.ts';
import { deliver } from './deliver.ts';
import { type Deliveries, DONE, deliverGroup, type ForwarderStage } from './deliver-group.ts';
import type { ExactlyOnce } from './exactly-once.ts';
import { ForwarderCalls, type ForwarderFunctions } from './forwarder-calls.ts';
import { gather } from './gather-batches.ts';
import { gatherPlanned } from './gather-planned.ts';
import type { Observers, StagePlace } from './observer.ts';

/** Events that are written by one call at most: as many as lines are read at a time. */
const MOST_WRITTEN_EVENTS = 4096;

const EVENTS_CHANGED =
  'after a crash, the processors made other events of the same lines than before, or the lines are gone: what was in ' +
  'flight may be stored twice';

/** What a forwarder needs of its pipeline. */
interface ForwardToOptions {
  /** Where it stands: a dead letter is tried without end, and its own failures go nowhere. */
  readonly place: StagePlace;
  readonly config: Pick<PipelineConfig, 'ordered' | 'delivery'>;
  readonly shared: Pick<SharedContext, 'pipeline' | 'logger' | 'random'>;
  readonly ctx: PipelineRunContext;
  readonly observer: Observers;
  readonly clock: Clock;
  readonly deadLetters: DeadLetters;
  /** Milliseconds of continuous failure after which the run fails; undefined: never. */
  readonly giveUpAfter: number | undefined;
  /** Takes the place of the plugin's own ways in a pipeline that delivers exactly once. */
  readonly exactly: ExactlyOnce | undefined;
  /** The same for a forwarder that stores nothing twice under one id. */
  readonly plan: CallPlan | undefined;
}

/**
 * The stage of one forwarder: gathers events into calls, repeats calls that fail, and acknowledges each event. Emits
 * nothing. The window bounds what waits here. Errors with an error that fails the run.
 */
export function forwardTo(
  entry: AnalyticsConfig['forwarders'][string],
  options: ForwardToOptions,
): OperatorFunction<Batch, never> {
  const { place, config, shared, observer, exactly, plan } = options;
  const { ordered } = config;
  const { demand } = options.ctx;
  const batching = batchingOf({ ...options.ctx.config });
  // What is delivered exactly once is written in one order.
  const limits = exactly === undefined ? batching : undefined;
  const stage = stageOf(entry, options, ordered || limits !== undefined || plan !== undefined);
  const isWindowFull = () => demand.room === 0;
  observer.holds(place, batching?.seconds ?? 0);
  const gathered =
    plan === undefined
      ? gather((batches) => deliver(batches, stage, stage.policy.attempts === 1 && limits === undefined), {
          batching: limits,
          ordered,
          most: stage.calls.functions.forwardJsonLines ? MOST_WRITTEN_EVENTS : MOST_BATCH_EVENTS,
          isWindowFull,
        })
      : gatherPlanned((batches, id, isDelivered) => deliverPlanned(batches, stage, id, isDelivered), {
          plan,
          events: stage.calls.takesBatches ? (batching?.events ?? MOST_BATCH_EVENTS) : 1,
          seconds: batching?.seconds ?? 0,
          isWindowFull,
          onChanged: () => shared.logger.warn(`${shared.pipeline}: ${EVENTS_CHANGED}`),
        });
  return pipe(
    tap(({ rows }: Batch) => observer.received(place, rows.size)),
    gathered,
  );
}

function deliverPlanned(
  batches: Batches,
  stage: ForwarderStage,
  id: string,
  isDelivered: boolean,
): Deliveries {
  if (!isDelivered) return deliverGroup(batches, stage, { id });
  stage.acknowledgement.deliveredAll(batches);
  return DONE;
}

/** What the calls are made with, how often, and who is told what became of them. `ordered`: one group after the other. */
function stageOf(
  { name, loaded_plugin: plugin }: AnalyticsConfig['forwarders'][string],
  options: ForwardToOptions,
  ordered: boolean,
): ForwarderStage {
  const { place, config, shared, observer, clock, deadLetters, exactly, plan, giveUpAfter } = options;
  const isDeadLetter = place.kind === 'dead_letter';
  const attempts = isDeadLetter ? undefined : config.delivery.attempts;
  const functions = exactly
    ? exactFunctions(exactly)
    : functionsOf(plugin, options.ctx as PipelineRunContext<never>, `forwarder ${name}`);
  return {
    calls: new ForwarderCalls(functions, place, observer, clock),
    acknowledgement: new Acknowledgement({
      place,
      observer,
      outcome: isDeadLetter ? 'dead_lettered' : 'forwarded',
      onDelivered: exactly && ((count, delivered) => exactly.written(count, delivered)),
      onFailure: (...failure) =>
        isDeadLetter ? deadLetters.lost(place, ...failure) : deadLetters.forwarderFailed(place, ...failure),
    }),
    policy: {
      name: `forwarder ${name}`,
      attempts,
      timeout: config.delivery.timeout,
      giveUpAfter,
      random: shared.random,
      pause: new Pause(),
      onFailing: (isFailing) => observer.retrying(place, isFailing),
      onRetry: (attempt, wait, error) => observer.retried(place, attempt, wait, error, attempts),
    },
    ordered,
    failsInPart: exactly === undefined,
    plan,
    nextId: uniqueIds(),
  };
}

function functionsOf(plugin: ForwardPlugin, ctx: PipelineRunContext<never>, who: string): ForwarderFunctions {
  return {
    forward: (event, id, restOf) => plugin.forward({ ctx, event, id, restOf }),
    forwardBatch:
      plugin.forwardBatch && ((events, id, restOf) => plugin.forwardBatch?.({ ctx, events, id, restOf })),
    forwardJsonLines: jsonLinesOf(plugin, ctx, who),
  };
}

/** @throws MillraceError for what is no function: it would be called for every batch, and fail without end. */
function jsonLinesOf(
  plugin: ForwardPlugin,
  ctx: PipelineRunContext<never>,
  who: string,
): ForwarderFunctions['forwardJsonLines'] {
  const write: unknown = calledFor(who, 'forwardJsonLines', () => plugin.forwardJsonLines?.({ ctx }));
  if (write === undefined || typeof write === 'function')
    return write as ForwarderFunctions['forwardJsonLines'];
  throw wrongReturn(
    who,
    `forwardJsonLines returned ${kindOf(write)}`,
    'a function `(documents, id) => …` that writes them, or undefined to leave the events to `forwardBatch`',
  );
}

function exactFunctions(exactly: ExactlyOnce): ForwarderFunctions {
  return {
    forward: (event) => exactly.write([event]),
    forwardBatch: (events) => exactly.write(events),
    forwardJsonLines: undefined,
  };
}

function uniqueIds(): () => string {
  let prefix: string | undefined;
  let calls = 0;
  return () => {
    prefix ??= randomUUID();
    return `${prefix}-${calls++}`;
  };
}
