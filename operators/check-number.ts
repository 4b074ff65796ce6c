/** @throws RangeError unless `value` is an integer of at least 1. */
export function assertCount(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 1) {
    throw new RangeError(`${name} must be an integer of at least 1, not ${value}`);
  }
}

/** @throws RangeError unless `value` is an integer of at least 1, or without end. */
export function assertCountOrInfinity(name: string, value: number): void {
  if (value !== Number.POSITIVE_INFINITY) assertCount(name, value);
}

/** @throws RangeError unless `value` is 0 or above. */
export function assertNotNegative(name: string, value: number): void {
  if (!(value >= 0)) throw new RangeError(`${name} must be at least 0, not ${value}`);
}

/** @throws RangeError unless `value` is above 0. */
export function assertPositive(name: string, value: number): void {
  if (!(value > 0)) throw new RangeError(`${name} must be above 0, not ${value}`);
}
