import { createHash } from 'node:crypto';
import { asyncScheduler } from 'rxjs';
import { PluginError, type Secret } from '../../src/sdk/index.ts';
import type { SignedRequest } from '../http/client.ts';

export interface Credentials {
  readonly access_key_id: Secret;
  readonly secret_access_key: Secret;
  readonly session_token?: Secret | undefined;
}

/** Secrets are read for each request, because they may be rotated. */
export async function sign(
  { method, url, headers, body }: SignedRequest,
  region: string,
  { access_key_id, secret_access_key, session_token }: Credentials,
): Promise<Readonly<Record<string, string>>> {
  const accessKeyId = sendable('access_key_id', access_key_id.read());
  const secretAccessKey = secret_access_key.read();
  const token = session_token?.read() ?? environmentToken(accessKeyId);
  const sessionToken = token && sendable('session_token', token);
  // Loaded by the first request: other configurations do not wait for it.
  const { AwsV4Signer } = await import('aws4fetch');
  const signer = new AwsV4Signer({
    method,
    url,
    service: 's3',
    region,
    headers: { ...headers, 'x-amz-content-sha256': createHash('sha256').update(body).digest('hex') },
    accessKeyId,
    secretAccessKey,
    ...(sessionToken && { sessionToken }),
    datetime: new Date(asyncScheduler.now()).toISOString().replaceAll(/[-:]|\.\d{3}/g, ''),
  });
  const signed = await signer.sign();
  return Object.fromEntries(signed.headers);
}

/** @throws PluginError, fatal, for a value that no header can have: other errors would show it. */
function sendable(field: string, value: string): string {
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  const message = `the value of \`${field}\` has spaces or other characters that no credentials of S3 have`;
  throw Object.assign(new PluginError(message), { fatal: true });
}

/** The token of the environment belongs to the key of the environment. */
function environmentToken(accessKeyId: string): string | undefined {
  const { AWS_ACCESS_KEY_ID, AWS_SESSION_TOKEN } = process.env;
  return accessKeyId === AWS_ACCESS_KEY_ID ? AWS_SESSION_TOKEN : undefined;
}
