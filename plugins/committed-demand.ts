import type { Observable } from 'rxjs';
import type { Demand } from '../operators/demand.ts';
import type { CollectorState } from '../src/models/index.ts';

/**
 * The demand of a pipeline, less what is settled and not committed yet: after a crash that would come twice like what
 * is in flight, and both together must stay within the window. Few are committed in time; many are committed here.
 */
export class CommittedDemand implements Demand {
  readonly #demand: Demand;
  readonly #state: CollectorState;
  #settled = 0;

  constructor(demand: Demand, state: CollectorState) {
    this.#demand = demand;
    this.#state = state;
  }

  /** `events` were settled, and that was noted in the state. */
  settled(events: number): void {
    this.#settled += events;
  }

  get room(): number {
    const { room } = this.#demand;
    if (!this.#state.isPending) this.#settled = 0;
    if (this.#settled * 2 < room) return room - this.#settled;
    this.#state.commit();
    // If that fails, it goes on all the same: see the state store.
    this.#settled = 0;
    return room;
  }

  get room$(): Observable<number> {
    return this.#demand.room$;
  }
}
