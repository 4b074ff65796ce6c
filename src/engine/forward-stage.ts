import { catchError, concatMap, EMPTY, from, type Observable, type OperatorFunction, tap } from 'rxjs';
import { gatherMap } from '../../operators/gather-map.ts';
import { orderedMap } from '../../operators/ordered-map.ts';
import { longTimer } from '../../operators/support/long-timer.ts';
import { type Batching, MOST_BATCH_EVENTS } from '../sdk/batching.ts';
import { type EventFailure, failedEventsOf, isFatal, isPermanent } from '../sdk/errors.ts';
import { type CollectedEvent, type Outcome, unserialisableEvent } from '../sdk/models.ts';
import { type AttemptPolicy, Attempts, attempt, attemptOn } from './attempts.ts';
import { type Batch, type Delivery, sizeOf } from './delivery.ts';
import { DocumentMemory, type Documents } from './document-memory.ts';
import { gatherBatches } from './gather-batches.ts';

export interface ForwardStageOptions {
  readonly ordered: boolean;
  readonly policy: AttemptPolicy;
  /** How batches are gathered and sent; undefined: what waits goes in one call at a time. */
  readonly batching: Batching | undefined;
  /** Whether all events that the pipeline may have in flight are: no more will come for a batch that waits. */
  readonly isWindowFull: () => boolean;
  /** Whether an error may say that only some events of a batch have failed, and the others were delivered. */
  readonly failsInPart: boolean;
  /** The plugin's entry functions, bound to its context. */
  readonly forward: (event: CollectedEvent) => unknown;
  readonly forwardBatch: ((events: readonly CollectedEvent[]) => unknown) | undefined;
  /** The same for events as JSON; takes the place of `forwardBatch`. */
  readonly forwardJsonLines: ((documents: Buffer) => unknown) | undefined;
  /** The outcome of what was delivered: `dead_lettered` for the dead letter's own stage. */
  readonly outcome: Outcome;
  /** Called in the order of delivery, ahead of acknowledging. */
  readonly onDelivered: (count: number, delivery: Delivery) => void;
  /** Sees what was delivered; for tests and pictures. */
  readonly watch: ((events: readonly CollectedEvent[]) => void) | undefined;
  /** Takes an event that could not be delivered, with its part of the delivery. */
  readonly onFailure: (event: CollectedEvent, delivery: Delivery, error: unknown) => void;
}

/** What the functions below work with. */
interface Stage extends ForwardStageOptions {
  readonly memory: DocumentMemory;
}

const NOTHING: readonly never[] = [];

/**
 * Delivers every event to one forwarder and acknowledges it. With `batching` as that says; otherwise in order, one call at a
 * time, what arrives meanwhile waiting in its queue, or with `ordered: false` all at once. Emits nothing; the window
 * bounds the queue. Errors with what a forwarder calls fatal.
 */
export function forwardStage(options: ForwardStageOptions): OperatorFunction<Batch, never> {
  const { batching, isWindowFull } = options;
  const stage: Stage = {
    ...options,
    // The parts of a batch are sent one after the other: `concurrency` says how many calls there are.
    ordered: options.ordered || batching !== undefined,
    memory: new DocumentMemory(),
  };
  if (batching !== undefined) {
    return gatherBatches((batches) => deliver(batches, stage), { ...batching, isWindowFull });
  }
  return options.ordered
    ? gatherMap((batches) => deliver(batches, stage), {
        weigh: sizeOf,
        maxWeight: MOST_BATCH_EVENTS,
      })
    : orderedMap((batch) => deliver([batch], stage), { ordered: false });
}

/** What comes with more than one event goes in one call, if the forwarder can take it. */
function deliver(batches: readonly Batch[], stage: Stage): readonly never[] | Observable<never> {
  const isEachAlone = stage.policy.attempts === 1 && stage.batching === undefined;
  return isEachAlone ? deliverEach(batches, stage) : deliverTogether(batches, stage);
}

