import type { Field, FieldFate } from '../mask-strings.ts';
import { keyPattern, wordsOf } from './key-patterns.ts';

/** What becomes of the value of a field: it stays, it goes with its key, or something replaces it, whatever it is. */
export type FieldPolicy = 'keep' | 'drop' | ((value: string) => string);

/** A policy with the pattern of the fields that it is for. */
interface PatternPolicy {
  readonly pattern: RegExp;
  readonly hasPath: boolean;
  readonly rank: number;
  readonly fate: FieldFate;
}

/** Paths whose policy is known: those of events come again and again. */
const MOST_KNOWN = 10_000;

/** A rule id for what the policy of a pattern replaces: `fields:ssn` for `*.ssn`. */
export function ruleOfPattern(pattern: string): string {
  const words = pattern
    .split('.')
    .map((part) => wordsOf(part.replaceAll('*', '_')).replace(/^_+|_+$/g, ''))
    .filter((part) => part !== '');
  return `fields:${words.at(-1) ?? 'field'}`;
}

/**
 * Policies of fields, by patterns. A pattern with a dot is a path, and another one a key at any depth. A key that has dots counts as
 * a path.
 *
 * The path without `*` comes first, then the key without `*`, then patterns. Of several of one kind, the strictest one holds: `drop`,
 * then what replaces a value, then `keep`.
 */
export class FieldPolicies {
  readonly #policies: readonly PatternPolicy[];
  readonly #known = new Map<string, FieldFate | undefined>();

  constructor(policies: Readonly<Record<string, FieldPolicy>>) {
    this.#policies = Object.entries(policies)
      .map(([pattern, policy]): PatternPolicy => {
        const hasPath = pattern.includes('.');
        const kind = pattern.includes('*') ? 0 : hasPath ? 2 : 1;
        const strictness = policy === 'drop' ? 2 : policy === 'keep' ? 0 : 1;
        const rule = ruleOfPattern(pattern);
        const fate: FieldFate =
          policy === 'keep' || policy === 'drop'
            ? { rule, action: policy }
            : { rule, action: 'replace', replace: replacing(policy) };
        return { pattern: keyPattern(pattern), hasPath, rank: 3 * kind + strictness, fate };
      })
      .sort((a, b) => b.rank - a.rank);
  }

  /** @param isEvent whether paths are those within the `data` of an event, and nothing beside it has a policy */
  of(key: string, within: Field | undefined, isEvent: boolean): FieldFate | undefined {
    const keys = [key];
    for (let field = within; field !== undefined; field = field.within) keys.unshift(field.key);
    if (isEvent && (keys.length === 1 || keys.shift() !== 'data')) return undefined;
    const path = keys.map(wordsOf).join('.');
    const own = wordsOf(key);
    const known = `${own.length} ${path}`;
    if (!this.#known.has(known)) {
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(known, this.#find(path, own));
    }
    return this.#known.get(known);
  }

  #find(path: string, key: string): FieldFate | undefined {
    const last = key.slice(key.lastIndexOf('.') + 1);
    const flat = key.replaceAll('.', '_');
    return this.#policies.find(({ pattern, hasPath }) =>
      hasPath ? pattern.test(path) : pattern.test(last) || pattern.test(flat),
    )?.fate;
  }
}

/** Replaces a value of any kind by what a policy makes of its text. */
function replacing(policy: (value: string) => string): (value: unknown) => string {
  return (value) => policy(typeof value === 'string' ? value : textOf(value));
}

/** As JSON; the empty string for what has none. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}
