import { readFileSync } from 'node:fs';

/** What a process and its descendants have used so far. */
export interface Usage {
  /** Milliseconds of processor time, of all threads, in steps of 10. */
  readonly cpuMs: number;
  /** The sum of each process's peak of resident memory, in bytes. */
  readonly peakBytes: number;
}

/** Linux counts processor time in hundredths of a second for everyone (`USER_HZ`). */
const TICK_MS = 10;
/** Positions in /proc/PID/stat behind the name, which may hold spaces: user and system time. */
const UTIME = 11;
const STIME = 12;
/** The same of children that have ended. */
const CUTIME = 13;
const CSTIME = 14;

/**
 * Samples /proc for a process and its descendants. The kernel keeps the sums and the high-water mark itself, so a
 * sample only misses what came after the last one.
 */
export class ProcessTree {
  readonly #root: number;
  readonly #seen = new Map<number, Usage>();

  constructor(pid: number) {
    this.#root = pid;
  }

  sample(): void {
    this.#visit(this.#root);
  }

  /** The sum of the last samples, of processes that have ended as well. */
  get usage(): Usage {
    let cpuMs = 0;
    let peakBytes = 0;
    for (const usage of this.#seen.values()) {
      cpuMs += usage.cpuMs;
      peakBytes += usage.peakBytes;
    }
    return { cpuMs, peakBytes };
  }

  #visit(pid: number): void {
    const usage = usageOf(pid);
    if (usage === undefined) return;
    this.#seen.set(pid, usage);
    for (const child of childrenOf(pid)) this.#visit(child);
  }
}

/** Milliseconds of processor time of all child processes of this one that have ended, in steps of 10. */
export function cpuOfEndedChildren(): number {
  const stat = read('/proc/self/stat') ?? '';
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[CUTIME]) + Number(fields[CSTIME])) * TICK_MS;
}

/** Undefined once the process has ended. */
function usageOf(pid: number): Usage | undefined {
  const status = read(`/proc/${pid}/status`);
  const peak = /^VmHWM:\s+(\d+) kB/m.exec(status ?? '');
  const stat = read(`/proc/${pid}/stat`);
  if (peak === null || stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[UTIME]) + Number(fields[STIME]);
  return { cpuMs: ticks * TICK_MS, peakBytes: Number(peak[1]) * 1024 };
}

function childrenOf(pid: number): number[] {
  const text = read(`/proc/${pid}/task/${pid}/children`) ?? '';
  return text.split(' ').filter(Boolean).map(Number);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
