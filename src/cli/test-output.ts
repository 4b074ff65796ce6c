import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UsageError } from './exit-code.ts';

/** Writes a file that an option names, with the folders above it. */
export async function writeResult(option: string, file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (error) {
    throw new UsageError(`${option}: ${file} cannot be written: ${(error as Error).message}`);
  }
}

/** Writes files into a folder that an option names. */
export async function writeResults(
  option: string,
  folder: string,
  files: ReadonlyMap<string, string>,
): Promise<void> {
  for (const [name, text] of files) await writeResult(option, join(folder, name), text);
}
