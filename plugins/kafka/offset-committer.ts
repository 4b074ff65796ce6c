import { Subscription, timer } from 'rxjs';
import { nameOf, type Position } from './group-member.ts';

/** Milliseconds in which acknowledgements are gathered for one commit. */
const COMMIT_WAIT = 100;

/** Commits the offsets of acknowledged records. Acknowledgements of a moment share one commit; one that fails is repeated. */
export class OffsetCommitter {
  readonly #commit: (positions: readonly Position[]) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  /** What is not committed yet, by partition. */
  readonly #pending = new Map<string, Position>();
  readonly #timers = new Subscription();
  #isScheduled = false;

  constructor(commit: (positions: readonly Position[]) => Promise<void>, onError: (error: unknown) => void) {
    this.#commit = commit;
    this.#onError = onError;
  }

  /** Everything before this position is acknowledged. */
  acknowledged(position: Position): void {
    this.#pending.set(nameOf(position), position);
    this.#schedule();
  }

  /** Forgets what is acknowledged of all partitions but these: another member may have read further by now. */
  keepOnly(partitions: { has(name: string): boolean }): void {
    for (const name of this.#pending.keys()) if (!partitions.has(name)) this.#pending.delete(name);
  }

  /** Commits now. Later acknowledgements are not committed. */
  async close(): Promise<void> {
    this.#timers.unsubscribe();
    await this.#commitPending();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#timers.add(timer(COMMIT_WAIT).subscribe(() => void this.#commitPending()));
  }

  async #commitPending(): Promise<void> {
    this.#isScheduled = false;
    const sent = [...this.#pending];
    if (sent.length === 0) return;
    try {
      await this.#commit(sent.map(([, position]) => position));
      // A later record of the partition may have been acknowledged meanwhile.
      for (const [name, position] of sent)
        if (this.#pending.get(name) === position) this.#pending.delete(name);
    } catch (error) {
      this.#onError(error);
      this.#schedule();
    }
  }
}
