import { asyncScheduler, type Subscription } from 'rxjs';
import type { CollectorState, Logger } from '../models/index.ts';
import type { FolderLock } from './folder-lock.ts';
import type { Lmdb } from './lmdb.ts';
import { digest, type StatePaths } from './load-state.ts';
import { FORMAT, type Header, type StateEntry } from './record.ts';
import { copyText, replaceFile } from './state-copy.ts';
import { type Change, StateFile } from './state-file.ts';
import type { StateStore } from './state-store.ts';
import { StateTable } from './state-table.ts';
import { StateTrouble } from './state-trouble.ts';

export interface StoreParts {
  /** Loads it. */
  readonly lmdb: () => Lmdb;
  readonly folder: string;
  readonly paths: StatePaths;
  readonly boot: string;
  readonly lock: FolderLock;
  readonly logger: Logger;
}

/** Milliseconds that changes are gathered for: a commit takes as long as some 40 lines, whatever their number. */
const COMMIT_AFTER = 5;
/** The same for the first commit, which has to load LMDB: files that were found come ahead of the first event. */
const FIRST_COMMIT_AFTER = 100;
/** Milliseconds from a change to the next copy that is flushed: lines of that time come twice after a power cut. */
const BACKUP_AFTER = 10_000;
/** Milliseconds to the next attempt when the folder cannot be written to. */
const RETRY_AFTER = 1000;

/**
 * Keeps everything in memory, and commits changes to LMDB. That is loaded and opened with the first of them, so that
 * the first event need not wait for it: until then, the files that are there say the same. While a commit fails (a full
 * disk, a read-only folder) delivery goes on: a crash in that time costs lines that come twice, never lines that are
 * lost. It is reported once, and tried again every second with all that has changed since.
 */
export class LmdbStateStore implements StateStore {
  readonly #parts: StoreParts;
  readonly #table: StateTable;
  readonly #changed = new Map<string, Change>();
  #file: StateFile | undefined;
  #committing: Subscription | undefined;
  #backingUp: Subscription | undefined;
  #copying: Promise<void> = Promise.resolve();
  readonly #trouble: StateTrouble;
  #isClosed = false;

  constructor(parts: StoreParts, entries: readonly StateEntry[]) {
    this.#parts = parts;
    this.#trouble = new StateTrouble(parts.folder, parts.logger);
    const changed = this.#changed;
    this.#table = new StateTable(entries, {
      get isPending() {
        return changed.size > 0;
      },
      changed: (change) => this.#change(change),
      // While it fails, only the next attempt in its time may.
      commit: () => {
        if (!this.#trouble.has('store')) this.flush();
      },
    });
  }

  get folder(): string {
    return this.#parts.folder;
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
    this.#backingUp?.unsubscribe();
    this.#file?.close();
    const { paths, lock } = this.#parts;
    // Without a store as it should be, the next start looks for the best that is there.
    if (!this.#trouble.has('store')) await this.#copy(paths.closed, digest(paths.store));
    else await this.#copying;
    lock.release();
  }

  #change(change: Change): void {
    this.#changed.set(JSON.stringify([change.pipeline, change.collector, change.key]), change);
    const delay = this.#file === undefined ? FIRST_COMMIT_AFTER : COMMIT_AFTER;
    this.#committing ??= asyncScheduler.schedule(() => {
      this.#committing = undefined;
      this.flush();
    }, delay);
  }

  #commit(): void {
    if (this.#isClosed) return;
    try {
      if (this.#file === undefined) this.#create();
      else this.#file.commit(this.#header(), this.#changed.values());
      this.#changed.clear();
      this.#trouble.over('store');
      this.#backUpSoon();
    } catch (error) {
      this.#trouble.report('store', error);
      this.#file?.close();
      this.#file = undefined;
      this.#committing?.unsubscribe();
      this.#committing = asyncScheduler.schedule(() => {
        this.#committing = undefined;
        this.#commit();
      }, RETRY_AFTER);
    }
  }

  /** With the first change, and after a failure: nobody knows what LMDB made of that. */
  #create(): void {
    const { lmdb, paths } = this.#parts;
    this.#file = StateFile.create(lmdb(), paths.store, this.#header(), this.#table.entries());
  }

  #backUpSoon(): void {
    this.#backingUp ??= asyncScheduler.schedule(() => {
      this.#backingUp = undefined;
      void this.#copy(this.#parts.paths.backup);
    }, BACKUP_AFTER);
  }

  /** One after the other: they have the same temporary name. */
  #copy(path: string, store?: string): Promise<void> {
    const text = () => copyText(this.#header(store), this.#table.entries());
    this.#copying = this.#copying
      .then(() => replaceFile(path, text()))
      .then(() => this.#trouble.over('copies'))
      .catch((error: unknown) => {
        this.#trouble.report('copies', error);
        if (!this.#isClosed) this.#backUpSoon();
      });
    return this.#copying;
  }

  #header(store?: string): Header {
    return { format: FORMAT, entries: this.#table.size, boot: this.#parts.boot, store };
  }
}
