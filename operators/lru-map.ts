/** What the operators that remember keys hold at most, unless told otherwise. */
export const DEFAULT_MAX_KEYS = 10_000;

interface Entry<K, V> {
  readonly key: K;
  value: V;
  older: Entry<K, V> | undefined;
  newer: Entry<K, V> | undefined;
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
  #oldest: Entry<K, V> | undefined;
  #newest: Entry<K, V> | undefined;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  /** The value that was not used for longest. */
  get oldest(): V | undefined {
    return this.#oldest?.value;
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  /** Uses a key. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#makeNewest(entry);
    return entry?.value;
  }

  /** Uses a key, and gives it a value. */
  set(key: K, value: V): void {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { key, value, older: undefined, newer: undefined };
      this.#entries.set(key, entry);
      if (this.#entries.size > this.#maxSize) this.deleteOldest();
    }
    entry.value = value;
    this.#makeNewest(entry);
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#unlink(entry);
  }

  deleteOldest(): void {
    if (this.#oldest !== undefined) this.delete(this.#oldest.key);
  }

  #makeNewest(entry: Entry<K, V>): void {
    if (entry === this.#newest) return;
    this.#unlink(entry);
    entry.older = this.#newest;
    if (this.#newest !== undefined) this.#newest.newer = entry;
    this.#newest = entry;
    this.#oldest ??= entry;
  }

  #unlink(entry: Entry<K, V>): void {
    if (entry.older !== undefined) entry.older.newer = entry.newer;
    if (entry.newer !== undefined) entry.newer.older = entry.older;
    if (this.#oldest === entry) this.#oldest = entry.newer;
    if (this.#newest === entry) this.#newest = entry.older;
    entry.older = undefined;
    entry.newer = undefined;
  }
}
