import { concat, defer, map, Observable } from 'rxjs';
import { Pump } from '../../operators/internal.ts';
import type { BatchDemand } from './batch-demand.ts';
import type { ReadLines } from './collect-lines.ts';

/**
 * The lines that a source has given and the pipeline has not acknowledged. A source that cannot be asked again, such as a
 * pipe, needs it: what a run has in flight when it fails is emitted again by the next one.
 */
export class UnacknowledgedLines {
  readonly #entries = new Set<ReadLines>();
  #runs = 0;

  /** The lines of one run: first what the run before left, then what `read$` emits. */
  around(read$: Observable<ReadLines>, demand: BatchDemand): Observable<ReadLines> {
    return defer(() => {
      const run = ++this.#runs;
      const left$ = withRoom([...this.#entries], demand);
      return concat(left$, read$).pipe(
        map((entry) => {
          this.#entries.add(entry);
          const release = () => {
            // What an earlier run had in flight is emitted again by this one, and its memory is still needed.
            if (run === this.#runs && this.#entries.delete(entry)) entry.release();
          };
          return { ...entry, release };
        }),
      );
    });
  }
}

/** Emits each of `entries` once there is room. */
function withRoom(entries: ReadLines[], demand: BatchDemand): Observable<ReadLines> {
  return new Observable((subscriber) => {
    const pump = new Pump(() => {
      if (entries.length === 0) subscriber.complete();
      if (entries.length === 0 || demand.room <= 0) return false;
      subscriber.next(entries.shift() as ReadLines);
      return true;
    }, subscriber);
    subscriber.add(demand.room$.subscribe(() => pump.run()));
    pump.run();
  });
}
