import { type ExecFileException, execFile } from 'node:child_process';
import { lmdbPath, loadLmdb } from './lmdb.ts';
import { decodeEntry, decodeHeader, HEADER_KEY, type Header, type StateEntry } from './record.ts';

/** Milliseconds: damaged pages can lead a reader in circles. */
const LONGEST = 60_000;
const MOST_BYTES = 1 << 30;

const READER = `
const { open } = require(process.argv[1]);
const store = open({ path: process.argv[2], noSubdir: true, readOnly: true, encoding: 'string' });
for (const { key, value } of store.getRange()) process.stdout.write(JSON.stringify([key, value]) + '\\n');
process.stdout.write('end\\n');
`;

/** A whole store, or what is wrong with it. */
export type StoreContent =
  | { readonly header: Header; readonly entries: StateEntry[] }
  | { readonly damage: string };

/**
 * Reads a store that was not closed, in a process of its own: LMDB maps the file into memory and trusts what it
 * finds, so a torn one ends its reader by a signal (SIGBUS, SIGSEGV) that no program can catch.
 *
 * @throws MillraceError if lmdb does not load, which says nothing of the store
 */
export async function readElsewhere(file: string): Promise<StoreContent> {
  loadLmdb();
  const env = { ...process.env, NODE_OPTIONS: '', ELECTRON_RUN_AS_NODE: '1' };
  const options = { env, timeout: LONGEST, maxBuffer: MOST_BYTES };
  // A promise: this is before the first event, and callers wait for a promise anyway.
  return new Promise((resolve) => {
    execFile(process.execPath, ['-e', READER, lmdbPath(), file], options, (error, output) => {
      resolve(error === null ? parse(output) : { damage: damageOf(error) });
    });
  });
}

/** By the way in which the reader ended. Of a signal it says whose, so that nobody takes it for a crash of millrace. */
function damageOf({ signal, killed }: ExecFileException): string {
  if (killed === true) return 'it cannot be read to its end';
  return signal ? `it is torn: whoever reads it is ended by the system (${signal})` : 'it does not open';
}

function parse(output: string): StoreContent {
  const lines = output.split('\n');
  if (lines.at(-2) !== 'end') return { damage: 'it ends in its midst' };
  let header: Header | undefined;
  const entries: StateEntry[] = [];
  for (const line of lines.slice(0, -2)) {
    const [key, record] = pairOf(line);
    const entry = key === HEADER_KEY ? undefined : decodeEntry(record);
    if (key === HEADER_KEY) header = decodeHeader(record);
    else if (entry === undefined) return { damage: 'a record does not match its checksum' };
    else entries.push(entry);
  }
  if (header === undefined) return { damage: 'it has no header' };
  if (header.entries !== entries.length) {
    return { damage: `it has ${entries.length} of ${header.entries} records` };
  }
  return { header, entries };
}

/** What stands there is JSON, since the reader wrote it; what it stands for may be anything. */
function pairOf(line: string): [key: string, record: string] {
  const [key, record] = JSON.parse(line) as [unknown, unknown];
  return [String(key), String(record)];
}
