import { isDeepStrictEqual } from 'node:util';
import { expressionIn } from '../../config/tests/values.ts';
import { formatPath, isMapping, type Path } from '../../sdk/checks/problem.ts';
import { isEvent } from '../../sdk/event-batch.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { truncate } from '../../sdk/printable.ts';

/** What an event is to be like, and how its texts are meant. */
export interface EventMatcher {
  readonly wanted: unknown;
  /** Texts between slashes are texts: the value was given to a collector. */
  readonly isLiteral: boolean;
}

/** The first part of an event that is not as wanted. */
export interface Mismatch {
  readonly path: Path;
  readonly wanted: unknown;
  /** Undefined if there is nothing at the path. */
  readonly found: unknown;
  /** The number of parts, at any depth, that are as wanted: the higher, the nearer. */
  readonly matched: number;
}

/** A matcher as a test writes it. */
export function written(wanted: unknown): EventMatcher {
  return { wanted, isLiteral: false };
}

/**
 * The first difference between an event and what is wanted of it; undefined if there is none. A text is wanted of
 * the line, a mapping of the data; a mapping that has `data` itself is wanted of the whole event. Mappings may
 * have more keys than are wanted, lists no more items; texts `/…/flags` are expressions.
 */
export function mismatch({ wanted, isLiteral }: EventMatcher, event: CollectedEvent): Mismatch | undefined {
  const comparison = new Comparison(isLiteral);
  if (isEvent(wanted)) return comparison.compare(wanted, event, []);
  return comparison.compare(toWantedData(wanted), event.data, []);
}

/** What is wanted of the data, as data. */
export function toWantedData(wanted: unknown): Readonly<Record<string, unknown>> {
  if (isEvent(wanted)) return wanted.data;
  if (isMapping(wanted)) return wanted;
  return typeof wanted === 'string' ? { line: wanted } : { value: wanted };
}

/** A mismatch in words: `line: wanted "a", found "b"`. */
export function mismatchText({ path, wanted, found }: Mismatch): string {
  const where = path.length === 0 ? '' : `${formatPath(path)}: `;
  const what = found === undefined ? 'there is none' : `found ${valueText(found)}`;
  return `${where}expected ${valueText(wanted)}, ${what}`;
}

class Comparison {
  readonly #isLiteral: boolean;
  #matched = 0;

  constructor(isLiteral: boolean) {
    this.#isLiteral = isLiteral;
  }

  compare(wanted: unknown, found: unknown, path: Path): Mismatch | undefined {
    if (Array.isArray(wanted)) {
      if (!Array.isArray(found) || found.length !== wanted.length) return this.#differs(wanted, found, path);
      return this.#first(wanted.map((item, index) => [item, found[index], [...path, index]]));
    }
    if (isMapping(wanted)) {
      if (!isMapping(found)) return this.#differs(wanted, found, path);
      return this.#first(
        Object.entries(wanted).map(([key, item]) => [
          item,
          Object.hasOwn(found, key) ? found[key] : undefined,
          [...path, key],
        ]),
      );
    }
    if (!this.#isLike(wanted, found)) return this.#differs(wanted, found, path);
    this.#matched++;
    return undefined;
  }

  #first(pairs: readonly (readonly [unknown, unknown, Path])[]): Mismatch | undefined {
    let first: Mismatch | undefined;
    for (const [wanted, found, path] of pairs) {
      const here = this.compare(wanted, found, path);
      first ??= here;
    }
    return first && { ...first, matched: this.#matched };
  }

  #isLike(wanted: unknown, found: unknown): boolean {
    const expression = typeof wanted === 'string' && !this.#isLiteral ? expressionIn(wanted) : undefined;
    if (expression === undefined) return isDeepStrictEqual(wanted, found);
    return ['string', 'number', 'bigint', 'boolean'].includes(typeof found) && expression.test(String(found));
  }

  #differs(wanted: unknown, found: unknown, path: Path): Mismatch {
    return { path, wanted, found, matched: this.#matched };
  }
}

const LONGEST = 160;

/** A value as JSON on one line, cut to a length that still shows what it is. An expression stands as it is. */
export function valueText(value: unknown): string {
  if (typeof value === 'string' && /^\/.+\/[a-z]*$/s.test(value)) return truncate(value, LONGEST);
  const text = JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? String(item) : item));
  return truncate(text ?? String(value), LONGEST);
}
