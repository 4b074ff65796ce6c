interface Link<T> {
  readonly item: T;
  next: Link<T> | undefined;
}

/** A first-in, first-out queue with cheap `shift` at any length; `Array.prototype.shift` moves every element. */
export class Fifo<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;
  size = 0;

  push(item: T): void {
    const link = { item, next: undefined };
    if (this.size++ > 0) (this.#last as Link<T>).next = link;
    else this.#first = link;
    this.#last = link;
  }

  peek(): T | undefined {
    return this.#first?.item;
  }

  shift(): T | undefined {
    const link = this.#first;
    if (link === undefined) return undefined;
    this.size--;
    this.#first = link.next;
    // Otherwise a link that has become old in the eyes of the garbage collector would keep all links behind it.
    link.next = undefined;
    return link.item;
  }
}
