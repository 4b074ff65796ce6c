import { EMPTY, from, Observable, of } from 'rxjs';
import { longTimer, orderedMap } from '../../operators/index.ts';
import { isFatal, isPermanent, withValidFailedEvents } from '../sdk/errors.ts';
import type { PartlyFailedCall } from '../sdk/plugin.ts';
import type { Acknowledgement } from './acknowledgement.ts';
import { type AttemptPolicy, Attempts, failsRun, repeatCall, startCall } from './attempts.ts';
import type { Batches } from './batches.ts';
import type { CallPlan } from './call-plan.ts';
import type { ForwarderCall, ForwarderCalls } from './forwarder-calls.ts';
import { type SplitCall, splitFailed } from './split-failed.ts';

/** What the deliveries of one forwarder share. */
export interface ForwarderStage {
  readonly calls: ForwarderCalls;
  readonly acknowledgement: Acknowledgement;
  readonly policy: AttemptPolicy;
  /** Whether groups are delivered one after the other. */
  readonly ordered: boolean;
  /** Whether an error may say that only some events of a batch have failed, and the others were delivered. */
  readonly failsInPart: boolean;
  /** Notes calls, so that a crash does not change them. */
  readonly plan: CallPlan | undefined;
  /** A name that no other call has, of this or of another run. */
  readonly nextId: () => string;
}

/** An empty array if everything was done at once, so that no Observable is created for it. */
export type Deliveries = readonly never[] | Observable<never>;

export const DONE: readonly never[] = [];

interface GroupOptions {
  /** Names the events. Default: a new one. */
  readonly id?: string;
  /** Attempts that have failed for these events. */
  readonly failedBefore?: number;
  /** The first call, if it was tried. */
  readonly started?: Observable<unknown> | 'held back';
}

/** Delivers events by one call, and repeats it for those that are left after a failure. */
export function deliverGroup(
  batches: Batches,
  stage: ForwarderStage,
  { id = stage.nextId(), failedBefore = 0, started }: GroupOptions = {},
): Deliveries {
  const group = new EventGroup(batches, stage, id, failedBefore);
  if (started instanceof Observable) group.start();
  const call = () => group.call();
  const first = started ?? startCall(call, stage.policy);
  if (first === 'succeeded') {
    group.succeeded();
    return DONE;
  }
  return repeatCall(first, call, stage.policy, {
    succeeded: () => group.succeeded(),
    afterFailure: (error) => group.afterFailure(error),
  });
}

/** One group after the other if the stage is ordered, else all at once. */
export function deliverGroups(
  groups: readonly (() => Deliveries)[],
  { ordered }: ForwarderStage,
): Observable<never> {
  const concurrency = ordered ? 1 : Number.POSITIVE_INFINITY;
  return from(groups).pipe(orderedMap((group) => group(), { concurrency, ordered: false }));
}

class EventGroup {
  readonly #stage: ForwarderStage;
  readonly #attempts: Attempts;
  /** The id of the first call. */
  readonly #firstId: string;
  #left: Batches;
  #id: string;
  /** The call that failed in part, if `#left` is its rest. */
  #restOf: PartlyFailedCall | undefined;
  #call: ForwarderCall | undefined;
  /** Delivered events of a planned call, of which nothing is acknowledged while a part is still to be sent: see `CallPlan`. */
  #held: readonly Batches[] = [];
  #hasGivenUp = false;

  constructor(batches: Batches, stage: ForwarderStage, id: string, failedBefore: number) {
    this.#left = batches;
    this.#id = id;
    this.#firstId = id;
    this.#stage = stage;
    this.#attempts = new Attempts(stage.policy, failedBefore);
  }

  start(): ForwarderCall {
    this.#call = this.#stage.calls.start(this.#left, this.#id, this.#restOf);
    return this.#call;
  }

  call(): unknown {
    const call = this.start();
    this.#stage.plan?.commit();
    return call.make();
  }

  succeeded(): void {
    this.#call?.succeeded();
    this.#attempts.end();
    this.#callsEnded();
    this.#stage.acknowledgement.deliveredAll(this.#left);
  }

