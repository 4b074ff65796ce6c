import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type CliResult, folderWith } from './cli.ts';

/** The files that a process loads, by what V8 writes down for coverage. */
export async function loadedFiles(
  run: (env: Readonly<Record<string, string>>) => Promise<CliResult>,
): Promise<{ readonly result: CliResult; readonly files: readonly string[] }> {
  const folder = folderWith();
  const result = await run({ NODE_V8_COVERAGE: folder });
  const reports = readdirSync(folder).map((name) => JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')));
  const urls: string[] = reports.flatMap(({ result }) => result.map(({ url }: { url: string }) => url));
  const files = [...new Set(urls)].filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
  return { result, files };
}
