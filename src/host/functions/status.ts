import { availableParallelism, loadavg as osLoadavg, uptime as osUptime } from 'node:os';
import * as z from 'zod';
import { systemInformation } from '../system-information.ts';
import { builtIn } from './host-function.ts';

/** Processes that ran or waited to run, averaged over 1, 5 and 15 minutes. */
export interface LoadAverage {
  readonly load1: number;
  readonly load5: number;
  readonly load15: number;
  /** Processors that may be used: a load above this number means that processes wait. */
  readonly cpus: number;
}

/** Bytes. */
export interface MemoryInfo {
  readonly total: number;
  /** What processes can still get; the cache that can be given back included. */
  readonly available: number;
  /** `total` − `available`. */
  readonly used: number;
  /** Used for nothing at all, not even as a cache. */
  readonly free: number;
  readonly swap_total: number;
  readonly swap_used: number;
}

/** The load average; zeros on Windows, which has none. */
export function readLoadAverage(): LoadAverage {
  const [load1 = 0, load5 = 0, load15 = 0] = osLoadavg();
  return { load1, load5, load15, cpus: availableParallelism() };
}

/** A promise, because systeminformation offers nothing else. */
export async function readMemoryInfo(): Promise<MemoryInfo> {
  const { mem } = await systemInformation();
  const { total, available, free, swaptotal, swapused } = await mem();
  return {
    total,
    available,
    used: total - available,
    free,
    swap_total: swaptotal,
    swap_used: swapused,
  };
}

/** `status.loadavg()`: see {@link LoadAverage}. */
export const loadavg = builtIn({
  name: 'status.loadavg',
  parameters: z.strictObject({}),
  run: readLoadAverage,
});

/** `status.meminfo()`: see {@link MemoryInfo}. */
export const meminfo = builtIn({
  name: 'status.meminfo',
  parameters: z.strictObject({}),
  run: readMemoryInfo,
});

/**
 * `status.cpu()`: how busy the processors are, in percent of their time since the last call; the first call
 * watches them for half a second. `per_cpu` has the load of each.
 */
export const cpu = builtIn({
  name: 'status.cpu',
  parameters: z.strictObject({}),
  // A promise, because systeminformation offers nothing else.
  run: async () => {
    const { currentLoad } = await systemInformation();
    const now = await currentLoad();
    return {
      load: now.currentLoad,
      user: now.currentLoadUser,
      system: now.currentLoadSystem,
      idle: now.currentLoadIdle,
      per_cpu: now.cpus.map(({ load }) => load),
    };
  },
});

/** `status.uptime()`: seconds since the machine was started. */
export const uptime = builtIn({
  name: 'status.uptime',
  parameters: z.strictObject({}),
  run: () => ({ seconds: osUptime() }),
});
