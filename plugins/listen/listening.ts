import type { Server } from 'node:net';
import { isIP } from 'node:net';
import {
  type ConfigProblem,
  isLoopback,
  type ListenAddress,
  PluginError,
  safeReason,
} from '../../src/sdk/index.ts';

const HINTS: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'another program, or another collector of this configuration, listens there; choose another address with `listen`',
  EACCES: 'the user of this process may not listen there; choose a port above 1023',
  EADDRNOTAVAIL: 'no network interface of this machine has that address',
};

/** `host:port` as messages show it. */
export function addressText({ host, port }: ListenAddress): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** What the trait `listens` says of an address. No other listener can have a port that the system chooses. */
export function listensOn(
  { host, port }: ListenAddress,
  protocol: 'tcp' | 'udp' = 'tcp',
): string | undefined {
  return port === 0 ? undefined : `${protocol} ${addressText({ host, port })}`;
}

/** The error of a collector that listens with `--once`, which waits for the end of its input. */
export function onceError(): PluginError {
  const message = 'it never ends, so it cannot be used with --once';
  return Object.assign(new PluginError(message, { permanent: true }), { fatal: true });
}

/** Why a server cannot listen. It is no permanent error: another program may release the port. */
export function listenError(cause: unknown, address: ListenAddress): PluginError {
  const hint = HINTS[String((cause as NodeJS.ErrnoException).code)];
  const message = `cannot listen on ${addressText(address)}: ${safeReason(cause)}`;
  return new PluginError(hint === undefined ? message : `${message}; ${hint}`, { cause });
}

/** Listens on an address. `onListening` gets the port that the system has chosen, if the address leaves that to it. */
export function listenOn(
  server: Server,
  address: ListenAddress,
  {
    onListening,
    onError,
  }: { onListening: (address: ListenAddress) => void; onError: (error: PluginError) => void },
): void {
  server.once('listening', () => {
    const bound = server.address();
    onListening({
      ...address,
      port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
    });
  });
  server.on('error', (error) => onError(listenError(error, address)));
  server.listen({ host: address.host, port: address.port });
}

/** Warns of an address that other machines can reach, of what everybody there can do. */
export function exposureProblems({
  listen,
  auth,
  tls,
}: {
  readonly listen: ListenAddress;
  readonly auth?: unknown;
  readonly tls?: { readonly client_ca?: unknown } | undefined;
}): ConfigProblem[] {
  if (isLoopback(listen.host)) return [];
  const warn = (message: string): ConfigProblem => ({ path: ['listen'], severity: 'warning', message });
  const problems: ConfigProblem[] = [];
  if (auth === undefined && tls?.client_ca === undefined)
    problems.push(
      warn(
        'other machines can reach this address, and anyone there can send events; set `auth`, or `tls.client_ca`',
      ),
    );
  if (tls === undefined)
    problems.push(warn('events, and credentials if there are any, come without encryption; set `tls`'));
  return problems;
}
