import { asyncScheduler, finalize, merge, type Observable, Subject, type Subscription } from 'rxjs';
import type { Demand } from '../../operators/index.ts';
import type { BatchingDemand, CollectorState } from '../../src/sdk/index.ts';

/** Events. What works on them is not compiled yet, and the first one should not wait for many others. */
const FIRST_WINDOW = 32;
/** From here on there is all the room of the pipeline. */
const LAST_WINDOW = 256;
/** Milliseconds without anything acknowledged, after which what is in flight may be waiting for more to come. */
const PATIENCE_MS = 100;
/** Of the most room that there was yet. */
const WORTHWHILE_SHARE = 4;
/** Bytes of events in flight, whatever their number: a thousand lines may be of 4 MiB each. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * The demand of a pipeline, for a collector that emits batches and notes in its state what is acknowledged.
 *
 * - Less what is acknowledged and not committed yet: after a crash that would come twice like what is in flight, and both
 *   together must stay within the window. Few are committed in time; many are committed here.
 * - None while there is little and events are under way, since each of them makes more room: what a batch costs beside
 *   its events is the same for one and for hundreds. When none is under way, whatever there is.
 * - At first little, and twice as much with each batch that is acknowledged.
 * - None while {@link MOST_BYTES} or more are in flight.
 *
 * The second and third for {@link PATIENCE_MS} at most: a processor may gather events, and acknowledge none before it has enough.
 */
export class BatchDemand implements BatchingDemand {
  readonly #demand: Demand;
  readonly #state: CollectorState;
  readonly #batch: number;
  #mostRoom = 0;
  #window = FIRST_WINDOW;
  #open = 0;
  #openBytes = 0;
  /** Not committed yet. */
  #acknowledged = 0;
  /** Since it was last looked at whether anything was acknowledged. */
  #hasAcknowledged = false;
  #isImpatient = false;
  #waiting: Subscription | undefined;
  readonly #impatient$ = new Subject<number>();

  /** `batch`: the events of one that is worthwhile; fewer if the window is small. */
  constructor(demand: Demand, state: CollectorState, batch: number) {
    this.#demand = demand;
    this.#state = state;
    this.#batch = batch;
  }

  emitted(events: number, bytes = 0): void {
    this.#open += events;
    this.#openBytes += bytes;
  }

  /** `events` were acknowledged, and that was noted in the state. */
  acknowledged(events: number, bytes = 0): void {
    this.#open -= events;
    this.#openBytes -= bytes;
    this.#acknowledged += events;
    this.#hasAcknowledged = true;
    this.#isImpatient = false;
    if (this.#window < LAST_WINDOW) this.#window += events;
  }

  get room(): number {
    if (this.#openBytes >= MOST_BYTES) return 0;
    const room = this.#isImpatient ? this.#roomFor(1) : this.#worthwhileRoom();
    if (room === 0) this.#wait();
    return room;
  }

  get room$(): Observable<number> {
    return merge(this.#demand.room$, this.#impatient$).pipe(finalize(() => this.#waiting?.unsubscribe()));
  }

  /**
   * Whether few events should wait for more to come: while others are under way, up to {@link PATIENCE_MS}. If they should,
   * `room$` says when to ask again.
   */
  shouldWait(): boolean {
    if (this.#open === 0 || this.#isImpatient) return false;
    this.#wait();
    return true;
  }

  #worthwhileRoom(): number {
    const least = this.#open === 0 ? 1 : Math.min(this.#batch, this.#mostRoom / WORTHWHILE_SHARE);
    if (this.#window >= LAST_WINDOW) return this.#roomFor(least);
    const most = this.#window - this.#open;
    return most > 0 ? Math.min(most, this.#roomFor(least)) : 0;
  }

  /** None if there is less than `least`. */
  #roomFor(least: number): number {
    const { room } = this.#demand;
    if (room > this.#mostRoom) this.#mostRoom = room;
    if (!this.#state.isPending) this.#acknowledged = 0;
    if (room < least) return 0;
    if (this.#acknowledged * 2 < room && room - this.#acknowledged >= least) return room - this.#acknowledged;
    if (this.#acknowledged > 0) this.#state.commit();
    // If that fails, it goes on all the same: see the state store.
    this.#acknowledged = 0;
    return room;
  }

  /** Looks once after a while whether anything was acknowledged, since there is no room most of the time. */
  #wait(): void {
    if (this.#waiting !== undefined) return;
    this.#hasAcknowledged = false;
    this.#waiting = asyncScheduler.schedule(() => {
      this.#waiting = undefined;
      if (this.#hasAcknowledged) {
        this.#wait();
        return;
      }
      this.#isImpatient = true;
      if (this.#demand.room > 0) this.#impatient$.next(this.#demand.room);
    }, PATIENCE_MS);
  }
}
