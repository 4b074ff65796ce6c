/** Whether one file is read to its end, for how long it has not grown since, and whether that end is its last one. */
export class FileEnd {
  #isReached = false;
  #isFinal: boolean;
  #quietPolls = 0;

  constructor({ isFinal }: { readonly isFinal: boolean }) {
    this.#isFinal = isFinal;
  }

  /** All that there was is read. */
  get isReached(): boolean {
    return this.#isReached;
  }

  /** At the end, a line without a newline is complete; and if no path leads to the file, nothing more is expected of it. */
  get isFinal(): boolean {
    return this.#isFinal;
  }

  /** Polls since it was last seen to grow: a count, because clocks jump. */
  get quietPolls(): number {
    return this.#quietPolls;
  }

  /** There may be more to read. */
  reopen(): void {
    this.#isReached = false;
  }

  reach(): void {
    this.#isReached = true;
  }

  /** More was read. `isFinal`: the next end is one, however soon it comes. */
  grew({ isFinal }: { readonly isFinal: boolean }): void {
    this.#quietPolls = 0;
    this.#isFinal = isFinal;
  }

  /** More is expected, from a program that still has the file open. */
  expectGrowth(): void {
    this.#quietPolls = 0;
  }

  /** A poll is over. */
  polled(): void {
    if (this.#isReached) this.#quietPolls++;
  }

  setFinal(isFinal: boolean): void {
    this.#isFinal = isFinal;
  }
}
