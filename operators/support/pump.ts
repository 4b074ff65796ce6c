/** Whose work a {@link Pump} does: a `Subscriber`, for example. */
export interface PumpOwner {
  /** Once this is true, no further step is taken. */
  readonly closed: boolean;
  /** Takes what a step throws. */
  error(cause: unknown): void;
}

/** An owner that stays open, and whose caller gets what a step throws. */
const CALLER: PumpOwner = {
  closed: false,
  error: (cause) => {
    throw cause;
  },
};

/**
 * The loop where demand, a queue and re-entrance meet. A step does one piece of work: it takes a value from a queue and
 * emits it, for example. Whatever may allow another step calls {@link Pump.run}, also from within a step, such as when an
 * emitted value is acknowledged at once. Then the same loop goes on: calls never nest, however many there are.
 *
 * @example
 * const queue = [3, 2, 1];
 * const seen = [];
 * const pump = new Pump(() => {
 *   const value = queue.shift();
 *   if (value === undefined) return false;
 *   seen.push(value);
 *   if (value === 3) pump.run(); // returns at once
 *   return true;
 * });
 * pump.run();
 * seen; // [3, 2, 1]
 */
export class Pump {
  readonly #step: () => boolean;
  readonly #owner: PumpOwner;
  #isRunning = false;
  #isDue = false;

  /** `step` returns false if there is nothing to do until {@link run} is called again. */
  constructor(step: () => boolean, owner: PumpOwner = CALLER) {
    this.#step = step;
    this.#owner = owner;
  }

  /** Whether a step is being taken. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Takes steps until one returns false and no other was asked for meanwhile. */
  run(): void {
    this.#isDue = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while (this.#isDue && !this.#owner.closed) {
        this.#isDue = false;
        if (this.#step()) this.#isDue = true;
      }
    } catch (cause) {
      this.#owner.error(cause);
    } finally {
      this.#isRunning = false;
    }
  }
}
