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
    const items = this.#items;
    if (this.size > 1) {
      const item = items[this.#head];
      items[this.#head++] = undefined;
      if (this.#head > 1024 && this.#head * 2 > items.length) this.#drop();
      return item;
    }
    // Most queues hold one item at a time: `pop` keeps the memory for the next one, and setting `length` is slow.
    const item = items.pop();
    if (this.#head > 0) this.#drop();
    return item;
  }

  #drop(): void {
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}
