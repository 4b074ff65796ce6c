/**
 * The events of a file that a test names: each line is one; of a file of JSON Lines (`.jsonl`, `.ndjson`), its value.
 *
 * @throws SyntaxError if a line of JSON Lines is no JSON
 * @example
 * eventsOfFile('{"n":1}\n', 'data.jsonl'); // [{ n: 1 }]
 */
export function eventsOfFile(text: string, file: string): unknown[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return /\.(?:jsonl|ndjson)$/.test(file) ? lines.map((line): unknown => JSON.parse(line)) : lines;
}
