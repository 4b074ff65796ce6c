import { Observable } from 'rxjs';
import * as z from 'zod';
import { counted, steadyClock } from '../../operators/internal.ts';
import {
  batching,
  type CollectedEvent,
  type ConfigProblem,
  defineForwarder,
  type FailedEvent,
  ForwardConfigBase,
  integer,
  isPermanent,
  oncePerContext,
  type PluginContext,
  PluginError,
  type Secret,
  safeReason,
  seconds,
  secret,
} from '../../src/sdk/index.ts';
import { errorOf, isRefusal, isSuccess, type PartialFailure, refusedBy } from '../http/answer.ts';
import { HEADER_VALUE_FORM, HttpClient, type HttpProxy, isHeaderValue } from '../http/client.ts';
import {
  bodyOf,
  CONTENT_TYPES,
  type Documents,
  documentsIn,
  documentsOf,
  halves,
  split,
} from '../http/documents.ts';

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
/** What the plugin or the connection sets. */
const RESERVED_HEADERS =
  /^(?:content-length|content-encoding|transfer-encoding|connection|host|expect|upgrade)$/i;

/** An address of HTTP. One with credentials is refused, and not shown. */
const httpUrl = (hint: string) =>
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

const pem = (description: string, options?: { mayBeLiteral: boolean }) =>
  secret(options)
    .refine((value: Secret) => !value.isLiteral || value.read().includes('-----BEGIN'), {
      message: 'a PEM string; for a file, write `{ file: path }`',
    })
    .describe(description);

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

const tls = z
  .strictObject({
    ca: pem('Certificates to trust in place of those of Node.js.', { mayBeLiteral: true }).optional(),
    cert: pem('The certificate of the client.', { mayBeLiteral: true }).optional(),
    key: pem('The private key of the certificate.').optional(),
    verify: z.boolean().default(true).describe('Whether the certificate of the server is checked.'),
  })
  .refine(({ cert, key }) => (cert === undefined) === (key === undefined), {
    message: '`cert` and `key` together',
  });

const PROXY_HINT = 'set `proxy.username` and `proxy.password`';

const proxy = z
  .strictObject({
    url: httpUrl(PROXY_HINT).describe('The URL of the proxy.'),
    username: userName(),
    password: secret().describe('The password.'),
  })
  .transform((settings): HttpProxy => settings);

const schema = ForwardConfigBase.extend({
  url: httpUrl('set `auth`').describe('Where events are sent to.'),
  method: z.enum(['POST', 'PUT', 'PATCH']).default('POST').describe('The method of the requests.'),
  headers: z
    .record(headerName(), secret({ mayBeLiteral: true }))
    .default({})
    .describe('More headers.'),
  format: z
    .enum(['ndjson', 'json_array', 'lines'])
    .default('ndjson')
    .describe('JSON with one event a line, a JSON array of events, or `data.line` of each event as text.'),
  payload: z
    .enum(['event', 'flat'])
    .default('event')
    .describe('The content of the JSON: whole events, or the fields of `data` next to `timestamp`.'),
  compression: z.enum(['none', 'gzip']).default('none').describe('How bodies are compressed.'),
  ...batching({ events: 1000 }),
  timeout: seconds().gt(0).default(30).describe('Seconds for a request, until its answer is complete.'),
  retry_statuses: z
    .array(z.union([z.enum(['4xx', '5xx']), integer().min(300).max(599)]))
    .default([408, 425, 429, '5xx'])
    .describe('Statuses after which a batch is sent again.'),
  split_refused: z
    .boolean()
    .default(false)
    .describe('Whether a batch that the server refuses is split until the refused events are found.'),
  auth: auth.optional().describe('How requests are authorised.'),
  tls: tls.prefault({}).describe('Settings of TLS.'),
  proxy: z
    .union([httpUrl(PROXY_HINT).transform((url): HttpProxy => ({ url })), proxy])
    .optional()
    .describe('The URL of a proxy to send requests through, also with a user name and a password.'),
});

type Context = PluginContext<typeof schema>;
type Config = Context['config'];

