import { isNativeError } from 'node:util/types';
import { asyncScheduler, type Subscription } from 'rxjs';
import type { CollectorState, Logger, StateValue } from '../sdk/context.ts';
import { checkStateValue } from '../sdk/state-value.ts';
import type { FolderLock } from './folder-lock.ts';
import { Journal, type Snapshot, type StateChange, type StateEntry, snapshotText } from './journal.ts';
import { type FoundState, statePaths } from './load-state.ts';
import { replaceFlushed } from './replace-file.ts';

/** What collectors remember over restarts, in a folder that this process alone writes to. */
export interface StateStore {
  readonly folder: string;
  of(pipeline: string, collector: string): CollectorState;
  entries(): StateEntry[];
  /** Forgets all entries that agree with what is given; returns how many. */
  forget(which: Partial<Pick<StateEntry, 'pipeline' | 'collector' | 'key'>>): number;
  /** Commits what has changed now, instead of within some 5 ms. */
  flush(): void;
  /** Commits, writes a flushed copy, and releases the folder. Never fails. */
  close(): Promise<void>;
}

/** Milliseconds that changes are gathered for. */
const COMMIT_AFTER = 5;
/** Milliseconds from a change to the next flushed copy: lines of that time come twice after a power cut. */
const COPY_AFTER = 10_000;
/** Milliseconds to the next attempt when the folder cannot be written to. */
const RETRY_AFTER = 1000;

/**
 * Keeps everything in memory, and appends changes to the journal. While that fails (a full disk, a read-only folder)
 * delivery goes on: a crash in that time repeats lines, and loses none. The failure is logged once, and all that has
 * changed since is written as soon as it can be.
 */
