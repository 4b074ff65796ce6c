/**
 * A token bucket that starts full, holds `burst` tokens and gains `count` of them every `per` ms.
 *
 * It keeps one number: when it will be full, in milliseconds × count. A token is `per` of these units, so that all
 * arithmetic is in whole numbers, and the 100th value of a second is not late by a rounding error.
 */
export class TokenBucket {
  readonly #count: number;
  readonly #per: number;
  readonly #slack: number;
  #fullAt = 0;

  constructor({ count, per, burst }: { count: number; per: number; burst: number }) {
    this.#count = count;
    this.#per = per;
    this.#slack = (burst - 1) * per;
  }

  /** Takes a token, if there is one. `now` is in milliseconds and never goes back. */
  take(now: number): boolean {
    if (this.#missing(now) > 0) return false;
    const units = now * this.#count;
    // Clocks show whole milliseconds: full for less than one of them is full just now, or that fraction were lost.
    const isLate = units - this.#fullAt >= this.#count;
    this.#fullAt = (isLate ? units : this.#fullAt) + this.#per;
    return true;
  }

  /** Whole milliseconds until there is a token. */
  wait(now: number): number {
    return Math.max(0, Math.ceil(this.#missing(now) / this.#count));
  }

  #missing(now: number): number {
    return this.#fullAt - this.#slack - now * this.#count;
  }
}
