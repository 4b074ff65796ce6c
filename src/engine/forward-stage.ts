import { randomUUID } from 'node:crypto';
import { EMPTY, from, Observable, type OperatorFunction, of, pipe, tap } from 'rxjs';
import { gatherMap, longTimer, orderedMap } from '../../operators/index.ts';
import { BlockLease, BlockMemory } from '../../operators/internal-files.ts';
import { type Batching, batchingOf, MOST_BATCH_EVENTS } from '../sdk/batching.ts';
import type { AnalyticsConfig, PipelineConfig } from '../sdk/config.ts';
import type { PipelineRunContext } from '../sdk/context.ts';
import { failedEventsOf, isFatal, isPermanent, isUnfinished } from '../sdk/errors.ts';
import type { Outcome } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { PartlyFailedCall } from '../sdk/plugin.ts';
import { unserialisableEvent } from '../sdk/serialise.ts';
import { type AttemptPolicy, Attempts, failsRun, Pause, repeatCall, startCall } from './attempts.ts';
import { type Batch, Batches, batchOf } from './batches.ts';
import type { CallPlan } from './call-plan.ts';
import type { SharedContext } from './context.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Delivery } from './delivery.ts';
import type { ExactlyOnce } from './exactly-once.ts';
import { gatherBatches } from './gather-batches.ts';
import { gatherPlanned } from './gather-planned.ts';
import type { CallEnded, CallPart, Observers, StagePlace } from './observer.ts';
import type { Clock } from './stats.ts';

export interface ForwardStageOptions {
  readonly place: StagePlace;
  readonly observer: Observers;
  readonly clock: Clock;
  readonly ordered: boolean;
  readonly policy: AttemptPolicy;
  /** How batches are gathered and sent; undefined: everything that waits goes in one call at a time. */
  readonly batching: Batching | undefined;
  /** Says which events go into which call, after a crash as before; takes the place of `batching`. */
  readonly planned?: PlannedCalls | undefined;
  /** Whether all events that the pipeline may have in flight are: no more will come for a batch that waits. */
  readonly isWindowFull: () => boolean;
  /** Whether an error may say that only some events of a batch have failed, and the others were delivered. */
  readonly failsInPart: boolean;
  /** The plugin's entry functions, bound to its context. `id` names the events of the call: see `CallId`. */
  readonly forward: (event: CollectedEvent, id: string, restOf?: PartlyFailedCall) => unknown;
  readonly forwardBatch:
    | ((events: readonly CollectedEvent[], id: string, restOf?: PartlyFailedCall) => unknown)
    | undefined;
  /** The same for events as JSON; takes the place of `forwardBatch`. */
  readonly forwardJsonLines: ((documents: Buffer, id: string) => unknown) | undefined;
  /** The outcome of events that were delivered: `dead_lettered` for the dead letter's own stage. */
  readonly outcome: Outcome;
  /** Called in the order of delivery, before the events are acknowledged. */
  readonly onDelivered?: ((count: number, delivery: Delivery) => void) | undefined;
  /** Takes an event that could not be delivered, with its part of the delivery. */
  readonly onFailure: (event: CollectedEvent, delivery: Delivery, error: unknown) => void;
}

/** How calls are made that a crash does not change. */
interface PlannedCalls {
  readonly plan: CallPlan;
  /** Events of a call at most. */
  readonly events: number;
  /** Seconds that events wait for more. */
  readonly seconds: number;
  /** Told that the events of a source are not those of the last run. */
  readonly onChanged: () => void;
}

/** What the functions below work with. */
interface Stage extends ForwardStageOptions {
  readonly memory: BlockMemory;
  /** A name that no other call has, of this or of another run. */
  readonly nextId: () => string;
}

/** An empty array if everything was done at once, so that no Observable is created for it. */
type Deliveries = readonly never[] | Observable<never>;

const NOTHING: readonly never[] = [];
/** Events that are written by one call at most: as many as lines are read at a time. */
const MOST_WRITTEN_EVENTS = 4096;
/** Room for the documents of most calls; others get memory of their own. */
const DOCUMENT_BYTES = 1536 * 1024;
/** Fewer events get memory of their own, so that a thousand pipelines with a line now and then do not hold a block each. */
const FEWEST_IN_BLOCK = 64;
const NO_MEMORY = Buffer.alloc(0);

/**
 * Delivers every event to one forwarder and acknowledges it. `batching` says how events are gathered into calls. Without
 * it, events are delivered in order, one call at a time, while later ones wait in the queue of the stage; with
 * `ordered: false` all calls run at once. Emits nothing. The window bounds the queue. Errors
 * with an error that fails the run.
 */