export default defineForwarder({
  description: 'Sends events over HTTP, in batches of JSON or text.',
  example: `
clickhouse:
  plugin: http
  url: http://localhost:8123/?query=INSERT%20INTO%20logs%20FORMAT%20JSONEachRow
  payload: flat
  auth:
    basic: { username: agent, password: { file: /run/secrets/clickhouse } }
`,
  schema,
  shownSettings: { method: '', format: '', payload: '', compression: '', timeout: ' s', concurrency: '' },

  checkConfig({ config }) {
    return [...wrongHeaders(config as Config), ...warnings(config as Config)];
  },

  forward({ ctx, event }) {
    return send(ctx, () => documentsOf([event], ctx.config));
  },

  forwardBatch({ ctx, events }: { ctx: Context; events: readonly CollectedEvent[] }) {
    return send(ctx, () => documentsOf(events, ctx.config));
  },

  forwardJsonLines({ ctx }) {
    const { format, payload } = ctx.config;
    if (format === 'lines' || payload === 'flat') return undefined;
    return (bytes: Buffer) => send(ctx, () => documentsIn(bytes));
  },
});

/** Values that no header can have: those of the configuration and the environment, and those of files as they are now. */
function wrongHeaders({ headers, auth }: Config): ConfigProblem[] {
  const values: [path: readonly string[], value: Secret | undefined][] = [
    ...Object.entries(headers).map(([name, value]) => [['headers', name], value] as [string[], Secret]),
    [['auth', 'bearer'], auth?.bearer],
    [['auth', 'header', 'value'], auth?.header?.value],
  ];
  return values.flatMap(([path, value]) => {
    // One that cannot be read is reported with all other secrets.
    if (value === undefined || value.problem() !== undefined || isHeaderValue(value.read())) return [];
    return [{ path, message: `it is the value of a header, so it needs ${HEADER_VALUE_FORM}` }];
  });
}

function warnings({ url, auth, tls }: Config): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const warn = (path: readonly string[], message: string) =>
    problems.push({ path, severity: 'warning', message });
  if (!tls.verify) {
    warn(
      ['tls', 'verify'],
      'the server is not verified, so anyone on the way can read and change the events',
    );
  }
  const { protocol, hostname } = new URL(url);
  const isLocal = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  if (auth !== undefined && protocol === 'http:' && !isLocal) {
    warn(['auth'], 'the credentials are sent without encryption; use an https:// URL');
  }
  return problems;
}

/** A context is one run: its connections are closed when the run is over. */
const senderOf = oncePerContext((ctx: Context) => new Sender(ctx));

/** Completes when the documents are delivered. Unsubscribing aborts the request. */
function send(ctx: Context, documents: () => Documents): Observable<never> {
  return new Observable((subscriber) => {
    const abort = new AbortController();
    senderOf(ctx)
      .send(documents(), abort.signal)
      .then(
        () => subscriber.complete(),
        (error: unknown) => subscriber.error(error),
      );
    return () => abort.abort();
  });
}

/** Of `delivery.timeout`: then a call tries no further parts. The rest is for requests that are under way. */
const TIME_FOR_PARTS = 0.25;
const NOT_TRIED = 'not sent yet: a part of `delivery.timeout` is over';

/** A call of the engine, which may take many requests. */
interface Call {
  readonly signal: AbortSignal;
  readonly isLate: () => boolean;
  /** Whether the server has taken or refused an event. */
  hasResult: boolean;
}

/** Sends documents, in several requests if the server finds them too large for one, or refuses some of them. */
class Sender {
  readonly #config: Config;
  readonly #client: HttpClient;
  readonly #stats: Context['stats'];
  /** Bytes of the smallest batch that the server found too large. */
  #tooLarge = Number.POSITIVE_INFINITY;
  /** Milliseconds after which a call tries no further parts. */
  readonly #timeForParts: number;

