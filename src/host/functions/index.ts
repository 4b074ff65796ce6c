import { diskUsage } from './disk.ts';
import type { HostFunction } from './host-function.ts';
import { interfaces } from './network.ts';
import { list } from './process.ts';
import { cpu, loadavg, meminfo, uptime } from './status.ts';
import { echo, ping } from './test.ts';

/** The functions that every standalone host has. */
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
