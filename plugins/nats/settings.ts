import * as z from 'zod';
import { path, secret } from '../../src/sdk/index.ts';

const SERVER = /^(?:(?:nats|tls):\/\/)?(?:\[[0-9a-fA-F:]+\]|[^\s:/@[\]]+)(?::\d{1,5})?$/;

const server = () =>
  z.string().refine((text) => SERVER.test(text), {
    message: 'a server such as nats://host:4222; a user, a password or a token belongs under `auth`',
    params: { secret: true },
  });

const list = <T extends z.ZodType<string>>(item: T) =>
  z.union([z.array(item).min(1), item.transform((one) => [one])]);

const auth = z
  .strictObject({
    token: secret().optional().describe('A token.'),
    user: z.string().min(1).optional().describe('The name of a user.'),
    password: secret().optional().describe('The password of the user.'),
    nkey: secret().describe('The seed of an NKey, which starts with `SU`.').optional(),
    creds: secret().describe('The content of a `.creds` file, usually given as `{ file: path }`.').optional(),
  })
  .check(({ value, issues }) => {
    const { token, user, password, nkey, creds } = value;
    const ways = [token, user ?? password, nkey, creds].filter((way) => way !== undefined);
    const isWhole = (user === undefined) === (password === undefined);
    if (ways.length === 1 && isWhole) return;
    const message = 'one of: `token`, `user` with `password`, `nkey`, `creds`';
    issues.push({ code: 'custom', input: value, message });
  });

const tls = z.strictObject({
  ca: path().describe('File with the certificates of the authorities to trust, as PEM.').optional(),
  cert: path().describe('File with the certificate of this client, as PEM.').optional(),
  key: secret()
    .describe('The private key of this client, as PEM; usually given as `{ file: path }`.')
    .optional(),
  verify: z.boolean().default(true).describe('Whether the certificate of the server is checked.'),
});

/** The fields of both plugins that say where the servers are and how to log in. */
export const connectionFields = {
  servers: list(server()).describe('The servers of a cluster, of which one is enough to find the others.'),
  auth: auth.optional().describe('How to log in: `token`, `user` and `password`, `nkey`, or `creds`.'),
  tls: tls.optional().describe('How to connect with TLS: `ca`, `cert`, `key`, `verify`.'),
};

const connection = z.object(connectionFields);
export type ConnectionSettings = Readonly<z.output<typeof connection>>;

/** Names of streams and consumers become parts of subjects. */
const NAME = /^[^\s.*>/\\]+$/;
export const jetStreamName = () =>
  z
    .string()
    .max(255)
    .refine((text) => NAME.test(text), { message: 'a name without spaces, dots, slashes, `*` and `>`' });

/** Whether messages can be published to a subject. */
export const isSubject = (text: string) => /^[^\s.*>\p{Cc}]+(?:\.[^\s.*>\p{Cc}]+)*$/u.test(text);

const SUBJECT_PATTERN = /^(?:[^\s.*>]+|\*)(?:\.(?:[^\s.*>]+|\*))*(?:\.>)?$|^>$/;

/** A subject of a stream or a filter, which may have wildcards. */
export const subjectPattern = () =>
  z.string().refine((text) => SUBJECT_PATTERN.test(text), {
    message: 'a subject such as `logs.app`, `logs.*` or `logs.>`',
  });
