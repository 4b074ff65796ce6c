import { createSecureContext, type Server, type TlsOptions } from 'node:tls';
import * as z from 'zod';
import { PluginError, type Secret, safeReason } from '../../src/sdk/index.ts';
import { pem } from '../tls/client-tls.ts';

/** Milliseconds: a client that connects and does not finish the handshake would hold its connection for two minutes. */
const HANDSHAKE_MS = 10_000;

/** The settings of TLS for a collector that listens. */
export const listenerTls = () =>
  z.strictObject({
    cert: pem('The certificate of this server, with those that signed it.', true),
    key: pem('The private key of the certificate.', false),
    client_ca: pem(
      'Certificates of the authorities of clients. With it, a client without a certificate of theirs is refused.',
      true,
    ).optional(),
  });

export interface ListenerTls {
  readonly cert: Secret;
  readonly key: Secret;
  readonly client_ca?: Secret | undefined;
}

/**
 * Options of `node:tls` and `node:https` servers.
 *
 * @throws PluginError if a file cannot be read, or if what it holds is no certificate or no key
 */
export function serverOptions({ cert, key, client_ca }: ListenerTls): TlsOptions {
  const ca = client_ca?.read();
  const options: TlsOptions = {
    cert: cert.read(),
    key: key.read(),
    minVersion: 'TLSv1.2',
    handshakeTimeout: HANDSHAKE_MS,
    ...(ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true }),
  };
  expectPem('tls.cert', { cert: options.cert });
  expectPem('tls.key', { key: options.key });
  expectPem('tls.cert and tls.key', { cert: options.cert, key: options.key });
  if (ca !== undefined) expectCertificates(ca);
  return options;
}

function expectPem(name: string, options: Pick<TlsOptions, 'cert' | 'key'>): void {
  try {
    createSecureContext(options);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why =
      code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH'
        ? 'the key is not the one of the certificate'
        : `expected PEM without a passphrase: ${safeReason(cause)}`;
    throw new PluginError(`\`${name}\` cannot be used: ${why}`, { cause });
  }
}

/** OpenSSL takes text without a certificate for no certificates at all: nobody could connect. */
function expectCertificates(ca: string): void {
  try {
    createSecureContext({ ca });
    if (ca.includes('-----BEGIN CERTIFICATE-----')) return;
  } catch {
    // Reported below.
  }
  throw new PluginError('`tls.client_ca` cannot be used: expected certificates as PEM');
}

/**
 * Uses the certificate as it is now for each new connection, so that a rotated one works without a restart. While a new one
 * cannot be used, the last one that worked stays, and `onProblem` is told once for each problem.
 */
export function useCurrentCertificate(
  server: Server,
  tls: ListenerTls,
  onProblem: (problem: string) => void,
): void {
  let known = fingerprint(tls);
  let told: string | undefined;
  // In front of the listener that starts the handshake.
  server.prependListener('connection', () => {
    try {
      const current = fingerprint(tls);
      if (current === known) return;
      server.setSecureContext(serverOptions(tls));
      known = current;
      told = undefined;
    } catch (error) {
      const problem = safeReason(error);
      if (problem !== told) onProblem(problem);
      told = problem;
    }
  });
}

function fingerprint({ cert, key, client_ca }: ListenerTls): string {
  return [cert.read(), key.read(), client_ca?.read()].join('\0');
}
