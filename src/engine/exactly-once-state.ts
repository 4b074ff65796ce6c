import type { CollectorState, StateValue } from '../sdk/context.ts';
import type { OutputMark } from '../sdk/plugin.ts';
import { checkStateValue } from '../sdk/state-value.ts';

/** Where a pipeline keeps its output's record, beside what its collectors remember. */
const RECORD = { scope: 'exactly_once', key: 'output' } as const;

type States = (scope: string) => CollectorState;

/** How much of a pipeline's output is committed, and which files lie past that. */
export class OutputRecord {
  readonly #states: States;
  /** The file that committed output ends in, then those that were started since. */
  #marks: readonly OutputMark[];
  /** Nothing that was written is past the marks. What is there now is another program's, and the files may be gone. */
  #isComplete: boolean;
  /** The collectors whose events are in the output now, and those of the run before. */
  readonly #collectors: readonly string[];
  readonly #lastCollectors: readonly string[];
  /** Whether the state has these marks, except for later commits. */
  #isKept = true;

  /** Complete and without marks if the pipeline has not delivered exactly once before, or not most recently. */
  constructor(states: States, collectors: readonly string[]) {
    this.#states = states;
    this.#collectors = collectors;
    const found = states(RECORD.scope).get(RECORD.key) as
      | { marks?: unknown; isComplete?: unknown; collectors?: unknown }
      | undefined;
    this.#lastCollectors = Array.isArray(found?.collectors) ? found.collectors : collectors;
    const isKnown = Array.isArray(found?.marks);
    this.#marks = isKnown ? (found?.marks as OutputMark[]) : [];
    this.#isComplete = !isKnown || found?.isComplete === true;
  }

  static forget(states: States): void {
    states(RECORD.scope).delete(RECORD.key);
  }

  get marks(): readonly OutputMark[] {
    return this.#marks;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The collectors of the run before that this one does not have: their events do not come again. */
  get lostCollectors(): readonly string[] {
    return this.#lastCollectors.filter((name) => !this.#collectors.includes(name));
  }

  /** Nothing is past the marks: it has been cut off, or all of it is committed. */
  markComplete(): void {
    this.#isComplete = true;
  }

  /**
   * A file is about to be written to. Returns false if that cannot be noted now: without a note it would not be cut
   * back, so that nothing may be written.
   */
  begin(mark: OutputMark): boolean {
    const known = this.#marks.find(({ id }) => id === mark.id);
    if (this.#isComplete) this.#marks = [mark];
    else if (known === undefined || mark.length < known.length)
      this.#marks = [...this.#marks.filter((other) => other !== known), mark];
    else if (this.#isKept) return true;
    this.#isComplete = false;
    this.#isKept = this.keep();
    return this.#isKept;
  }

  /** A file was removed. Returns its path if not all that was written to it is committed. */
  removed({ id, length }: Pick<OutputMark, 'id' | 'length'>): string | undefined {
    const mark = this.#marks.find((other) => other.id === id);
    if (this.#isComplete || mark === undefined || mark.length >= length) return undefined;
    this.#marks = this.#marks.filter((other) => other !== mark);
    return mark.path;
  }

  /** All output up to `cut` is on the disk. Files before it are complete, and one may have been started since. */
  commit(cut: OutputMark, isComplete: boolean): void {
    this.#marks = [cut, ...this.#marks.slice(this.#marks.findIndex(({ id }) => id === cut.id) + 1)];
    this.#isComplete = isComplete;
  }

  /** Commits the record, and everything that was set before; false if that cannot be done now. */
  keep(): boolean {
    const state = this.#states(RECORD.scope);
    state.set(RECORD.key, {
      marks: this.#marks,
      isComplete: this.#isComplete,
      collectors: this.#collectors,
    });
    state.commit();
    return !state.isPending;
  }
}

/** What a collector has set, with what it is now; undefined for what it has deleted. */
type StagedChanges = readonly (readonly [key: string, value: StateValue | undefined])[];

interface StagedStateOptions {
  readonly onChange: () => void;
  /** Whether what is set now is where the collector starts, and not how far the output goes. */
  readonly isStart: () => boolean;
}

/**
 * What a collector remembers, of which nothing but where it starts is kept until it is committed together
 * with the output. The collector sees what it has set at once.
 */
export class StagedState implements CollectorState {
  /** A crash undoes the output of what it undoes here: nothing comes twice. */
  readonly isPending = false;
  readonly #kept: CollectorState;
  readonly #values: Map<string, StateValue>;
  readonly #changed = new Set<string>();
  /** Keys that were noted since changes were taken: what was taken of them is out of date. */
  readonly #noted = new Set<string>();
  #hasNotes = false;
  readonly #onChange: () => void;
  readonly #isStart: () => boolean;

  constructor(kept: CollectorState, { onChange, isStart }: StagedStateOptions) {
    this.#kept = kept;
    this.#onChange = onChange;
    this.#isStart = isStart;
    this.#values = new Map(kept.entries());
  }

  get(key: string): StateValue | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: StateValue): void {
    checkStateValue(key, value);
    // A key that is set for the first time outside of `acknowledge` says where the collector starts. It is kept at once,
    // whatever becomes of the output: a file that is renamed before the first commit would not be recognised.
    if (this.#isStart() && !this.#values.has(key) && this.#kept.get(key) === undefined)
      this.#kept.set(key, value);
    this.#values.set(key, value);
    this.#changed.add(key);
    this.#onChange();
  }

  delete(key: string): void {
    this.#values.delete(key);
    this.#changed.add(key);
    this.#onChange();
  }

  note(key: string, value: StateValue | undefined): void {
    if (value !== undefined) checkStateValue(key, value);
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
    setOrDelete(this.#kept, key, value);
    this.#changed.delete(key);
    this.#noted.add(key);
    this.#hasNotes = true;
  }

  /** Commits what was noted. To be called ahead of each write. */
  keepNotes(): void {
    if (this.#hasNotes) this.#kept.commit();
    this.#hasNotes = false;
  }

  entries(): IterableIterator<[key: string, value: StateValue]> {
    return this.#values.entries();
  }

  /** Where a collector starts; all else the pipeline commits, when the output is on the disk. */
  commit(): void {
    this.#kept.commit();
  }

  /** What has changed since the last call. */
  take(): StagedChanges {
    const changes = [...this.#changed].map((key) => [key, this.#values.get(key)] as const);
    this.#changed.clear();
    this.#noted.clear();
    return changes;
  }

  /** Keeps changes that were taken. */
  keep(changes: StagedChanges): void {
    for (const [key, value] of changes) if (!this.#noted.has(key)) setOrDelete(this.#kept, key, value);
  }
}

function setOrDelete(state: CollectorState, key: string, value: StateValue | undefined): void {
  if (value === undefined) state.delete(key);
  else state.set(key, value);
}
