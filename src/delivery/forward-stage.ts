import { catchError, concatMap, EMPTY, from, type Observable, type OperatorFunction, tap } from 'rxjs';
import { gatherMap } from '../../operators/gather-map.ts';
import { longTimer } from '../../operators/long-timer.ts';
import { orderedMap } from '../../operators/ordered-map.ts';
import { failedEventsOf, isFatal, isPermanent } from '../errors.ts';
import { type CollectedEvent, type Outcome, unserialisableEvent } from '../models/index.ts';
import { type AttemptPolicy, attempt, retryWait } from './attempts.ts';
import { type Batch, type Delivery, sizeOf } from './delivery.ts';
import { DocumentMemory, type Documents } from './document-memory.ts';

export interface ForwardStageOptions {
  readonly ordered: boolean;
  readonly policy: AttemptPolicy;
  /** Whether an error may say that only some events of a batch have failed, and the others were delivered. */
  readonly failsInPart: boolean;
  /** The plugin's entry functions, bound to its context. */
  readonly forward: (event: CollectedEvent) => unknown;
  readonly forwardBatch: ((events: readonly CollectedEvent[]) => unknown) | undefined;
  /** The same for events as JSON; takes the place of `forwardBatch`. */
  readonly forwardJsonLines: ((documents: Buffer) => unknown) | undefined;
  /** The outcome of what was delivered: `dead_lettered` for the dead letter's own stage. */
  readonly outcome: Outcome;
  /** Called in the order of delivery, ahead of settling. */
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

/** Events handed to a `forwardBatch` at a time, at most, when several batches wait. */
const MAX_GATHERED = 1024;
const NOTHING: readonly never[] = [];

/**
 * Delivers every event to one forwarder and settles it. In order, one call at a time, what arrives meanwhile
 * waiting in its queue; with `ordered: false` all at once. Emits nothing; the window bounds the queue. Errors with what
 * a forwarder calls fatal.
 */
export function forwardStage(options: ForwardStageOptions): OperatorFunction<Batch, never> {
  const stage: Stage = { ...options, memory: new DocumentMemory() };
  return options.ordered
    ? gatherMap((batches) => deliver(batches, stage), {
        weigh: sizeOf,
        maxWeight: MAX_GATHERED,
      })
    : orderedMap((batch) => deliver([batch], stage), { ordered: false });
}

/** What comes with more than one event goes in one call, if the forwarder can take it. */
function deliver(batches: readonly Batch[], stage: Stage): readonly never[] | Observable<never> {
  return stage.policy.attempts === 1 ? deliverEach(batches, stage) : deliverTogether(batches, stage);
}

function deliverTogether(batches: readonly Batch[], stage: Stage): readonly never[] | Observable<never> {
  const { attempts } = stage.policy;
  const size = totalSize(batches);
  const call = size === 1 ? undefined : callForAll(batches, stage);
  if (call === undefined) return deliverEach(batches, stage);
  let used = 1;
  const pending = attempt(call.run, {
    ...stage.policy,
    // The last attempt is kept for the halves of a batch.
    attempts: attempts && Math.max(1, attempts - 1),
    isFinal: (error) => stage.failsInPart && failedEventsOf(error, size) !== undefined,
    onRetry: (attempt, wait, error) => {
      used = attempt + 1;
      stage.policy.onRetry(attempt, wait, error);
    },
  });
  const delivered = () => {
    call.delivered();
    settleAll(batches, stage);
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
      return afterFailure(batches, error, used, stage);
    }),
  );
}

