/** How many keys the operators that remember keys hold, unless told otherwise. */
export const DEFAULT_MAX_KEYS = 10_000;

interface Entry<K, V> {
  readonly key: K;
  readonly value: V;
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

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  /** The value of a key, without using it. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Uses a key. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.set(key, entry.value);
    return entry?.value;
  }

  /** Uses a key, and gives it a value. */
  set(key: K, value: V): void {
    this.delete(key);
    const { older } = this.#ends;
    const entry = { key, value, older, newer: this.#ends };
    older.newer = this.#ends.older = entry;
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#maxSize) this.delete(this.#ends.newer.key);
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.older.newer = entry.newer;
    entry.newer.older = entry.older;
    this.#entries.delete(key);
  }
}