export class JournalStateStore implements StateStore {
  readonly folder: string;
  readonly #lock: Pick<FolderLock, 'release'>;
  readonly #table: StateTable;
  readonly #changed = new Map<string, StateChange>();
  readonly #trouble: StateTrouble;
  #sequence: number;
  /** Created with the first change, and again after a failure, because a failed write may have left half a line. */
  #journal: Journal | undefined;
  #committing: Subscription | undefined;
  #copySoon: Subscription | undefined;
  #copying: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(
    folder: string,
    lock: Pick<FolderLock, 'release'>,
    logger: Logger,
    { sequence, entries, problems }: FoundState,
  ) {
    this.folder = folder;
    this.#lock = lock;
    this.#sequence = sequence;
    this.#trouble = new StateTrouble(folder, logger);
    const changed = this.#changed;
    this.#table = new StateTable(entries, {
      get isPending() {
        return changed.size > 0;
      },
      changed: (change) => this.#change(change),
      // While it fails, the retry timer alone tries again.
      commit: () => {
        if (!this.#trouble.has('journal')) this.flush();
      },
    });
    // What was kept aside is missing now: the next start may not find it again.
    if (problems.length > 0) this.#commit();
  }

  of(pipeline: string, collector: string): CollectorState {
    return this.#table.of(pipeline, collector);
  }

  entries(): StateEntry[] {
    return this.#table.entries();
  }

  forget(which: Partial<Pick<StateEntry, 'pipeline' | 'collector' | 'key'>>): number {
    return this.#table.forget(which);
  }

  flush(): void {
    if (this.#changed.size > 0 && !this.#isClosed) this.#commit();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.flush();
    this.#isClosed = true;
    this.#committing?.unsubscribe();
    this.#copySoon?.unsubscribe();
    await Promise.all([this.#journal?.close(), this.#journal === undefined ? this.#copying : this.#copy()]);
    this.#lock.release();
  }

  #change(change: StateChange): void {
    this.#changed.set(JSON.stringify([change.pipeline, change.collector, change.key]), change);
    this.#commitIn(COMMIT_AFTER);
  }

  #commitIn(delay: number): void {
    this.#committing ??= asyncScheduler.schedule(() => {
      this.#committing = undefined;
      this.flush();
    }, delay);
  }

  #commit(): void {
    try {
      this.#sequence++;
      if (this.#journal === undefined || this.#journal.isUsedUp) this.#startJournal();
      else this.#journal.append({ sequence: this.#sequence, changes: [...this.#changed.values()] });
      this.#changed.clear();
      this.#trouble.over('journal');
      this.#copySoon ??= this.#scheduleCopy();
    } catch (error) {
      this.#trouble.report('journal', error);
      void this.#journal?.close();
      this.#journal = undefined;
      this.#committing?.unsubscribe();
      this.#committing = undefined;
      this.#commitIn(RETRY_AFTER);
    }
  }

  #startJournal(): void {
    const journal = Journal.create(statePaths(this.folder).journal, this.#snapshot());
    void this.#journal?.close();
    this.#journal = journal;
  }

  #scheduleCopy(): Subscription {
    return asyncScheduler.schedule(() => {
      this.#copySoon = undefined;
      void this.#copy();
    }, COPY_AFTER);
  }

  /** Copies are made one after the other: they share a temporary name. */
  #copy(): Promise<void> {
    this.#copying = this.#copying
      .then(() => replaceFlushed(statePaths(this.folder).copy, snapshotText(this.#snapshot())))
      .then(() => this.#trouble.over('copy'))
      .catch((error: unknown) => {
        this.#trouble.report('copy', error);
        if (!this.#isClosed) this.#copySoon ??= this.#scheduleCopy();
      });
    return this.#copying;
  }

  #snapshot(): Snapshot {
    return { sequence: this.#sequence, entries: this.#table.entries() };
  }
}

type Part = 'journal' | 'copy';

/** Reports that a state folder cannot be written to, once, and that it can again. */
class StateTrouble {
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #parts = new Set<Part>();

  constructor(folder: string, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  has(part: Part): boolean {
    return this.#parts.has(part);
  }

  report(part: Part, error: unknown): void {
    const isKnown = this.#parts.size > 0;
    this.#parts.add(part);
    if (isKnown) return;
    const reason = isNativeError(error) ? error.message : 'an unknown error';
    this.#logger.error(
      `cannot write checkpoints to ${this.#folder}: ${reason}. ` +
        'Delivery goes on; until this is over, a crash makes lines come twice. With `exactly_once` none does: a crash ' +
        `undoes what was written meanwhile, and no new file is started. Free space, or make it writable`,
    );
  }

  over(part: Part): void {
    if (this.#parts.delete(part) && this.#parts.size === 0) {
      this.#logger.info(`${this.#folder}: checkpoints are written again`);
    }
  }
}

type Values = Map<string, StateValue>;

interface Commits {
  readonly isPending: boolean;
  changed(change: StateChange): void;
  commit(): void;
}

/** All entries in memory, by pipeline and collector. Tells of every change. */
class StateTable {
  readonly #scopes = new Map<string, { pipeline: string; collector: string; values: Values }>();
  readonly #commits: Commits;

  constructor(entries: readonly StateEntry[], commits: Commits) {
    this.#commits = commits;
    for (const { pipeline, collector, key, value } of entries) {
      this.#valuesOf(pipeline, collector).set(key, value);
    }
  }

  of(pipeline: string, collector: string): CollectorState {
    const values = this.#valuesOf(pipeline, collector);
    const commits = this.#commits;
    return {
      get isPending() {
        return commits.isPending;
      },
      commit: () => commits.commit(),
      get: (key) => values.get(key),
      entries: () => values.entries(),
      set: (key, value) => {
        checkStateValue(key, value);
        values.set(key, value);
        commits.changed({ pipeline, collector, key, value });
      },
      delete: (key) => {
        if (values.delete(key)) commits.changed({ pipeline, collector, key });
      },
    };
  }

  entries(): StateEntry[] {
    return [...this.#scopes.values()].flatMap(({ pipeline, collector, values }) =>
      Array.from(values, ([key, value]) => ({ pipeline, collector, key, value })),
    );
  }

  forget(which: Partial<Pick<StateEntry, 'pipeline' | 'collector' | 'key'>>): number {
    const wanted = Object.entries(which) as ['pipeline' | 'collector' | 'key', string][];
    const found = this.entries().filter((entry) => wanted.every(([field, value]) => entry[field] === value));
    for (const { pipeline, collector, key } of found) this.of(pipeline, collector).delete(key);
    return found.length;
  }

  #valuesOf(pipeline: string, collector: string): Values {
    const name = JSON.stringify([pipeline, collector]);
    let scope = this.#scopes.get(name);
    if (scope === undefined) {
      scope = { pipeline, collector, values: new Map() };
      this.#scopes.set(name, scope);
    }
    return scope.values;
  }
}

/** State that lasts as long as the process, with the checks of a durable one. */
export function memoryStore(): StateStore {
  const table = new StateTable([], { isPending: false, changed: () => {}, commit: () => {} });
  return {
    folder: '',
    of: (pipeline, collector) => table.of(pipeline, collector),
    entries: () => table.entries(),
    forget: (which) => table.forget(which),
    flush: () => {},
    close: async () => {},
  };
}

/** A {@link memoryStore} for one plugin entry. `owner` is named in errors. */
export function memoryState(pipeline: string, owner: string): CollectorState {
  return memoryStore().of(pipeline, owner);
}
