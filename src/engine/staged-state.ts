import type { CollectorState, StateValue } from '../sdk/models.ts';

/** What a collector has set, with what it is now; undefined for what it has deleted. */
export type StagedChanges = readonly (readonly [key: string, value: StateValue | undefined])[];

/**
 * What a collector remembers, of which nothing but the first value of a key is kept until it is committed together
 * with the output. The collector sees what it has set at once.
 */
export class StagedState implements CollectorState {
  /** A crash undoes the output of what it undoes here: nothing comes twice. */
  readonly isPending = false;
  readonly #kept: CollectorState;
  readonly #values: Map<string, StateValue>;
  readonly #changed = new Set<string>();
  readonly #onChange: () => void;

  constructor(kept: CollectorState, onChange: () => void) {
    this.#kept = kept;
    this.#onChange = onChange;
    this.#values = new Map(kept.entries());
  }

  get(key: string): StateValue | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: StateValue): void {
    // Where a collector begins stands whatever becomes of the output, and a file that is renamed before the first
    // commit would not be known again.
    if (!this.#values.has(key) && this.#kept.get(key) === undefined) this.#kept.set(key, value);
    this.#values.set(key, value);
    this.#changed.add(key);
    this.#onChange();
  }

  delete(key: string): void {
    this.#values.delete(key);
    this.#changed.add(key);
    this.#onChange();
  }

  entries(): IterableIterator<[key: string, value: StateValue]> {
    return this.#values.entries();
  }

  /** Where a collector begins; all else the pipeline commits, when the output is on the disk. */
  commit(): void {
    this.#kept.commit();
  }

  /** Whether there is anything to take. */
  get hasChanges(): boolean {
    return this.#changed.size > 0;
  }

  /** What has changed since the last call. */
  take(): StagedChanges {
    const changes = [...this.#changed].map((key) => [key, this.#values.get(key)] as const);
    this.#changed.clear();
    return changes;
  }

  /** Keeps changes that were taken. */
  keep(changes: StagedChanges): void {
    for (const [key, value] of changes) {
      if (value === undefined) this.#kept.delete(key);
      else this.#kept.set(key, value);
    }
  }
}
