import type { Observable } from 'rxjs';
import type { Demand } from '../operators/demand.ts';
import type { CollectorState } from '../src/models/index.ts';

/** Events. What works on them is not compiled yet, and the first one should not wait for many others. */
const FIRST_WINDOW = 32;
/** From here on there is all the room of the pipeline. */
const LAST_WINDOW = 256;
/** Of the most room that there was yet. */
const WORTHWHILE_SHARE = 4;

/**
 * The demand of a pipeline, for a collector that emits batches and notes in its state what is settled.
 *
 * - Less what is settled and not committed yet: after a crash that would come twice like what is in flight, and both
 *   together must stay within the window. Few are committed in time; many are committed here.
 * - None while there is little and events are under way, since each of them makes more room: what a batch costs beside
 *   its events is the same for one and for hundreds. When none is under way, whatever there is.
 * - At first little, and twice as much with each batch that is settled.
 */
export class BatchDemand implements Demand {
  readonly #demand: Demand;
  readonly #state: CollectorState;
  readonly #batch: number;
  #mostRoom = 0;
  #window = FIRST_WINDOW;
  #open = 0;
  #settled = 0;

  /** `batch`: the events of one that is worthwhile; fewer if the window is small. */
  constructor(demand: Demand, state: CollectorState, batch: number) {
    this.#demand = demand;
    this.#state = state;
    this.#batch = batch;
  }

  emitted(events: number): void {
    this.#open += events;
  }

  /** `events` were settled, and that was noted in the state. */
  settled(events: number): void {
    this.#open -= events;
    this.#settled += events;
    if (this.#window < LAST_WINDOW) this.#window += events;
  }

  get room(): number {
    if (this.#window >= LAST_WINDOW) return this.#roomForBatch();
    const most = this.#window - this.#open;
    return most > 0 ? Math.min(most, this.#roomForBatch()) : 0;
  }

  #roomForBatch(): number {
    const { room } = this.#demand;
    if (room > this.#mostRoom) this.#mostRoom = room;
    if (!this.#state.isPending) this.#settled = 0;
    const least = this.#open === 0 ? 1 : Math.min(this.#batch, this.#mostRoom / WORTHWHILE_SHARE);
    if (room < least) return 0;
    if (this.#settled * 2 < room && room - this.#settled >= least) return room - this.#settled;
    if (this.#settled > 0) this.#state.commit();
    // If that fails, it goes on all the same: see the state store.
    this.#settled = 0;
    return room;
  }

  get room$(): Observable<number> {
    return this.#demand.room$;
  }
}
