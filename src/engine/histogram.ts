/**
 * Counts values by size, with a fixed number of buckets and no memory per value.
 *
 * @example
 * const seconds = new Histogram([0.1, 1]);
 * seconds.observe(0.02);
 * seconds.observe(5, 3);
 * seconds.counts; // [1, 0, 3]
 * seconds.sum; // 15.02
 */
export class Histogram {
  /** The upper bound of each bucket, which belongs to it. One more bucket has all that is larger. */
  readonly bounds: readonly number[];
  /** The number of values in each bucket alone. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array(bounds.length + 1).fill(0);
  }

  /** `times` values of that size. */
  observe(value: number, times = 1): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
    counts[bucket] = (counts[bucket] as number) + times;
    this.sum += value * times;
  }

  /** The number of values. */
  get count(): number {
    return this.counts.reduce((total, count) => total + count, 0);
  }
}
