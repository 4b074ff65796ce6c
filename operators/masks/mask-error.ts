/**
 * A value that cannot be masked. The event that contains it must not be forwarded, because masking fails closed.
 * The message names the type and the place, never content.
 */
export class MaskError extends Error {
  readonly code = 'MILLRACE_MASK';

  constructor(message: string) {
    super(message);
    this.name = 'MaskError';
  }
}

const MAX_SEGMENTS = 8;

/** Thrown deep inside a value and caught at its top, so that the place is only worked out when it is needed. */
export class Refusal {
  readonly what: string;
  readonly #innermostFirst: (string | number)[] = [];

  constructor(what: string) {
    this.what = what;
  }

  inside(key: string | number): this {
    this.#innermostFirst.push(key);
    return this;
  }

  toError(): MaskError {
    const keys = this.#innermostFirst.toReversed();
    const shown = keys.slice(0, MAX_SEGMENTS).map(segment).join('').replace(/^\./, '');
    const place = shown === '' ? 'the value itself' : shown + (keys.length > MAX_SEGMENTS ? '…' : '');
    return new MaskError(
      `cannot mask ${this.what} (at ${place}); wanted: what JSON can hold (strings, numbers, booleans, null, arrays, objects)`,
    );
  }
}

/** Keys are content too, such as the names of users. Only "data", which every event has, is shown at the top. */
function segment(key: string | number, depth: number): string {
  if (typeof key === 'number') return `[${key}]`;
  return depth === 0 && key === 'data' ? '.data' : '.*';
}
