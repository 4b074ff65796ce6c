import { randomUUID } from 'node:crypto';
import { type OperatorFunction, pipe, tap } from 'rxjs';
import type { Demand } from '../../operators/index.ts';
import { type Batching, MOST_BATCH_EVENTS } from '../sdk/batching.ts';
import type { PipelineRunContext } from '../sdk/context.ts';
import type { Outcome } from '../sdk/event-batch.ts';
import type { ForwardPlugin } from '../sdk/plugin.ts';
import { calledFor, kindOf, wrongReturn } from '../sdk/plugin-returns.ts';
import { Acknowledgement, type AcknowledgementOptions } from './acknowledgement.ts';
import { Pause } from './attempts.ts';
import type { Batch, Batches } from './batches.ts';
import type { CallPlan } from './call-plan.ts';
import { callTime } from './call-time.ts';
import type { Clock } from './clock.ts';
import type { SharedContext } from './context.ts';
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

/** What events are delivered to: a forwarder, or a buffer. */
interface ForwardTarget {
  /** For messages: `forwarder archive`. */
  readonly who: string;
  readonly functions: ForwarderFunctions;
  /** The limits of its calls; undefined if it has none. */
  readonly batching: Batching | undefined;
  /** Calls for the same events at most; undefined: without end. */
  readonly attempts: number | undefined;
  /** Seconds for a call; undefined: no limit. */
  readonly timeout: number | undefined;
}

/** What a forwarder needs of its pipeline. */
interface ForwardToOptions {
  readonly place: StagePlace;
  readonly ordered: boolean;
  readonly shared: Pick<SharedContext, 'pipeline' | 'logger' | 'random'>;
  readonly demand: Demand;
  readonly observer: Observers;
  readonly clock: Clock;
  /** The outcome of events that were delivered. Default: `forwarded`. */
  readonly outcome?: Outcome;
  /** Takes an event that could not be delivered. */
  readonly onFailure: AcknowledgementOptions['onFailure'];
  /** Milliseconds of continuous failure after which the run fails; undefined: never. */
  readonly giveUpAfter: number | undefined;
  /** Told of what is written in a pipeline that delivers exactly once; `functions` are its own then. */
  readonly exactly?: ExactlyOnce | undefined;
  /** What calls are made of, for a forwarder that stores nothing twice under one id. */
  readonly plan?: CallPlan | undefined;
}

/**
 * The stage of one forwarder: gathers events into calls, repeats calls that fail, and acknowledges each event. Emits
 * nothing. The window bounds what waits here. Errors with an error that fails the run.
 */
export function forwardTo(target: ForwardTarget, options: ForwardToOptions): OperatorFunction<Batch, never> {
  const { place, ordered, shared, demand, observer, exactly, plan } = options;
  const { batching } = target;
  // What is delivered exactly once is written in one order.
  const limits = exactly === undefined ? batching : undefined;
  const stage = stageOf(target, options, ordered || limits !== undefined || plan !== undefined);
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
  { who, functions, attempts, timeout }: ForwardTarget,
  options: ForwardToOptions,
  ordered: boolean,
): ForwarderStage {
  const { place, shared, observer, clock, outcome = 'forwarded', onFailure, exactly, plan } = options;
  return {
    calls: new ForwarderCalls(functions, place, observer, clock),
    acknowledgement: new Acknowledgement({
      place,
      observer,
      outcome,
      onDelivered: exactly && ((count, delivered) => exactly.written(count, delivered)),
      onFailure,
    }),
    policy: {
      name: who,
      attempts,
      timeout,
      giveUpAfter: options.giveUpAfter,
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

/** The functions of a plugin, with its context. @throws MillraceError for a form of events that is none */
export function functionsOf(
  plugin: ForwardPlugin,
  ctx: PipelineRunContext<never>,
  who: string,
): ForwarderFunctions {
  return {
    forward: (event, id, restOf, eventIds) => plugin.forward({ ctx, event, id, restOf, eventIds }),
    forwardBatch:
      plugin.forwardBatch &&
      ((events, id, restOf, eventIds) => plugin.forwardBatch?.({ ctx, events, id, restOf, eventIds })),
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

/** What takes the place of a plugin's functions in a pipeline that delivers exactly once. */
export function exactFunctions(exactly: ExactlyOnce): ForwarderFunctions {
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
    return `${callTime()}-${prefix}-${calls++}`;
  };
}
