import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's folder, from the sources and from `out/bench` alike. */
export const ROOT = repository(dirname(fileURLToPath(import.meta.url)));

/** The built command line. */
export const MILLRACE = join(ROOT, 'dist/src/cli/bin.js');

/** Generated files, kept for the next run. */
export const GENERATED = join(tmpdir(), 'millrace-bench');

/** Where `install-peers.sh` unpacks what cannot be installed beside another peer. */
export const UNPACKED_PEERS = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'millrace-bench');

/** A compiled program of the bench, such as `loop`. */
export function program(name: string): string {
  return join(ROOT, 'out/bench/bench/programs', `${name}.js`);
}

/** Calls `use` with a new folder, and removes the folder afterwards, also if the process is told to exit. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  mkdirSync(GENERATED, { recursive: true });
  const folder = mkdtempSync(join(GENERATED, 'run-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    return await use(folder);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

function repository(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : repository(dirname(folder));
}
