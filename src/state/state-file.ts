import fs from 'node:fs';
import type { Database, RootDatabaseOptionsWithPath } from 'lmdb';
import type { Lmdb } from './lmdb.ts';
import { encode, HEADER_KEY, type Header, recordKey, type StateEntry } from './record.ts';
import { checkRoom } from './room-check.ts';
import { copyText } from './state-copy.ts';

const MOST_KEYS = 10_000;

/** An entry that is there now, or one that is gone. */
export type Change = StateEntry | (Omit<StateEntry, 'value'> & { readonly value?: undefined });

/**
 * The store on disk. One transaction takes less than 0.1 ms, because it is not flushed: what is committed survives the
 * death of the process, and the copies beside it survive that of the machine.
 */
export class StateFile {
  readonly #database: Database<string, string>;
  /** The keys of records, which take longer to work out than to write. */
  readonly #keys = new Map<string, string>();
  /** What the last transaction left. */
  #header: Header | undefined;

  private constructor(database: Database<string, string>) {
    this.#database = database;
  }

  /**
   * Makes a new store with these entries, in place of what is at `path`: LMDB never maps a file into this process
   * that another one left. Not asynchronous, because LMDB is not, and the events have not begun.
   */
  static create({ open }: Lmdb, path: string, header: Header, entries: readonly StateEntry[]): StateFile {
    const begun = `${path}.new`;
    for (const old of [begun, `${begun}-lock`, `${path}-lock`]) fs.rmSync(old, { force: true });
    // Keys, pages that are half full: twice the text is enough.
    checkRoom(begun, 2 * copyText(header, entries).length);
    const file = new StateFile(open(options(begun)));
    try {
      file.commit(header, entries);
    } finally {
      file.close();
    }
    fs.rmSync(`${begun}-lock`, { force: true });
    fs.renameSync(begun, path);
    return new StateFile(open(options(path)));
  }

  /** All or nothing. @throws an error of the operating system */
  commit(header: Header, changes: Iterable<Change>): void {
    const database = this.#database;
    const isNew = !isSame(header, this.#header);
    database.transactionSync(() => {
      for (const change of changes) {
        const key = this.#keyOf(change);
        if (change.value === undefined) database.removeSync(key);
        else database.putSync(key, encode(change as StateEntry));
      }
      if (isNew) database.putSync(HEADER_KEY, encode(header));
    });
    this.#header = header;
  }

  #keyOf(change: Change): string {
    const { pipeline, collector, key } = change;
    const name = JSON.stringify([pipeline, collector, key]);
    let known = this.#keys.get(name);
    if (known === undefined) {
      known = recordKey(change);
      if (this.#keys.size >= MOST_KEYS) this.#keys.clear();
      this.#keys.set(name, known);
    }
    return known;
  }

  close(): void {
    // Without transactions under way it is done when it returns; its promise never fails.
    void this.#database.close();
  }
}

function isSame(one: Header, other: Header | undefined): boolean {
  return one.entries === other?.entries && one.boot === other.boot && one.store === other.store;
}

function options(path: string): RootDatabaseOptionsWithPath {
  return { path, noSubdir: true, encoding: 'string', cache: false, noSync: true, overlappingSync: false };
}
