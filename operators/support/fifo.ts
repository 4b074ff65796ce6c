/** A first-in, first-out queue with cheap `shift` at any length; `Array.prototype.shift` moves every element. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const last = this.#items.length - 1;
    if (this.#head > last) return undefined;
    if (this.#head === last) return this.#takeLast();
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head++;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Takes the item that was pushed last. */
  pop(): T | undefined {
    return this.size === 0 ? undefined : this.#items.pop();
  }

  /** Most queues hold one item at a time: `pop` keeps the memory for the next one, and setting `length` is slow. */
  #takeLast(): T | undefined {
    const item = this.#items.pop();
    if (this.#head > 0) this.#items = [];
    this.#head = 0;
    return item;
  }
}
