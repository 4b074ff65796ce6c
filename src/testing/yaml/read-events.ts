import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Path } from '../../sdk/checks/problem.ts';
import { parseJson } from '../../sdk/parse-json.ts';
import type { ConfigProblem } from '../../sdk/plugin.ts';

/**
 * The events of a file that a test names at `path`: each line is one; of a file of JSON Lines (`.jsonl`, `.ndjson`), its
 * value. What keeps it from being read is reported at the path.
 */
export async function readEvents(
  folder: string,
  file: string,
  path: Path,
  report: (problem: ConfigProblem) => void,
): Promise<unknown[] | undefined> {
  try {
    const lines = (await readFile(resolve(folder, file), 'utf8')).split(/\r?\n/);
    if (lines.at(-1) === '') lines.pop();
    return /\.(?:jsonl|ndjson)$/.test(file) ? lines.map(parseJson) : lines;
  } catch (error) {
    report({ path, message: `${file} cannot be read: ${(error as Error).message}` });
    return undefined;
  }
}
