import { execFileSync } from 'node:child_process';
import { programPath } from './start-server.ts';

/** Fields of a journal entry. `__REALTIME_TIMESTAMP` is in microseconds. */
export type JournalEntry = Readonly<Record<string, string>>;

/**
 * Writes a journal file, which `journalctl --file` reads, without systemd: `skipWithout('systemd-journal-remote',
 * 'journalctl')`. Entries are appended if the file exists. Their times must not go backwards.
 */
export function writeJournal(file: string, entries: readonly JournalEntry[]): void {
  const text = entries.map((entry) => `${Object.entries(entry).map(exported).join('')}\n`).join('');
  execFileSync(programPath('systemd-journal-remote') ?? '', ['--output', file, '-'], {
    input: text,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
}

/** In the journal export format, a value with a newline has its length in front of it. */
function exported([name, value]: readonly [string, string]): string {
  if (!value.includes('\n')) return `${name}=${value}\n`;
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return `${name}\n${length.toString('latin1')}${value}\n`;
}
