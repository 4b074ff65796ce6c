import { Buffer } from 'node:buffer';
import * as z from 'zod';
import {
  type CallId,
  type CollectedEvent,
  defineForwarder,
  ForwardConfigBase,
  type PartlyFailedCall,
  type PluginContext,
  secret,
  toJsonLine,
} from '../../src/sdk/index.ts';
import { type Answer, isRetried, RETRY_STATUSES, type Verdict } from '../http/answer.ts';
import type { SignedRequest } from '../http/client.ts';
import { type Documents, flatLine, LineDocuments } from '../http/documents.ts';
import { flatLines } from '../http/event-lines.ts';
import { httpFields, httpUrl } from '../http/http-fields.ts';
import { type EncodedCall, encodedCall, httpSink } from '../http/http-sink.ts';
import { encodedKey, isPrefix, keyOf, regionOf, targetOf, wrongRegion } from '../s3/location.ts';
import { sign } from '../s3/sign.ts';

const { headers, batch, concurrency, timeout, tls, proxy } = httpFields({
  events: 100_000,
  bytes: 16 * 1024 * 1024,
  seconds: 60,
});

const schema = ForwardConfigBase.extend({
  bucket: z
    .string()
    .refine((name) => /^[A-Za-z\d][\w.-]{1,61}[A-Za-z\d]$/.test(name), {
      message: 'a name of a bucket, such as `app-logs`',
    })
    .describe('The bucket, which exists.'),
  prefix: z
    .string()
    .refine(isPrefix, { message: 'a start of keys, such as `logs/web/`, without a slash in front' })
    .default('')
    .describe('What is in front of the date in the key of each object.'),
  endpoint: httpUrl('set `access_key_id` and `secret_access_key`')
    .optional()
    .describe('The URL of a server other than Amazon S3.'),
  region: z
    .string()
    .refine((name) => /^[a-z\d-]+$/i.test(name), { message: 'a name of a region, such as `eu-central-1`' })
    .optional()
    .describe('The region. Default: `AWS_REGION`, or `us-east-1` if there is an `endpoint`.'),
  path_style: z
    .boolean()
    .optional()
    .describe(
      'Whether the bucket is in the path of the URL, not in its host. Default: if there is an `endpoint`.',
    ),
  access_key_id: secret({ mayBeLiteral: true })
    .prefault({ env: 'AWS_ACCESS_KEY_ID' })
    .describe('The id of the access key.'),
  secret_access_key: secret().prefault({ env: 'AWS_SECRET_ACCESS_KEY' }).describe('The access key.'),
  session_token: secret()
    .optional()
    .describe(
      'The token of temporary credentials. Default: `AWS_SESSION_TOKEN`, with the key of `AWS_ACCESS_KEY_ID`.',
    ),
  payload: z
    .enum(['event', 'flat'])
    .default('event')
    .describe('The content of the lines: whole events, or the fields of `data` next to `timestamp`.'),
  compression: z.enum(['gzip', 'zstd', 'none']).default('gzip').describe('How objects are compressed.'),
  headers,
  batch,
  concurrency,
  timeout,
  tls,
  proxy,
});

type Context = PluginContext<typeof schema>;
type Config = Context['config'];

const sink = httpSink((config: Config) => ({
  url: targetOf(config).origin,
  method: 'PUT',
  headers: { 'content-type': 'application/x-ndjson', 'if-none-match': '*' },
  sign: (request: SignedRequest) => sign(request, regionOf(config) ?? '', config),
  errorName: (text: string) => /<Code>([A-Za-z\d.]{1,64})<\/Code>/.exec(text)?.[1],
  verdictOn,
}));