  /** Emits when the call is to be made again for the events that are left, and completes when there are none. */
  afterFailure(cause: unknown): Observable<unknown> {
    const { policy, failsInPart } = this.#stage;
    const error = failsInPart ? withValidFailedEvents(cause, this.#left.size) : cause;
    this.#call?.failed(error);
    this.#call = undefined;
    if (failsRun(error, policy)) throw error;
    const split = splitFailed(this.#left, error, failsInPart);
    const again$ = split === undefined ? this.#retry(error) : this.#retryRest(split, error);
    if (again$ === EMPTY) this.#attempts.end();
    return again$;
  }

  #retryRest(split: SplitCall, error: unknown): Observable<unknown> {
    const { acknowledgement, plan } = this.#stage;
    const { delivered, lost, rest, restErrors, isUntried } = split;
    if (plan === undefined) acknowledgement.deliveredAll(delivered);
    else if (delivered.size > 0) this.#held = [...this.#held, delivered];
    const wait = rest.size === 0 ? undefined : isUntried ? 0 : this.#attempts.next(error);
    this.#hasGivenUp ||= lost.size > 0 || (wait === undefined && rest.size > 0);
    if (wait === undefined) this.#callsEnded();
    acknowledgement.giveUp(this.#left, lost, 'refused');
    if (wait === undefined) {
      acknowledgement.giveUp(this.#left, restErrors, 'failed');
      return EMPTY;
    }
    this.#keepRest(split);
    return isUntried ? of(undefined) : longTimer(wait);
  }

  /** Other events have another id: that of all must not stand for a part of them. */
  #keepRest({ rest, restErrors, wasSent }: SplitCall): void {
    const all = this.#left;
    this.#left = rest;
    if (rest.size === all.size) return;
    const call = this.#restOf ?? {
      id: this.#id,
      events: all.events,
      left: Array.from({ length: all.size }, (_, position) => position),
    };
    const left = call.left.filter((_, position) => restErrors.has(position));
    this.#restOf = wasSent ? { ...call, left } : undefined;
    this.#id = this.#stage.nextId();
  }

  #retry(error: unknown): Observable<unknown> {
    const { acknowledgement, policy } = this.#stage;
    const { size } = this.#left;
    const beforeHalves = this.#attemptsBeforeHalves(error);
    const wait = isPermanent(error) ? undefined : this.#attempts.next(error, beforeHalves ?? policy.attempts);
    if (wait !== undefined) return longTimer(wait);
    if (beforeHalves !== undefined) return this.#deliverHalves(error, beforeHalves);
    this.#hasGivenUp = true;
    // A planned call of which nothing was delivered is made again after a crash: the dead letter may not have its events.
    if (this.#held.length > 0) this.#callsEnded();
    acknowledgement.giveUp(
      this.#left,
      new Map(Array.from({ length: size }, (_, position) => [position, error])),
      isPermanent(error) ? 'refused' : 'failed',
    );
    return EMPTY;
  }

  /** How often the events are tried together, if their halves have the last attempt; otherwise undefined. */
  #attemptsBeforeHalves(error: unknown): number | undefined {
    const { plan, policy } = this.#stage;
    const { attempts } = policy;
    // The halves of a planned call would have ids that the plan does not know, and could be stored twice after a crash.
    if (attempts === undefined || attempts === 1 || plan !== undefined) return undefined;
    // One event may be the cause, unless the error says that every event would fail the same way.
    const mayBeOne = this.#left.size > 1 && !isPermanent(error) && !isFatal(error);
    return mayBeOne ? attempts - 1 : undefined;
  }

  /** One event may be what makes a group fail: each half is tried once, and so are the halves of a half that fails. */
  #deliverHalves(error: unknown, failedBefore: number): Observable<never> {
    const { policy } = this.#stage;
    this.#attempts.end();
    policy.onRetry(this.#attempts.failed, 0, error);
    const middle = Math.ceil(this.#left.size / 2);
    const halves = [this.#left.slice(0, middle), this.#left.slice(middle)];
    const deliveries = halves.map((half) => () => deliverGroup(half, this.#stage, { failedBefore }));
    return deliverGroups(deliveries, this.#stage);
  }

  /** No call of the group follows: before its last events are acknowledged. */
  #callsEnded(): void {
    this.#stage.plan?.ended(this.#firstId, !this.#hasGivenUp);
    for (const held of this.#held) this.#stage.acknowledgement.deliveredAll(held);
    this.#held = [];
  }
}
