import type { CollectorInput, TestDefinition } from '../../sdk/tests-config.ts';
import { parseMarbleRow } from '../marbles.ts';
import type { CollectorMarbles } from '../test-pipeline.ts';

/** The letters of listed values, in the order in which they are given away. */
const ALPHABET = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
export const MOST_LISTED_VALUES = ALPHABET.length;

/** The letters of a marble string. */
export function lettersIn(marbles: string): string[] {
  return [...new Set(parseMarbleRow(marbles).entries.map(({ letter }) => letter))];
}

/** The marble strings of a collector; none if it is kept or lists values. */
export function marbleTexts(input: CollectorInput): string[] {
  return typeof input === 'object' && 'marbles' in input ? [input.marbles].flat() : [];
}

/**
 * What collectors emit, as marbles. Listed values come all at once, and then the end; their letters are a, b, c, …
 * as far as no marbles of the test use them.
 */
export function collectorMarbles(
  collect: TestDefinition['collect'],
): Record<string, CollectorMarbles | 'keep'> {
  const used = new Set(Object.values(collect).flatMap(marbleTexts).flatMap(lettersIn));
  const free = ALPHABET.filter((letter) => !used.has(letter));
  return Object.fromEntries(
    Object.entries(collect).map(([name, input]) => {
      if (input === 'keep') return [name, input];
      if (!isList(input)) {
        const { marbles, values } = input;
        return [name, values === undefined ? { marbles } : { marbles, values }];
      }
      const letters = free.splice(0, input.length);
      const values = Object.fromEntries(letters.map((letter, index) => [letter, input[index]]));
      return [name, { marbles: input.length === 0 ? '|' : `(${letters.join('')}|)`, values }];
    }),
  );
}

function isList(input: CollectorInput): input is readonly unknown[] & CollectorInput {
  return Array.isArray(input);
}

/** What each letter stands for in what collectors emit: several values if collectors differ. */
export function collectedValues(collect: TestDefinition['collect']): ReadonlyMap<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const input of Object.values(collectorMarbles(collect))) {
    if (input === 'keep') continue;
    for (const letter of [input.marbles].flat().flatMap(lettersIn)) {
      const value = input.values === undefined ? { value: letter } : input.values[letter];
      found.set(letter, [...(found.get(letter) ?? []), value]);
    }
  }
  return found;
}
