import { createHash, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { type Secret, secret } from '../../src/sdk/index.ts';

const token = () => secret().describe('A token that clients send.');

/** The settings of who may send, for a collector that listens for HTTP. */
export const listenerAuth = () =>
  z
    .strictObject({
      bearer: z
        .union([token(), z.array(token()).min(1)])
        .describe('The token of `Authorization: Bearer …`, or several of which each is accepted.')
        .optional(),
      basic: z
        .strictObject({
          username: z
            .string()
            .min(1)
            .refine((name) => !name.includes(':'), { message: 'a user name without a colon' })
            .describe('The user name.'),
          password: secret().describe('The password.'),
        })
        .describe('The user and password of `Authorization: Basic …`.')
        .optional(),
    })
    .refine(({ bearer, basic }) => bearer !== undefined || basic !== undefined, {
      message: '`bearer`, `basic` or both',
    });

export interface ListenerAuth {
  readonly bearer?: Secret | readonly Secret[] | undefined;
  readonly basic?: { readonly username: string; readonly password: Secret } | undefined;
}

/** What a protocol accepts beside the schemes of {@link ListenerAuth}. */
export interface AuthSchemes {
  /** Another name of the scheme of tokens, in lower case, such as `splunk`. */
  readonly tokenScheme?: string;
  /** Whether the password of any user may be a token. */
  readonly tokenAsPassword?: boolean;
}

/**
 * Whether the header `Authorization` of a request is right. It takes the same time for every value. Secrets are read for
 * each request, so that rotated ones count; one that cannot be read lets nobody in.
 */
export function isAuthorised(
  auth: ListenerAuth,
  header: string | undefined,
  { tokenScheme, tokenAsPassword = false }: AuthSchemes = {},
): boolean {
  const [, scheme = '', sent = ''] = /^([a-z]+) +(\S+)$/i.exec(header?.trim() ?? '') ?? [];
  const isToken = ['bearer', tokenScheme].includes(scheme.toLowerCase());
  const user = scheme.toLowerCase() === 'basic' ? Buffer.from(sent, 'base64').toString() : undefined;
  const tokens = [auth.bearer ?? []].flat() as readonly Secret[];
  const sentToken = isToken ? sent : tokenAsPassword ? user?.replace(/^[^:]*:/, '') : undefined;
  const { basic } = auth;
  // Each is compared, whatever the one before was.
  const matches = [
    ...tokens.map((token) => isSame(sentToken, token, (value) => value)),
    basic !== undefined && isSame(user, basic.password, (password) => `${basic.username}:${password}`),
  ];
  return matches.includes(true);
}

/** The value of `WWW-Authenticate`: how clients may send their credentials. */
export function challenges({ bearer, basic }: ListenerAuth = {}): string {
  const schemes = [bearer !== undefined && 'Bearer', basic !== undefined && 'Basic'];
  return schemes
    .filter((scheme) => scheme !== false)
    .map((scheme) => `${scheme} realm="millrace"`)
    .join(', ');
}

function isSame(sent: string | undefined, secret: Secret, expected: (value: string) => string): boolean {
  if (secret.problem() !== undefined) return false;
  return timingSafeEqual(digest(sent ?? ''), digest(expected(secret.read()))) && sent !== undefined;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