/** What is to be done when a call for several events has failed for good. */
function afterFailure(
  batches: readonly Batch[],
  error: unknown,
  used: number,
  stage: Stage,
): readonly never[] | Observable<never> {
  const { attempts, random, onRetry } = stage.policy;
  const unserialisable = unserialisableEvent(error);
  const others = pick(batches, (event) => event !== unserialisable);
  if (totalSize(others) < totalSize(batches)) {
    // Nothing was sent: the event stands in the way of all others.
    failAll(
      pick(batches, (event) => event === unserialisable),
      error,
      stage,
    );
    return deliverTogether(others, stage);
  }
  const failed = stage.failsInPart ? failedEventsOf(error, totalSize(batches)) : undefined;
  if (failed !== undefined) {
    const positions = new Set(failed);
    settleAll(
      pick(batches, (_, position) => !positions.has(position)),
      stage,
    );
    const rest = pick(batches, (_, position) => positions.has(position));
    if (!isPermanent(error) && used !== attempts) {
      const wait = retryWait(used, random);
      onRetry(used, wait, error);
      const left = attempts === undefined ? stage : withAttempts(attempts - used, stage);
      return longTimer(wait).pipe(concatMap(() => deliverTogether(rest, left)));
    }
    failAll(rest, error, stage);
    return NOTHING;
  }
  if (isPermanent(error)) {
    failAll(batches, error, stage);
    return NOTHING;
  }
  onRetry(used, 0, error);
  return deliverHalves(batches, withAttempts(1, stage));
}

/** One event may be what spoils a batch: each half is tried once, and so are the halves of one that fails. */
function deliverHalves(batches: readonly Batch[], stage: Stage): Observable<never> {
  const middle = Math.ceil(totalSize(batches) / 2);
  const halves = [
    pick(batches, (_, position) => position < middle),
    pick(batches, (_, position) => position >= middle),
  ];
  return from(halves).pipe(
    orderedMap((half) => deliverTogether(half, stage), {
      concurrency: stage.ordered ? 1 : Number.POSITIVE_INFINITY,
      ordered: false,
    }),
  );
}

function withAttempts(attempts: number, stage: Stage): Stage {
  return { ...stage, policy: { ...stage.policy, attempts } };
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
    for (const { unmade } of batches) unmade?.keep?.();
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

function settleAll(batches: readonly Batch[], { outcome, onDelivered, watch }: ForwardStageOptions): void {
  for (const batch of batches) {
    const { delivery } = batch;
    const size = sizeOf(batch);
    onDelivered(size, delivery);
    watch?.(batch.events);
    delivery.settle(size, outcome);
  }
}

function deliverEach(
  batches: readonly Batch[],
  options: ForwardStageOptions,
): readonly never[] | Observable<never> {
  for (let b = 0; b < batches.length; b++) {
    const { events, delivery } = batches[b] as Batch;
    for (let i = 0; i < events.length; i++) {
      const pending = deliverOne(events[i] as CollectedEvent, delivery, options);
      if (pending !== undefined) return concatRest(pending, batches, b, i + 1, options);
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
  options: ForwardStageOptions,
): Observable<never> {
  const rest = batches.slice(batch).flatMap(({ events, delivery }, b) => {
    const left = b === 0 ? events.slice(event) : events;
    return left.map((e) => () => deliverOne(e, delivery, options) ?? NOTHING);
  });
  return from([() => pending, ...rest]).pipe(
    orderedMap((deliverNext) => deliverNext(), {
      concurrency: options.ordered ? 1 : Number.POSITIVE_INFINITY,
      ordered: false,
    }),
  );
}

/** Undefined if it was delivered at once. */
function deliverOne(
  event: CollectedEvent,
  delivery: Delivery,
  options: ForwardStageOptions,
): Observable<never> | undefined {
  const pending = attempt(() => options.forward(event), options.policy);
  if (pending === undefined) {
    delivered(event, delivery, options);
    return undefined;
  }
  return pending.pipe(
    tap({ complete: () => delivered(event, delivery, options) }),
    catchError((error) => {
      if (isFatal(error)) throw error;
      options.onFailure(event, delivery, error);
      return EMPTY;
    }),
  );
}

function delivered(
  event: CollectedEvent,
  delivery: Delivery,
  { onDelivered, watch, outcome }: ForwardStageOptions,
): void {
  onDelivered(1, delivery);
  watch?.([event]);
  delivery.settle(1, outcome);
}
