/** What repeated measurements of one thing amount to. */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** @throws RangeError for no values. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { min: quantile(sorted, 0), median: quantile(sorted, 0.5), max: quantile(sorted, 1) };
}

export function median(values: readonly number[]): number {
  return spread(values).median;
}

/** The value below which the share `q` of the values lies, between neighbours if need be. `sorted` ascends. */
export function quantile(sorted: readonly number[], q: number): number {
  if (sorted.length === 0) throw new RangeError('no values');
  const place = (sorted.length - 1) * q;
  const below = sorted[Math.floor(place)] as number;
  const above = sorted[Math.ceil(place)] as number;
  return below + (above - below) * (place - Math.floor(place));
}

/** The median of `a[i] / b[i]`: what was measured side by side is compared, so that a slow minute hits both. */
export function ratio(a: readonly number[], b: readonly number[]): number {
  return median(a.map((value, i) => value / (b[i] as number)));
}
