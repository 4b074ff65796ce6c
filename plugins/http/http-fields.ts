import * as z from 'zod';
import {
  type BatchingDefaults,
  batching,
  type ConfigProblem,
  type Secret,
  seconds,
  secret,
} from '../../src/sdk/index.ts';
import { clientTls } from '../tls/client-tls.ts';
import { HEADER_VALUE_FORM, isHeaderValue } from './client.ts';
import type { HttpProxy } from './proxy.ts';

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
/** What the plugin or the connection sets. */
const RESERVED_HEADERS =
  /^(?:content-length|content-encoding|transfer-encoding|connection|host|expect|upgrade)$/i;

/** An address of HTTP. One with credentials is refused, and not shown. */
export const httpUrl = (hint = 'set `auth`') =>
  z
    .string()
    .refine((text) => /^https?:$/.test(parsed(text)?.protocol ?? ''), {
      message: 'a URL that starts with http:// or https://',
      abort: true,
    })
    .refine((text) => parsed(text)?.username === '' && parsed(text)?.password === '', {
      message: `a URL without a user name and a password; ${hint}`,
      params: { secret: true },
    });

function parsed(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}

const headerName = () =>
  z
    .string()
    .refine((name) => HEADER_NAME.test(name), { message: 'a name of a header', abort: true })
    .refine((name) => !RESERVED_HEADERS.test(name), {
      message: 'another header: millrace sets this one itself',
    });

/** The server takes all after the first colon for the password. */
const userName = () =>
  z
    .string()
    .min(1)
    .refine((name) => !name.includes(':'), { message: 'a user name without a colon' })
    .describe('The user name.');

const auth = z
  .strictObject({
    bearer: secret().describe('A token, sent as `Authorization: Bearer …`.').optional(),
    basic: z
      .strictObject({
        username: userName(),
        password: secret().describe('The password.'),
      })
      .describe('Sent as `Authorization: Basic …`.')
      .optional(),
    header: z
      .strictObject({
        name: headerName().describe('The name of the header.'),
        value: secret().describe('Its value.'),
      })
      .describe('A custom header, such as `X-Api-Key`.')
      .optional(),
  })
  .refine((ways) => Object.values(ways).filter((way) => way !== undefined).length === 1, {
    message: 'exactly one of `bearer`, `basic` and `header`',
  });

const PROXY_HINT = 'set `proxy.username` and `proxy.password`';

const proxy = z
  .strictObject({
    url: httpUrl(PROXY_HINT).describe('The URL of the proxy.'),
    username: userName(),
    password: secret().describe('The password.'),
  })
  .transform((settings): HttpProxy => settings);

const FIELDS = z.object({
  headers: z
    .record(headerName(), secret({ mayBeLiteral: true }))
    .default({})
    .describe('More headers.'),
  compression: z.enum(['none', 'gzip']).default('none').describe('How bodies are compressed.'),
  timeout: seconds().gt(0).default(30).describe('Seconds for a request, until its answer is complete.'),
  auth: auth.optional().describe('How requests are authorised.'),
  tls: clientTls().prefault({}).describe('Settings of TLS.'),
  proxy: z
    .union([httpUrl(PROXY_HINT).transform((url): HttpProxy => ({ url })), proxy])
    .optional()
    .describe(
      'The URL of a proxy to send requests through, also with a user name and a password. Default: that of `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY`, unless `NO_PROXY` has the server.',
    ),
});

/** What the configuration of every output over HTTP has. It has no `url` if its protocol knows it. */
export type HttpConfig = Omit<z.output<typeof FIELDS>, 'compression'> & {
  readonly url?: string | undefined;
  readonly concurrency: number;
  readonly compression: 'none' | 'gzip' | 'zstd';
};

/**
 * The fields that all outputs over HTTP share: headers, compression, batches, timeout, authorisation, TLS and a proxy.
 *
 * @param defaults of the batches.
 */
export function httpFields(defaults: BatchingDefaults) {
  const { headers, compression, ...others } = FIELDS.shape;
  return { headers, compression, ...batching(defaults), ...others };
}

/**
 * Values that no header can have: those of the configuration and the environment, and those of files as they are now.
 *
 * @param own fields of the plugin whose values are sent in headers.
 */
export function wrongHeaders(
  { headers, auth: ways }: HttpConfig,
  own: Readonly<Record<string, Secret>>,
): ConfigProblem[] {
  const values: [path: readonly string[], value: Secret | undefined][] = [
    ...Object.entries(headers).map(([name, value]) => [['headers', name], value] as [string[], Secret]),
    [['auth', 'bearer'], ways?.bearer],
    [['auth', 'header', 'value'], ways?.header?.value],
    ...Object.entries(own).map(([name, value]) => [[name], value] as [string[], Secret]),
  ];
  return values.flatMap(([path, value]) => {
    // One that cannot be read is reported with all other secrets.
    if (value === undefined || value.problem() !== undefined || isHeaderValue(value.read())) return [];
    return [{ path, message: `it is the value of a header, so it needs ${HEADER_VALUE_FORM}` }];
  });
}

/** What is valid and endangers events or credentials. */
export function warnings(
  { url, auth: ways, tls: { verify } }: HttpConfig,
  own: Readonly<Record<string, Secret>>,
): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const warn = (path: readonly string[], message: string) =>
    problems.push({ path, severity: 'warning', message });
  if (!verify) {
    warn(
      ['tls', 'verify'],
      'the server is not verified, so anyone on the way can read and change the events',
    );
  }
  const { protocol, hostname } = new URL(url ?? '');
  const isLocal = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  if (protocol === 'http:' && !isLocal) {
    for (const field of [...(ways === undefined ? [] : ['auth']), ...Object.keys(own)]) {
      warn([field], 'the credentials are sent without encryption; use an https:// URL');
    }
  }
  return problems;
}
