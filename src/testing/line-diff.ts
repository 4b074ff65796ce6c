/**
 * Two values as indented JSON, line by line: `-` only in the first, `+` only in the second. What is the same at the
 * begin and the end stands once; between, one block follows the other.
 *
 * @example
 * lineDiff({ n: 1 }, { n: 2 }); // '  {\n-   "n": 1\n+   "n": 2\n  }'
 */
export function lineDiff(expected: unknown, received: unknown): string {
  const before = lines(expected);
  const after = lines(received);
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return [
    ...before.slice(0, head).map((line) => `  ${line}`),
    ...before.slice(head, before.length - tail).map((line) => `- ${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+ ${line}`),
    ...before.slice(before.length - tail).map((line) => `  ${line}`),
  ].join('\n');
}

function lines(value: unknown): string[] {
  return (JSON.stringify(value, undefined, 2) ?? String(value)).split('\n');
}
