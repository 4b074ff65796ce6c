import { isIP } from 'node:net';

// Without zod: the command line reads its options before anything else is loaded.

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string;
  /** 0 lets the system choose one. */
  readonly port: number;
}

const ADDRESS = /^(?:(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]]+)):)?(\d{1,5})$/;
const LARGEST_PORT = 65_535;

/**
 * Reads `PORT`, `HOST:PORT` or `[IPV6]:PORT`. Without a host it is 127.0.0.1. Undefined for anything else.
 *
 * @example
 * parseListenAddress('9464'); // { host: '127.0.0.1', port: 9464 }
 * parseListenAddress('[::1]:9464'); // { host: '::1', port: 9464 }
 * parseListenAddress('localhost'); // undefined
 */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const [, ipv6, host, digits] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > LARGEST_PORT || (ipv6 !== undefined && isIP(ipv6) !== 6))
    return undefined;
  return { host: ipv6 ?? host ?? '127.0.0.1', port };
}

/**
 * Whether only this machine can reach an address.
 *
 * @example
 * isLoopback('127.0.0.1'); // true
 * isLoopback('0.0.0.0'); // false
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