  constructor({ config, info, signal, stats, pipeline, pipeline_config: { pipelines } }: Context) {
    this.#stats = stats;
    const { timeout = Number.POSITIVE_INFINITY } = pipelines[pipeline]?.delivery ?? {};
    this.#timeForParts = timeout * 1000 * TIME_FOR_PARTS;
    const { format, compression } = config;
    this.#config = config;
    this.#client = new HttpClient(config, {
      'user-agent': `millrace/${info.version}`,
      'content-type': CONTENT_TYPES[format],
      ...(compression === 'none' ? {} : { 'content-encoding': compression }),
    });
    const close = () => void this.#client.close().catch(() => {});
    if (signal.aborted) close();
    else signal.addEventListener('abort', close, { once: true });
  }

  /** @throws PluginError if not all of them were delivered. It names those that failed if there are others. */
  async send(documents: Documents, signal: AbortSignal): Promise<void> {
    const elapsed = steadyClock();
    const call: Call = { signal, isLate: () => elapsed() >= this.#timeForParts, hasResult: false };
    const { failedEvents, retryAfter } = await this.#sendPart(documents, call);
    if (failedEvents.length === 0) return;
    const message = `${failedEvents.length} of ${counted(documents.count, 'event')} ${failedEvents.length === 1 ? 'was' : 'were'} not delivered to ${this.#client.server}: ${reasonsOf(failedEvents)}`;
    const unfinished = failedEvents.every(({ permanent, reason }) => permanent || reason === NOT_TRIED);
    throw new PluginError(message, { failedEvents, retryAfter, unfinished });
  }

  /** Returns the events that failed, of which the others were delivered. Throws if there are no others. */
  async #sendPart(documents: Documents, call: Call): Promise<PartialFailure> {
    // An attempt that lasts longer than the timeout would be aborted, and what it has found forgotten.
    if (call.hasResult && call.isLate()) throw new PluginError(NOT_TRIED);
    const { retry_statuses: statuses, split_refused: splitsRefused } = this.#config;
    const { count, bytes } = documents;
    if (count > 1 && bytes.length >= this.#tooLarge) return this.#sendParts(documents, call);
    const body = await bodyOf(documents, this.#config);
    const answer = await this.#client.post(body, call.signal);
    call.hasResult ||= isSuccess(answer) || count === 1;
    if (isSuccess(answer)) {
      this.#stats.bytes(body.length);
      return refusedBy(answer, documents, { server: this.#client.server, statuses });
    }
    if (answer.status === 413 && count > 1) {
      this.#tooLarge = Math.min(this.#tooLarge, bytes.length);
      return this.#sendParts(documents, call);
    }
    if (splitsRefused && count > 1 && isRefusal(answer, statuses)) return this.#sendParts(documents, call);
    throw errorOf(answer, documents, { server: this.#client.server, statuses });
  }

  async #sendParts(documents: Documents, call: Call): Promise<PartialFailure> {
    const failedEvents: FailedEvent[] = [];
    let retryAfter: number | undefined;
    let lastError: unknown;
    // A single event always has a result, so that each attempt leaves fewer events.
    const parts = call.isLate() && !call.hasResult ? split(documents, 1) : halves(documents);
    for (const part of parts) {
      try {
        // After an error that may pass, the rest waits for the next attempt.
        if (lastError !== undefined && !isPermanent(lastError)) throw lastError;
        const failure = await this.#sendPart(part, call);
        failedEvents.push(...failure.failedEvents);
        retryAfter = longer(retryAfter, failure.retryAfter);
      } catch (error) {
        lastError = error;
        if (error instanceof PluginError) retryAfter = longer(retryAfter, error.retryAfter);
        failedEvents.push(...failuresOf(part, error));
      }
    }
    const isWhole =
      failedEvents.length === documents.count && failedEvents.every((event) => !event.permanent);
    if (lastError !== undefined && isWhole) throw lastError;
    return { failedEvents, retryAfter };
  }
}

function longer(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

/** The most frequent reasons of events that failed. */
function reasonsOf(failedEvents: readonly FailedEvent[]): string {
  const counts = new Map<string, number>();
  for (const { reason = '' } of failedEvents) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts].toSorted(([, a], [, b]) => b - a).map(([reason]) => reason);
  return reasons.length > 3 ? `${reasons.slice(0, 3).join('; ')}; …` : reasons.join('; ');
}

function failuresOf({ first, count }: Documents, error: unknown): FailedEvent[] {
  const reason = safeReason(error);
  const permanent = isPermanent(error);
  return Array.from({ length: count }, (_, n) => ({ index: first + n, reason, permanent }));
}
