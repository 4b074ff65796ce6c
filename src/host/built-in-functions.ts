import { statfs } from 'node:fs/promises';
import { availableParallelism, networkInterfaces, loadavg as osLoadavg, uptime as osUptime } from 'node:os';
import * as z from 'zod';
import { loggable, MillraceError } from '../sdk/errors.ts';
import { path } from '../sdk/schema-parts.ts';
import { builtIn, type HostFunction } from './host-function.ts';

/** `test.ping()`: true. */
const ping = builtIn({ name: 'test.ping', parameters: z.strictObject({}), run: () => true });

/** `test.echo(text)`: its argument, unchanged. */
const echo = builtIn({
  name: 'test.echo',
  parameters: z.strictObject({
    text: z.unknown().refine((value) => value !== undefined, { message: 'missing; expected a value' }),
  }),
  run: ({ text }) => text,
});

/** Processes that ran or waited to run, averaged over 1, 5 and 15 minutes. */
interface LoadAverage {
  readonly load1: number;
  readonly load5: number;
  readonly load15: number;
  /** Processors that may be used: a load above this number means that processes wait. */
  readonly cpus: number;
}

/** Bytes. */
interface MemoryInfo {
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
const loadavg = builtIn({
  name: 'status.loadavg',
  parameters: z.strictObject({}),
  run: readLoadAverage,
});

/** `status.meminfo()`: see {@link MemoryInfo}. */
const meminfo = builtIn({
  name: 'status.meminfo',
  parameters: z.strictObject({}),
  run: readMemoryInfo,
});

/**
 * `status.cpu()`: how busy the processors are, in percent of their time since the last call; the first call
 * watches them for half a second. `per_cpu` has the load of each.
 */
const cpu = builtIn({
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
const uptime = builtIn({
  name: 'status.uptime',
  parameters: z.strictObject({}),
  run: () => ({ seconds: osUptime() }),
});

/** The file system that a path lies on. Sizes in bytes. */
export interface DiskUsage {
  /** The path that was asked for, or the place where the file system is mounted. */
  readonly path: string;
  readonly size: number;
  readonly used: number;
  /** What a process without privileges can still write: less than `size` − `used`. */
  readonly available: number;
  /** `used` ÷ (`used` + `available`) × 100, as `df` counts. */
  readonly used_percent: number;
}

// Promises, because `statfs` may wait for a remote disk, and systeminformation offers nothing else.

/** The usage of the file system that a file or folder lies on. */
export async function readDiskUsage(place: string): Promise<DiskUsage> {
  const { bsize, blocks, bfree, bavail } = await statfs(place).catch((error) => {
    throw loggable(error);
  });
  return usage(place, { size: blocks * bsize, used: (blocks - bfree) * bsize, available: bavail * bsize });
}

/** The usage of every mounted file system that holds files. */
export async function readAllDiskUsage(): Promise<DiskUsage[]> {
  const { fsSize } = await systemInformation();
  return (await fsSize()).map(({ mount, ...sizes }) => usage(mount, sizes));
}

function usage(
  place: string,
  { size, used, available }: { size: number; used: number; available: number },
): DiskUsage {
  const writable = used + available;
  return {
    path: place,
    size,
    used,
    available,
    used_percent: writable === 0 ? 0 : (used / writable) * 100,
  };
}

/** `disk.usage(path)`: a list of one {@link DiskUsage}; without a path, of all mounted file systems. */
const diskUsage = builtIn({
  name: 'disk.usage',
  parameters: z.strictObject({ path: path().optional() }),
  run: async ({ path: place }) => (place === undefined ? readAllDiskUsage() : [await readDiskUsage(place)]),
});

/** Counters of one network interface since it was started. */
export interface NetworkCounters {
  readonly interface: string;
  /** `up`, `down` or `unknown`. */
  readonly state: string;
  /** Bytes received. */
  readonly rx_bytes: number;
  /** Packets that were received wrong. */
  readonly rx_errors: number;
  readonly rx_dropped: number;
  readonly tx_bytes: number;
  readonly tx_errors: number;
  readonly tx_dropped: number;
}

/** The counters of all interfaces. A promise, because systeminformation offers nothing else. */
export async function readNetworkCounters(): Promise<NetworkCounters[]> {
  const { networkStats } = await systemInformation();
  return (await networkStats('*')).map((stats) => ({
    interface: stats.iface,
    state: stats.operstate,
    rx_bytes: stats.rx_bytes,
    rx_errors: stats.rx_errors,
    rx_dropped: stats.rx_dropped,
    tx_bytes: stats.tx_bytes,
    tx_errors: stats.tx_errors,
    tx_dropped: stats.tx_dropped,
  }));
}

/**
 * `network.interfaces()`: a list of the interfaces that have an address, each with its `name`, `mac`, whether it
 * is `internal` (loopback), and its `addresses` as `{ family, address, netmask }`.
 */
const interfaces = builtIn({
  name: 'network.interfaces',
  parameters: z.strictObject({}),
  run: () =>
    Object.entries(networkInterfaces()).map(([name, addresses = []]) => ({
      name,
      mac: addresses[0]?.mac,
      internal: addresses[0]?.internal,
      addresses: addresses.map(({ family, address, netmask }) => ({ family, address, netmask })),
    })),
});

/** A process, without its command line: secrets stand there. */
interface ProcessInfo {
  readonly pid: number;
  readonly parent_pid: number;
  readonly name: string;
  readonly user: string;
  /** `running`, `sleeping`, `stopped`, `zombie`, `blocked` or `unknown`. */
  readonly state: string;
  /** Of all processors' time since the last list, or since the process was started. */
  readonly cpu_percent: number;
  readonly memory_percent: number;
  readonly memory_rss: number;
}

/**
 * All processes of the machine. A promise, because systeminformation offers nothing else.
 *
 * Errors: MillraceError `MILLRACE_HOST_READING` if they cannot be listed.
 */
export async function readProcesses(): Promise<ProcessInfo[]> {
  const { processes } = await systemInformation();
  const { list } = await processes();
  // systeminformation turns a failure into an empty list, but there is always the process that asks.
  if (list.length === 0) {
    const message = 'the processes of this machine cannot be listed; is the command `ps` installed?';
    throw new MillraceError('MILLRACE_HOST_READING', message);
  }
  return list.map((entry) => ({
    pid: entry.pid,
    parent_pid: entry.parentPid,
    name: entry.name,
    user: entry.user,
    state: entry.state,
    cpu_percent: entry.cpu,
    memory_percent: entry.mem,
    memory_rss: entry.memRss * 1024,
  }));
}

/** `process.list()`: a list of {@link ProcessInfo}. */
const list = builtIn({ name: 'process.list', parameters: z.strictObject({}), run: readProcesses });

export const builtInFunctions: readonly HostFunction[] = [
  ping,
  echo,
  loadavg,
  meminfo,
  cpu,
  uptime,
  diskUsage,
  interfaces,
  list,
];

/** The library is large and slow to load: it is loaded by the first call that needs it. */
const systemInformation = () => import('systeminformation');
