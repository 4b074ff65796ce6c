import { catchError, EMPTY, from, type Observable, type OperatorFunction, tap } from 'rxjs';
import { gatherMap } from '../../operators/gather-map.ts';
import { orderedMap } from '../../operators/ordered-map.ts';
import { isFatal } from '../errors.ts';
import type { CollectedEvent, Outcome } from '../models/index.ts';
import { type AttemptPolicy, attempt } from './attempts.ts';
import { type Batch, type Delivery, sizeOf } from './delivery.ts';
import { DocumentMemory, type Documents } from './document-memory.ts';

export interface ForwardStageOptions {
  readonly ordered: boolean;
  readonly policy: AttemptPolicy;
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

function deliver(batches: readonly Batch[], options: Stage): readonly never[] | Observable<never> {
  const { policy } = options;
  const isSingle = batches.length === 1 && sizeOf(batches[0] as Batch) === 1;
  const call = isSingle || policy.attempts === 1 ? undefined : callForAll(batches, options);
  if (call === undefined) return deliverEach(batches, options);
  // A bounded number of attempts is for single events: one of them may be what spoils the batch.
  const bounded = policy.attempts !== undefined;
  const delivered = () => {
    call.delivered();
    settleAll(batches, options);
  };
  const pending = attempt(call.run, bounded ? { ...policy, attempts: 1 } : policy);
  if (pending === undefined) {
    delivered();
    return NOTHING;
  }
  return pending.pipe(
    tap({ complete: delivered }),
    catchError((error) => {
      if (isFatal(error)) throw error;
      call.failed();
      policy.onRetry(1, 0, error);
      return deliverEach(batches, afterFirstAttempt(options));
    }),
  );
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

function afterFirstAttempt(options: ForwardStageOptions): ForwardStageOptions {
  const { attempts, onRetry } = options.policy;
  if (attempts === undefined) return options;
  const policy: AttemptPolicy = {
    ...options.policy,
    attempts: attempts - 1,
    onRetry: (attempt, wait, error) => onRetry(attempt + 1, wait, error),
  };
  return { ...options, policy };
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