export function forwardStage(options: ForwardStageOptions): OperatorFunction<Batch, never> {
  const { batching, planned, isWindowFull } = options;
  const stage: Stage = {
    ...options,
    // The parts of a batch are sent one after the other: `concurrency` says how many calls there are.
    ordered: options.ordered || batching !== undefined || planned !== undefined,
    memory: new BlockMemory(),
    nextId: uniqueIds(),
  };
  if (planned !== undefined) {
    const send = (batches: Batches, id: string, isDelivered: boolean) => {
      if (!isDelivered) return deliverGroup(batches, stage, { id });
      acknowledgeAll(batches, stage);
      return NOTHING;
    };
    return gatherPlanned(send, { ...planned, isWindowFull });
  }
  if (batching !== undefined) {
    return gatherBatches((batches) => deliver(batches, stage), { ...batching, isWindowFull });
  }
  return options.ordered
    ? gatherMap((batches: readonly Batch[]) => deliver(new Batches(batches), stage), {
        weigh: ({ rows }) => rows.size,
        maxWeight: options.forwardJsonLines ? MOST_WRITTEN_EVENTS : MOST_BATCH_EVENTS,
      })
    : orderedMap((batch: Batch) => deliver(new Batches([batch]), stage), { ordered: false });
}

function uniqueIds(): () => string {
  let prefix: string | undefined;
  let calls = 0;
  return () => {
    prefix ??= randomUUID();
    return `${prefix}-${calls++}`;
  };
}

/** In one call, if the forwarder can take several events. With one attempt each, one bad event must not fail the others. */
function deliver(batches: Batches, stage: Stage): Deliveries {
  const { forwardBatch, forwardJsonLines, policy, batching } = stage;
  const takesBatches = forwardBatch !== undefined || forwardJsonLines !== undefined;
  const isEachAlone = policy.attempts === 1 && batching === undefined;
  const isOne = batches.size === 1 && !canBeWritten(batches, stage);
  return takesBatches && !isEachAlone && !isOne ? deliverGroup(batches, stage) : deliverEach(batches, stage);
}

/** Whether a forwarder takes these events without one being created: a line can be long. */
function canBeWritten({ prefersJson }: Batches, { forwardJsonLines }: Stage): boolean {
  return forwardJsonLines !== undefined && prefersJson;
}

function deliverEach(batches: Batches, stage: Stage): Deliveries {
  const { forward, policy, nextId, clock } = stage;
  const startedAt = clock.read();
  let calls = 0;
  for (const { rows, delivery } of batches.list) {
    const { events } = rows;
    for (let i = 0; i < events.length; i++) {
      const event = events[i] as CollectedEvent;
      const id = nextId();
      const started = startCall(() => forward(event, id), policy);
      if (started !== 'succeeded') {
        tellEndedCalls(calls, batches, startedAt, stage);
        const pending = deliverGroup(oneOf(event, delivery), stage, { id, started });
        const rest = [...batches.each()]
          .slice(calls + 1)
          .map((later) => () => deliverGroup(oneOf(...later), stage));
        return deliverInTurn([() => pending, ...rest], stage);
      }
      acknowledge(batchOf([event], delivery), stage);
      calls++;
    }
  }
  tellEndedCalls(calls, batches, startedAt, stage);
  return NOTHING;
}

const oneOf = (event: CollectedEvent, delivery: Delivery) => new Batches([batchOf([event], delivery)]);

/** Calls with one event each that have succeeded at once: together, because reading the clock takes as long as one. */
function tellEndedCalls(
  count: number,
  { list }: Batches,
  startedAt: number,
  { place, observer }: Stage,
): void {
  if (count === 0) return;
  observer.called(place, { count, events: count, startedAt, parts: () => partsOf(list, count) })();
}

/** The batches of the first `count` events. */
function partsOf(list: readonly Batch[], count: number): CallPart[] {
  let left = count;
  return list.flatMap(({ rows, delivery: { root } }) => {
    const size = Math.min(left, rows.size);
    left -= size;
    return size === 0 ? [] : [{ root, size }];
  });
}

function deliverInTurn(groups: readonly (() => Deliveries)[], { ordered }: Stage): Observable<never> {
  const concurrency = ordered ? 1 : Number.POSITIVE_INFINITY;
  return from(groups).pipe(orderedMap((group) => group(), { concurrency, ordered: false }));
}

interface GroupOptions {
  /** Names the events. Default: a new one. */
  readonly id?: string;
  /** Attempts that have failed for these events. */
  readonly failedBefore?: number;
  /** The first call, if it was tried. */
  readonly started?: Observable<unknown> | 'held back';
}

function deliverGroup(batches: Batches, stage: Stage, options: GroupOptions = {}): Deliveries {
  const { id = stage.nextId(), failedBefore = 0, started } = options;
  const group = new EventGroup(batches, stage, id, failedBefore);
  if (started instanceof Observable) group.callStarted();
  const call = () => group.call();
  const first = started ?? startCall(call, stage.policy);
  if (first === 'succeeded') {
    group.succeeded();
    return NOTHING;
  }
  return repeatCall(first, call, stage.policy, {
    succeeded: () => group.succeeded(),
    afterFailure: (error) => group.afterFailure(error),
  });
}

