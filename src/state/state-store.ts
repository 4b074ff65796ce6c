import type { CollectorState } from '../sdk/models.ts';
import type { StateEntry } from './journal.ts';

/** What collectors remember over restarts, in a folder that this process alone writes to. */
export interface StateStore {
  readonly folder: string;
  /** What one collector of one pipeline remembers. */
  of(pipeline: string, collector: string): CollectorState;
  entries(): StateEntry[];
  /** Forgets all entries that agree with what is given; returns how many. */
  forget(which: Partial<Pick<StateEntry, 'pipeline' | 'collector' | 'key'>>): number;
  /** Commits what has changed now, instead of within some 5 ms. */
  flush(): void;
  /** Commits, writes a flushed copy, and releases the folder. Never fails. */
  close(): Promise<void>;
}