/** `attempts` are those that were made for these events before; undefined: none. */
function deliverTogether(
  batches: readonly Batch[],
  stage: Stage,
  attempts?: Attempts,
): readonly never[] | Observable<never> {
  const size = totalSize(batches);
  const call = size === 1 ? undefined : callForAll(batches, stage);
  if (call === undefined) return deliverEach(batches, stage, attempts);
  const tries = attempts ?? new Attempts(stage.policy);
  const most = stage.policy.attempts;
  // The last attempt is kept for the halves of a batch.
  const limit = most && Math.max(1, most - 1);
  const isPartial = (error: unknown) => stage.failsInPart && failedEventsOf(error, size) !== undefined;
  const pending = attemptOn(call.run, tries, isPartial, limit);
  const delivered = () => {
    tries.end();
    call.delivered();
    acknowledgeAll(batches, stage);
  };
  if (pending === undefined) {
    delivered();
    return NOTHING;
  }
  return pending.pipe(
    tap({ complete: delivered }),
    catchError((error) => {
      if (isFatal(error)) throw error;
      call.failed();
      return afterFailure(batches, error, tries, stage);
    }),
  );
}

/** What is to be done when a call for several events has failed for good. */
function afterFailure(
  batches: readonly Batch[],
  error: unknown,
  attempts: Attempts,
  stage: Stage,
): readonly never[] | Observable<never> {
  const size = totalSize(batches);
  const unserialisable = unserialisableEvent(error);
  const others = pick(batches, (event) => event !== unserialisable);
  if (totalSize(others) < size) {
    // Nothing was sent: the event stands in the way of all others.
    failAll(
      pick(batches, (event) => event === unserialisable),
      error,
      stage,
    );
    if (others.length > 0) return deliverTogether(others, stage, attempts);
    attempts.end();
    return NOTHING;
  }
  const failed = stage.failsInPart ? failedEventsOf(error, size) : undefined;
  if (failed !== undefined) return afterPartialFailure(batches, failed, error, attempts, stage);
  attempts.end();
  const { attempts: most, onRetry } = stage.policy;
  if (isPermanent(error) || most === 1) {
    failAll(batches, error, stage);
    return NOTHING;
  }
  onRetry(attempts.failed, 0, error);
  return deliverHalves(batches, stage);
}

/** What was delivered is acknowledged at once, and so is what failed for good. The rest is tried again, in one batch. */
function afterPartialFailure(
  batches: readonly Batch[],
  failed: ReadonlyMap<number, EventFailure>,
  error: unknown,
  attempts: Attempts,
  stage: Stage,
): readonly never[] | Observable<never> {
  acknowledgeAll(
    pick(batches, (_, position) => !failed.has(position)),
    stage,
  );
  failEach(batches, (position) => failed.get(position)?.permanent === true, failed, stage);
  const isLeft = (position: number) => failed.get(position)?.permanent === false;
  const rest = pick(batches, (_, position) => isLeft(position));
  const wait = rest.length === 0 ? undefined : attempts.next(error);
  if (wait === undefined) {
    attempts.end();
    failEach(batches, isLeft, failed, stage);
    return NOTHING;
  }
  return longTimer(wait).pipe(concatMap(() => deliverTogether(rest, stage, attempts)));
}

/** Gives up some events of a batch, each with its own reason. */
function failEach(
  batches: readonly Batch[],
  isGivenUp: (position: number) => boolean,
  failed: ReadonlyMap<number, EventFailure>,
  { onFailure }: Stage,
): void {
  let position = 0;
  for (const { events, delivery } of batches) {
    for (const event of events) {
      if (isGivenUp(position)) onFailure(event, delivery, failed.get(position)?.error);
      position++;
    }
  }
}

/** One event may be what spoils a batch: each half is tried once, and so are the halves of one that fails. */
function deliverHalves(batches: readonly Batch[], stage: Stage): Observable<never> {
  const { policy } = stage;
  const middle = Math.ceil(totalSize(batches) / 2);
  const halves = [
    pick(batches, (_, position) => position < middle),
    pick(batches, (_, position) => position >= middle),
  ];
  return from(halves).pipe(
    orderedMap((half) => deliverTogether(half, stage, new Attempts(policy, (policy.attempts ?? 0) - 1)), {
      concurrency: stage.ordered ? 1 : Number.POSITIVE_INFINITY,
      ordered: false,
    }),
  );
}

/** Those events of some batches that are wanted, by their positions in all of them. */
function pick(
  batches: readonly Batch[],
  isWanted: (event: CollectedEvent, position: number) => boolean,
): Batch[] {
  let position = 0;
  return batches.flatMap(({ events, delivery }) => {
    const picked = events.filter((event) => isWanted(event, position++));
    return picked.length === 0 ? [] : [{ events: picked, delivery }];
  });
}

