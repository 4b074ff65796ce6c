import { openSync, readSync } from 'node:fs';

/** Node.js has it since 23.9; the types are those of Node 20. */
const { threadCpuUsage } = process as { threadCpuUsage?: () => { user: number; system: number } };
/** Linux says here how many nanoseconds the thread has had a processor, among others. It is the thread that opens it. */
const SCHEDSTAT = '/proc/thread-self/schedstat';
const text = Buffer.alloc(64);
let file: number | 'none' | undefined;

/**
 * Milliseconds for which this thread has had a processor. Where neither Node.js nor the system tells it, those of all
 * threads of the process.
 *
 * @example
 * const before = threadMs();
 * threadMs() - before < 1000; // true
 */
export function threadMs(): number {
  if (threadCpuUsage !== undefined) return milliseconds(threadCpuUsage());
  file ??= opened();
  return file === 'none' ? milliseconds(process.cpuUsage()) : nanosecondsIn(file) / 1e6;
}

function opened(): number | 'none' {
  try {
    const opened = openSync(SCHEDSTAT, 'r');
    // A kernel without these statistics says 0.
    return nanosecondsIn(opened) > 0 ? opened : 'none';
  } catch {
    return 'none';
  }
}

function nanosecondsIn(file: number): number {
  return Number.parseInt(text.toString('latin1', 0, readSync(file, text, 0, text.length, 0)), 10);
}

function milliseconds({ user, system }: { readonly user: number; readonly system: number }): number {
  return (user + system) / 1000;
}