export default defineForwarder({
  description: 'Stores events in Amazon S3 or another object store of its kind, as objects of JSON Lines.',
  example: `
archive:
  plugin: s3
  bucket: app-logs
  prefix: web/
  region: eu-central-1
  access_key_id: { env: AWS_ACCESS_KEY_ID }
  secret_access_key: { env: AWS_SECRET_ACCESS_KEY }
`,
  schema,
  shownSettings: {
    endpoint: '',
    bucket: '',
    prefix: '',
    payload: '',
    compression: '',
    timeout: ' s',
    concurrency: '',
  },
  traits: { deduplicates: true },
  checkConfig: ({ config }) => [
    ...wrongRegion(config as Config),
    ...sink.checkConfig({ config: config as Config }),
  ],
  forward: ({ ctx, event, id, restOf }) => send(ctx, [event], id, restOf),
  forwardBatch: ({ ctx, events, id, restOf }) => send(ctx, events, id, restOf),
  forwardJsonLines:
    ({ ctx }) =>
    (lines, id, restOf) =>
      sink.send(ctx, () => {
        const flat = ctx.config.payload === 'flat' ? flatLines(lines, 'timestamp') : undefined;
        const documents = flat ? new LineDocuments(flat.bytes, flat.count) : LineDocuments.in(lines);
        return objectsOf({ documents }, documents.count, { ctx, id, restOf });
      }),
});

interface NamedCall {
  readonly ctx: Context;
  readonly id: CallId;
  readonly restOf: PartlyFailedCall | undefined;
}

function send(
  ctx: Context,
  events: readonly CollectedEvent[],
  id: CallId,
  restOf: PartlyFailedCall | undefined,
) {
  const isFlat = ctx.config.payload === 'flat';
  const write = (event: CollectedEvent) => (isFlat ? flatLine(event, 'timestamp') : toJsonLine(event));
  const documentsOf = (lines: readonly string[]) =>
    new LineDocuments(Buffer.from(lines.join('')), lines.length);
  return sink.send(ctx, () =>
    objectsOf(encodedCall(events, write, documentsOf), events.length, { ctx, id, restOf }),
  );
}

/**
 * The documents of a call are one object, whose key is the same in every attempt. If the server finds it too large, parts of
 * it are objects named by the positions of their events. With `exactly_once` nothing is split, because after a crash the
 * server may take what it found too large before.
 */
function objectsOf(encoded: EncodedCall, events: number, { ctx, id, restOf }: NamedCall): EncodedCall {
  const { config, pipeline, pipeline_config } = ctx;
  const last = (restOf?.events.length ?? events) - 1;
  const positionOf = (document: number) => {
    const position = encoded.positions?.[document] ?? document;
    return restOf?.left[position] ?? position;
  };
  const pathOf = ({ first, count }: Documents) => {
    const [from, to] = [positionOf(first), positionOf(first + count - 1)];
    const part = from === 0 && to === last ? '' : `-${from}-${to}`;
    return targetOf(config).path + encodedKey(keyOf(config, `${restOf?.id ?? id}${part}`));
  };
  return { ...encoded, pathOf, isWhole: pipeline_config.pipelines[pipeline]?.exactly_once === true };
}

/** Errors after which the same request may succeed, with a status that does not say so. */
const MAY_PASS = new Set(['BadDigest', 'IncompleteBody', 'RequestTimeout', 'XAmzContentSHA256Mismatch']);

const KEYS = 'check `access_key_id` and `secret_access_key`';
const EXPIRED = 'renew the credentials, which have expired or are no longer valid';
const REGION = 'set `region` to the region of the bucket';
const HINTS: Readonly<Record<string, string>> = {
  AccessDenied: 'the key needs the permission `s3:PutObject` for the bucket',
  AuthorizationHeaderMalformed: REGION,
  ExpiredToken: EXPIRED,
  InvalidAccessKeyId: KEYS,
  InvalidToken: EXPIRED,
  NoSuchBucket: 'create the bucket, or check `bucket`',
  PermanentRedirect: REGION,
  RequestTimeTooSkewed: 'the clock of this machine is wrong by more than the server accepts; set it right',
  SignatureDoesNotMatch: KEYS,
  TemporaryRedirect: REGION,
  XAdminUserNotFound: KEYS,
};

/** 412: an object with this key is there, which only an earlier attempt of the same call has stored. */
function verdictOn({ status, serverError = '' }: Answer): Verdict | undefined {
  if (status === 412) return { means: 'taken' };
  if (status < 300) return undefined;
  if (status === 413 || serverError === 'EntityTooLarge') {
    return { means: 'too large', hint: 'let the server accept larger objects' };
  }
  const mayPass = status === 409 || isRetried(status, RETRY_STATUSES) || MAY_PASS.has(serverError);
  if (mayPass) return { means: 'busy' };
  return { means: 'failed', hint: HINTS[serverError] ?? 'check `bucket`, `endpoint` and the credentials' };
}
