import { networkInterfaces } from 'node:os';
import * as z from 'zod';
import { systemInformation } from '../system-information.ts';
import { builtIn } from './host-function.ts';

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
  /** Bytes sent. */
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
export const interfaces = builtIn({
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
