import type { Beacon } from './beacon.ts';
import { diskusage } from './diskusage.ts';
import { file_watch } from './file_watch.ts';
import { loadavg } from './loadavg.ts';
import { memusage } from './memusage.ts';
import { network } from './network.ts';
import { process } from './process.ts';

/** The beacons that a standalone host has, if they are configured. */
export const builtInBeacons: ReadonlyMap<string, Beacon> = new Map(
  [loadavg, memusage, diskusage, network, process, file_watch].map((beacon) => [beacon.name, beacon]),
);
