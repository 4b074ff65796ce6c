import { expect } from '@jest/globals';

/** What differs from run to run. Counts of events do not, so they are compared. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with an escape character
  [/\u001b\[[0-9;]*m/g, ''],
  [/\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g, '<time>'],
  [/\b\d\d:\d\d:\d\d(?:\.\d+)?\b/g, '<time>'],
  [/\b[\d,.]*\d((?: \w+)?)\/s\b/g, '<rate>$1/s'],
  [/\b[\d,.]*\d ?(?:[kKMGT]i?B|bytes)\b/g, '<bytes>'],
  [/\b(?:\d+(?:\.\d+)? ?(?:ns|µs|ms|s|min|h|d)\b ?)+/g, '<duration> '],
  [/\bv?\d+\.\d+\.\d+\b/g, '<version>'],
  // Columns move with what stands in them.
  [/[ \t]+/g, ' '],
  [/ ?$/gm, ''],
];

/**
 * Compares output with what a page shows of it. Times, durations, rates, sizes and versions may differ; so may the
 * width of gaps. `…` stands for anything within a line, and alone on a line for any lines.
 */
export function expectOutput(actual: string, shown: string): void {
  const [seen, wanted] = [actual, shown].map((text) =>
    VARYING.reduce((masked, [pattern, mask]) => masked.replace(pattern, mask), text).trim(),
  ) as [string, string];
  const pattern = wanted
    .split('\n')
    .map((line) => (line.trim() === '…' ? '(?:.*\n)*?' : `${line.split('…').map(literal).join('.*')}\n`))
    .join('');
  if (!new RegExp(`^${pattern}$`).test(`${seen}\n`)) expect(seen).toBe(wanted);
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
