import fs from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { decodeEntry, decodeHeader, encode, type Header, type StateEntry } from './record.ts';

export interface StateCopy {
  readonly header: Header;
  readonly entries: StateEntry[];
}

/** A copy as text, one record a line, the header first. */
export function copyText(header: Header, entries: readonly StateEntry[]): string {
  return `${[header, ...entries].map(encode).join('\n')}\n`;
}

/**
 * Replaces a file by `text` so that, whatever happens, one of the two is there whole. Promises, since the events do
 * not wait for it.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  // Of a crash; or a symbolic link of somebody else's, which must not choose what is written to.
  await rm(`${path}.new`, { force: true });
  const file = await open(`${path}.new`, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  const folder = await open(dirname(path));
  await folder.sync().finally(() => folder.close());
}

/** What a copy holds; `damaged` if it cannot be trusted, undefined if there is none. */
export function readCopy(path: string): StateCopy | 'damaged' | undefined {
  let text: string;
  try {
    text = fs.readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const [first = '', ...lines] = text.split('\n').slice(0, -1);
  const header = decodeHeader(first);
  const entries = lines.map(decodeEntry);
  const isWhole = (found: (StateEntry | undefined)[]): found is StateEntry[] => !found.includes(undefined);
  return header !== undefined && header.entries === entries.length && isWhole(entries)
    ? { header, entries }
    : 'damaged';
}
