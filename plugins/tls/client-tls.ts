import type { ConnectionOptions } from 'node:tls';
import * as z from 'zod';
import { type Secret, secret } from '../../src/sdk/index.ts';

/** A secret that holds PEM. It may be written into the configuration itself if `mayBeLiteral`, as no private key may. */
export const pem = (description: string, mayBeLiteral: boolean) =>
  secret({ mayBeLiteral })
    .refine((value: Secret) => !value.isLiteral || value.read().includes('-----BEGIN'), {
      message: 'a PEM string; for a file, write `{ file: path }`',
    })
    .describe(description);

/** The settings of TLS for a plugin that connects to `server`, as descriptions name it. */
export const clientTls = (server = 'the server') =>
  z
    .strictObject({
      ca: pem('Certificates to trust in place of those of Node.js.', true).optional(),
      cert: pem('The certificate of the client.', true).optional(),
      key: pem('The private key of the certificate.', false).optional(),
      verify: z.boolean().default(true).describe(`Whether the certificate of ${server} is checked.`),
    })
    .refine(({ cert, key }) => (cert === undefined) === (key === undefined), {
      message: '`cert` and `key` together',
    });

export type ClientTls = Readonly<z.output<ReturnType<typeof clientTls>>>;

/** The options of `node:tls` for a connection. Secrets are read for each, so that rotated ones are used. */
export function connectionOptions({
  ca,
  cert,
  key,
  verify,
}: ClientTls): Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized'> {
  return {
    ...(ca && { ca: ca.read() }),
    ...(cert && { cert: cert.read() }),
    ...(key && { key: key.read() }),
    rejectUnauthorized: verify,
  };
}