/** Events that are delivered together: by one call, which is made again for those that are left after a failure. */
class EventGroup {
  readonly #stage: Stage;
  readonly #attempts: Attempts;
  #left: Batches;
  #id: string;
  /** The call that failed in part, if `#left` is its rest. */
  #restOf: PartlyFailedCall | undefined;
  /** The id of the first call. */
  readonly #callId: string;
  /** Delivered events of a planned call, which are acknowledged when the whole call has ended. */
  #held: readonly Batches[] = [];
  /** The memory of the latest call. That of a failed call is never used again: if it took too long, it may go on. */
  #lease: BlockLease | undefined;
  #onCallEnded: CallEnded | undefined;

  constructor(batches: Batches, stage: Stage, id: string, failedBefore: number) {
    this.#left = batches;
    this.#id = id;
    this.#callId = id;
    this.#stage = stage;
    this.#attempts = new Attempts(stage.policy, failedBefore);
  }

  /** To be called with each call: it takes from now until one of the methods below. */
  callStarted(): void {
    const { place, observer, clock } = this.#stage;
    const { list, size } = this.#left;
    this.#onCallEnded = observer.called(place, {
      count: 1,
      events: size,
      startedAt: clock.read(),
      parts: () => partsOf(list, size),
    });
  }

  #callEnded(failure?: { readonly cause: unknown }): void {
    this.#onCallEnded?.(failure);
    this.#onCallEnded = undefined;
  }

  call(): unknown {
    this.callStarted();
    const { forward, forwardBatch, forwardJsonLines, memory } = this.#stage;
    const batches = this.#left;
    const id = this.#id;
    const restOf = this.#restOf;
    this.#stage.planned?.plan.commit();
    // The rest of a call is sent as events: only so can the forwarder be told what it is a rest of.
    if (batches.size === 1 && !(restOf === undefined && canBeWritten(batches, this.#stage))) {
      return forward(batches.events[0] as CollectedEvent, id, restOf);
    }
    if (forwardJsonLines === undefined) return forwardBatch?.(batches.events, id, restOf);
    if (batches.size < FEWEST_IN_BLOCK) return forwardJsonLines(batches.toJsonLines(NO_MEMORY), id);
    this.#lease = new BlockLease(memory);
    return forwardJsonLines(batches.toJsonLines(this.#lease.take(DOCUMENT_BYTES)), id);
  }

  succeeded(): void {
    this.#callEnded();
    this.#attempts.end();
    this.#lease?.giveBack();
    this.#planEnded();
    acknowledgeAll(this.#left, this.#stage);
  }

  /** Before the last events of the group are acknowledged. */
  #planEnded(): void {
    this.#stage.planned?.plan.ended(this.#callId);
    for (const held of this.#held) acknowledgeAll(held, this.#stage);
    this.#held = [];
  }

  /** Emits when the call is to be made again for the events that are left, and completes when there are none. */
  afterFailure(error: unknown): Observable<unknown> {
    this.#callEnded({ cause: error });
    if (failsRun(error, this.#stage.policy)) throw error;
    const again$ = this.#afterUnserialisable(error) ?? this.#afterPartialFailure(error) ?? this.#retry(error);
    if (again$ === EMPTY) this.#attempts.end();
    return again$;
  }

  /** An event that has no JSON form was in the way of all others, and nothing was sent. Undefined if there is none. */
  #afterUnserialisable(error: unknown): Observable<unknown> | undefined {
    const unserialisable = unserialisableEvent(error);
    if (unserialisable === undefined) return undefined;
    const { events } = this.#left;
    const others = this.#left.select((position) => events[position] !== unserialisable);
    if (others.size === this.#left.size) return undefined;
    this.#giveUp(
      (position) => events[position] === unserialisable,
      () => error,
    );
    this.#keep(others);
    return others.size > 0 ? of(undefined) : EMPTY;
  }

  /** Retries together what failed and may succeed later. Undefined if the error does not name the events that failed. */
  #afterPartialFailure(error: unknown): Observable<unknown> | undefined {
    const { failsInPart } = this.#stage;
    const failed = failsInPart ? failedEventsOf(error, this.#left.size) : undefined;
    if (failed === undefined) return undefined;
    const errorAt = (position: number) => failed.get(position)?.error;
    const isRetried = (position: number) => failed.get(position)?.permanent === false;
    const delivered = this.#left.select((position) => !failed.has(position));
    // Of a planned call, nothing is acknowledged while a part of it is still to be sent: see `CallPlan`.
    if (this.#stage.planned === undefined) acknowledgeAll(delivered, this.#stage);
    else this.#held = [...this.#held, delivered];
    const rest = this.#left.select(isRetried);
    // Without the second condition, a call that does nothing would be made without end.
    const isOngoing = isUnfinished(error) && rest.size < this.#left.size;
    const wait = rest.size === 0 ? undefined : isOngoing ? 0 : this.#attempts.next(error);
    if (wait === undefined) this.#planEnded();
    this.#giveUp((position) => failed.get(position)?.permanent === true, errorAt);
    if (wait === undefined) {
      this.#giveUp(isRetried, errorAt);
      return EMPTY;
    }
    const call = this.#restOf ?? {
      id: this.#id,
      events: this.#left.events,
      left: Array.from({ length: this.#left.size }, (_, position) => position),
    };
    const left = call.left.filter((_, position) => failed.get(position)?.permanent === false);
    this.#keep(rest, { ...call, left });
    return isOngoing ? of(undefined) : longTimer(wait);
  }

  /** Other events than those of the last call: the name of all must not stand for a part of them. */
  #keep(rest: Batches, restOf?: PartlyFailedCall): void {
    if (rest.size !== this.#left.size) {
      this.#id = this.#stage.nextId();
      this.#restOf = restOf;
    }
    this.#left = rest;
  }

  #retry(error: unknown): Observable<unknown> {
    const { attempts: most } = this.#stage.policy;
    // One event may be the cause, unless the error says that every event would fail the same way.
    const isBisected = this.#left.size > 1 && most !== 1 && !isPermanent(error) && !isFatal(error);
    // The last attempt is kept for the halves of a group.
    const limit = most !== undefined && isBisected ? most - 1 : most;
    const wait = isPermanent(error) ? undefined : this.#attempts.next(error, limit);
    if (wait !== undefined) return longTimer(wait);
    if (isBisected) return this.#deliverHalves(error);
    this.#planEnded();
    this.#giveUp(
      () => true,
      () => error,
    );
    return EMPTY;
  }

  /** One event may be what makes a group fail: each half is tried once, and so are the halves of a half that fails. */
  #deliverHalves(error: unknown): Observable<never> {
    const { policy } = this.#stage;
    this.#attempts.end();
    policy.onRetry(this.#attempts.failed, 0, error);
    const middle = Math.ceil(this.#left.size / 2);
    const halves = [this.#left.slice(0, middle), this.#left.slice(middle)];
    const failedBefore = (policy.attempts ?? 0) - 1;
    const deliveries = halves.map((half) => () => deliverGroup(half, this.#stage, { failedBefore }));
    return deliverInTurn(deliveries, this.#stage);
  }

  #giveUp(isGivenUp: (position: number) => boolean, errorAt: (position: number) => unknown): void {
    let position = 0;
    for (const [event, delivery] of this.#left.each()) {
      if (isGivenUp(position)) this.#stage.onFailure(event, delivery, errorAt(position));
      position++;
    }
  }
}

function acknowledgeAll({ list }: Batches, stage: Stage): void {
  for (const batch of list) acknowledge(batch, stage);
}

function acknowledge(batch: Batch, { place, observer, outcome, onDelivered }: Stage): void {
  const { rows, delivery } = batch;
  const { size } = rows;
  onDelivered?.(size, delivery);
  observer.left(place, size, () => rows.events);
  delivery.acknowledge(size, outcome);
}

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

/** The stage of one forwarder: what it is called with, how often it is tried, and who is told what became of it. */
export function forwardTo(
  { name, loaded_plugin: plugin }: AnalyticsConfig['forwarders'][string],
  options: ForwardToOptions,
): OperatorFunction<Batch, never> {
  const { place, config, shared, observer, clock, deadLetters, exactly, plan, giveUpAfter } = options;
  const { ordered, delivery } = config;
  const ctx = options.ctx as PipelineRunContext<never>;
  const isDeadLetter = place.kind === 'dead_letter';
  const attempts = isDeadLetter ? undefined : delivery.attempts;
  const batching = batchingOf({ ...options.ctx.config });
  observer.holds(place, batching?.seconds ?? 0);
  const received = tap(({ rows }: Batch) => observer.received(place, rows.size));
  const stage = forwardStage({
    place,
    observer,
    clock,
    ordered,
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
      onFailing: (isFailing) => observer.retrying(place, isFailing),
      onRetry: (attempt, wait, error) => observer.retried(place, attempt, wait, error, attempts),
    },
    onDelivered: exactly && ((count, delivered) => exactly.written(count, delivered)),
    onFailure: (...failure) =>
      isDeadLetter ? deadLetters.lost(place, ...failure) : deadLetters.forwarderFailed(place, ...failure),
  });
  return pipe(received, stage);
}
