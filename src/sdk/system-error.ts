import { getSystemErrorMap } from 'node:util';

/** Codes of Node's own, of its DNS, TLS and `fetch`, which the table of the operating system does not have. */
const NODE_CODES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'host name not found',
  ENODATA: 'host name has no such record',
  EREFUSED: 'DNS server refused the query',
  ESERVFAIL: 'DNS server failed',
  ETIMEOUT: 'DNS query timed out',
  EFORMERR: 'DNS query malformed',
  EBADNAME: 'host name malformed',
  EBADRESP: 'DNS reply malformed',
  ESOCKETTIMEDOUT: 'connection timed out',
  CERT_HAS_EXPIRED: 'certificate has expired',
  CERT_NOT_YET_VALID: 'certificate is not valid yet',
  CERT_REVOKED: 'certificate was revoked',
  CERT_REJECTED: 'certificate was rejected',
  CERT_UNTRUSTED: 'certificate is not trusted',
  CERT_SIGNATURE_FAILURE: 'certificate has a wrong signature',
  CERT_CHAIN_TOO_LONG: 'certificate chain is too long',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate chain has a self-signed certificate',
  UNABLE_TO_GET_ISSUER_CERT: 'issuer of the certificate is unknown',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'issuer of the certificate is unknown',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate cannot be verified',
  INVALID_CA: 'certificate authority is not valid',
  INVALID_PURPOSE: 'certificate is not for this purpose',
  HOSTNAME_MISMATCH: 'certificate is for another host name',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another host name',
  ERR_TLS_HANDSHAKE_TIMEOUT: 'TLS handshake timed out',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the other side does not speak TLS, or another version',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'the other side refused the version of TLS',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: 'the other side refused the TLS handshake',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'the other side requires a client certificate',
  ERR_SOCKET_CONNECTION_TIMEOUT: 'connection timed out',
  ERR_STREAM_PREMATURE_CLOSE: 'connection closed too early',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no response in time',
  UND_ERR_BODY_TIMEOUT: 'response stopped midway',
  UND_ERR_SOCKET: 'connection closed by the other side',
};

/** How far causes are followed: they may form a ring. */
const DEPTH = 5;

/**
 * What an error of the operating system or of Node's network says, by code, meaning and call; undefined for any
 * other. Message, path and address are left out: a plugin may have made them of an event.
 *
 * @example
 * const refused = Object.assign(new Error('…'), { code: 'ECONNREFUSED', syscall: 'connect' });
 * describeSystemError(refused); // 'ECONNREFUSED: connection refused, connect'
 */
export function describeSystemError(error: object): string | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException;
  const meaning = meaningOf(code);
  if (meaning === undefined) return undefined;
  // That of a process which cannot be started holds its path: `spawn /usr/bin/…`.
  const call = typeof syscall === 'string' ? /^[a-z_]+(?= |$)/i.exec(syscall)?.[0] : undefined;
  return call === undefined ? `${code}: ${meaning}` : `${code}: ${meaning}, ${call}`;
}

/**
 * {@link describeSystemError} for the first such error among the causes of an error: `fetch` and similar functions wrap
 * the cause, and a connection that was tried at several addresses has an error for each.
 */
export function describeSystemCause(error: object): string | undefined {
  let next: unknown = error;
  for (let depth = 0; depth < DEPTH && typeof next === 'object' && next !== null; depth++) {
    const { cause, errors } = next as { cause?: unknown; errors?: unknown };
    next = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
    const found = typeof next === 'object' && next !== null ? describeSystemError(next) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function meaningOf(code: unknown): string | undefined {
  if (typeof code !== 'string') return undefined;
  if (Object.hasOwn(NODE_CODES, code)) return NODE_CODES[code];
  for (const [name, meaning] of getSystemErrorMap().values()) if (name === code) return meaning;
  return undefined;
}