function failAll(batches: readonly Batch[], error: unknown, { onFailure }: Stage): void {
  for (const { events, delivery } of batches) for (const event of events) onFailure(event, delivery, error);
}

function totalSize(batches: readonly Batch[]): number {
  return batches.reduce((size, batch) => size + sizeOf(batch), 0);
}

/** One way to deliver several batches in one call. */
interface Call {
  readonly run: () => unknown;
  readonly delivered: () => void;
  /** A call has failed, or took too long: it may not be over yet. */
  readonly failed: () => void;
}

/** Undefined if the forwarder takes single events only. */
function callForAll(
  batches: readonly Batch[],
  { forwardBatch, forwardJsonLines, memory }: Stage,
): Call | undefined {
  if (forwardJsonLines !== undefined) return callWithDocuments(batches, forwardJsonLines, memory);
  if (forwardBatch === undefined) return undefined;
  const events =
    batches.length === 1 ? (batches[0] as Batch).events : batches.flatMap((batch) => batch.events);
  return { run: () => forwardBatch(events), delivered: () => {}, failed: () => {} };
}

function callWithDocuments(
  batches: readonly Batch[],
  forwardJsonLines: (documents: Buffer) => unknown,
  memory: DocumentMemory,
): Call {
  let documents: Documents | undefined;
  let isFirst = true;
  const failed = () => {
    isFirst = false;
    for (const { lazy } of batches) lazy?.keep?.();
  };
  return {
    run: () => {
      if (documents !== undefined) failed();
      documents ??= memory.write(batches);
      return forwardJsonLines(documents.bytes);
    },
    delivered: () => {
      if (isFirst) documents?.giveBack();
    },
    failed,
  };
}

function acknowledgeAll(
  batches: readonly Batch[],
  { outcome, onDelivered, watch }: ForwardStageOptions,
): void {
  for (const batch of batches) {
    const { delivery } = batch;
    const size = sizeOf(batch);
    onDelivered(size, delivery);
    watch?.(batch.events);
    delivery.acknowledge(size, outcome);
  }
}

function deliverEach(
  batches: readonly Batch[],
  stage: Stage,
  attempts?: Attempts,
): readonly never[] | Observable<never> {
  for (let b = 0; b < batches.length; b++) {
    const { events, delivery } = batches[b] as Batch;
    for (let i = 0; i < events.length; i++) {
      const pending = deliverOne(events[i] as CollectedEvent, delivery, stage, attempts);
      if (pending !== undefined) return concatRest(pending, batches, b, i + 1, stage);
    }
  }
  return NOTHING;
}

/** Goes on behind an event that is being delivered: in order one after the other, else all at once. */
function concatRest(
  pending: Observable<never>,
  batches: readonly Batch[],
  batch: number,
  event: number,
  stage: Stage,
): Observable<never> {
  const rest = batches.slice(batch).flatMap(({ events, delivery }, b) => {
    const left = b === 0 ? events.slice(event) : events;
    return left.map((e) => () => deliverOne(e, delivery, stage) ?? NOTHING);
  });
  return from([() => pending, ...rest]).pipe(
    orderedMap((deliverNext) => deliverNext(), {
      concurrency: stage.ordered ? 1 : Number.POSITIVE_INFINITY,
      ordered: false,
    }),
  );
}

/** Undefined if it was delivered at once. */
function deliverOne(
  event: CollectedEvent,
  delivery: Delivery,
  stage: Stage,
  attempts?: Attempts,
): Observable<never> | undefined {
  const isFinal = stage.failsInPart ? isRefusedForGood : undefined;
  const pending = attempt(() => stage.forward(event), stage.policy, isFinal, attempts);
  if (pending === undefined) {
    delivered(event, delivery, stage);
    return undefined;
  }
  return pending.pipe(
    tap({ complete: () => delivered(event, delivery, stage) }),
    catchError((error) => {
      if (isFatal(error)) throw error;
      const failure = stage.failsInPart ? failedEventsOf(error, 1)?.get(0) : undefined;
      stage.onFailure(event, delivery, failure?.error ?? error);
      return EMPTY;
    }),
  );
}

function isRefusedForGood(error: unknown): boolean {
  return failedEventsOf(error, 1)?.get(0)?.permanent === true;
}

function delivered(event: CollectedEvent, delivery: Delivery, { onDelivered, watch, outcome }: Stage): void {
  onDelivered(1, delivery);
  watch?.([event]);
  delivery.acknowledge(1, outcome);
}
