import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { programPath } from '../servers/support/start-server.ts';

const REMOTE = programPath('systemd-journal-remote');

/** Whether journals can be written and read here: Debian's package systemd-journal-remote has what that needs. */
export const hasJournals = REMOTE !== undefined && spawnSync('journalctl', ['--version']).status === 0;

/** Fields of an entry; those with several values occur several times. */
export type EntryFields = Readonly<Record<string, string | Buffer | readonly (string | Buffer)[]>>;

let written = 0;

/**
 * Adds entries to a journal file of a folder. Each has a time one second after the one before, over all calls.
 */
export function writeJournal(folder: string, entries: readonly EntryFields[], file = 'a.journal'): void {
  fs.mkdirSync(folder, { recursive: true });
  const parts = entries.map((fields) => {
    written++;
    const own = {
      __REALTIME_TIMESTAMP: String(1_700_000_000_000_000 + written * 1_000_000),
      __MONOTONIC_TIMESTAMP: String(written * 1_000_000),
      _BOOT_ID: 'a'.repeat(32),
    };
    const lines = Object.entries({ ...own, ...fields }).flatMap(([name, values]) =>
      (Array.isArray(values) ? values : [values]).map((value) => exportField(name, value)),
    );
    return Buffer.concat([...lines, Buffer.from('\n')]);
  });
  const { status, stderr } = spawnSync(REMOTE as string, ['-o', join(folder, file), '-'], {
    input: Buffer.concat(parts),
  });
  if (status !== 0) throw new Error(`systemd-journal-remote: ${stderr}`);
}

/** The format of systemd's exports: binary values come after their length. */
function exportField(name: string, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as Buffer);
  const isText = !bytes.includes(10) && !bytes.some((byte) => byte < 32 || byte > 126);
  if (isText) return Buffer.from(`${name}=${bytes}\n`);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([Buffer.from(`${name}\n`), length, bytes, Buffer.from('\n')]);
}
