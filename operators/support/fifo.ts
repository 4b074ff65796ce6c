interface Link<T> {
  item: T | undefined;
  next: Link<T> | undefined;
}

/** A first-in, first-out queue with cheap `shift` at any length; `Array.prototype.shift` moves every element. */
export class Fifo<T> {
  #last: Link<T> = { item: undefined, next: undefined };
  /** The link before that of the first item. Its own item was taken, and is not kept. */
  #head = this.#last;
  size = 0;

  push(item: T): void {
    this.#last = this.#last.next = { item, next: undefined };
    this.size++;
  }

  peek(): T | undefined {
    return this.#head.next?.item;
  }

  shift(): T | undefined {
    const link = this.#head.next;
    if (!link) return undefined;
    const { item } = link;
    // Otherwise a link that has become old in the eyes of the garbage collector would keep all links after it.
    link.item = this.#head.next = undefined;
    this.#head = link;
    this.size--;
    return item;
  }
}
