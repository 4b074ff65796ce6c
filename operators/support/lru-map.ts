/** What the operators that remember keys hold at most, unless told otherwise. */
export const DEFAULT_MAX_KEYS = 10_000;

interface Entry<K, V> {
  readonly key: K;
  value: V;
  older: Entry<K, V>;
  newer: Entry<K, V>;
}

/**
 * A map of bounded size: beyond it, the key that was not used for longest is forgotten.
 *
 * The order is a linked list. That of a `Map` would do, but V8 passes over all that was deleted from its front, and
 * a stream of ever new keys took 17 µs a value.
 */
export class LruMap<K, V> {
  readonly #entries = new Map<K, Entry<K, V>>();
  readonly #maxSize: number;
  /** Closes the list to a ring: it stands between the newest entry and the oldest, and has no value. */
  readonly #ends = {} as Entry<K, V>;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
    this.#ends.older = this.#ends.newer = this.#ends;
  }

  /** The value that was not used for longest. */
  get oldest(): V | undefined {
    return this.#ends.newer.value;
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  /** Uses a key. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.set(key, entry.value);
    return entry?.value;
  }

  /** Uses a key, and gives it a value. */
  set(key: K, value: V): void {
    const ends = this.#ends;
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { key, value, older: ends, newer: ends };
      this.#entries.set(key, entry);
    } else unlink(entry);
    entry.value = value;
    entry.newer = ends;
    entry.older = ends.older;
    ends.older = entry.older.newer = entry;
    if (this.#entries.size > this.#maxSize) this.deleteOldest();
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) unlink(entry);
    this.#entries.delete(key);
  }

  deleteOldest(): void {
    this.delete(this.#ends.newer.key);
  }
}

function unlink<K, V>({ older, newer }: Entry<K, V>): void {
  older.newer = newer;
  newer.older = older;
}
