import { Observable } from 'rxjs';
import { counted, steadyClock } from '../../operators/internal.ts';
import {
  type ConfigProblem,
  type FailedEvent,
  isPermanent,
  oncePerContext,
  type PipelineRunContext,
  PluginError,
  type Secret,
  safeReason,
} from '../../src/sdk/index.ts';
import { encodeEach } from '../encode-each.ts';
import {
  type Answer,
  type AnsweredCall,
  errorOf,
  isRefusal,
  isSuccess,
  isTooLarge,
  type PartialFailure,
  RETRY_STATUSES,
  type RetryStatuses,
  type Verdict,
} from './answer.ts';
import { HttpClient, type SignedRequest } from './client.ts';
import { compressed, zstdProblem } from './compression.ts';
import { type Documents, halves } from './documents.ts';
import { type HttpConfig, warnings, wrongHeaders } from './http-fields.ts';
import { environmentProxyProblems } from './proxy.ts';

/** A protocol over HTTP: all that its plugin adds to what every output does. */
export interface HttpProtocol {
  /** The URL, if the configuration has no `url`. */
  readonly url?: string;
  /** Default: POST. */
  readonly method?: string;
  /** The path that is added to that of `url`, unless it ends in it already. Default: none. */
  readonly path?: string;
  /** Parameters that are added to `url`, unless it has them already. */
  readonly query?: Readonly<Record<string, string>>;
  /** Headers, which those of the configuration replace. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers with a secret of the configuration, by the name of the header. They replace all others. */
  readonly secretHeaders?: Readonly<Record<string, SecretHeader>>;
  /** Returns the headers of a request with those that sign it. */
  sign?(request: SignedRequest): Promise<Readonly<Record<string, string>>>;
  /**
   * The status that an answer means, where its own does not say it.
   *
   * @throws PluginError, fatal, if the answer does not say whether the server took the events.
   */
  statusOf?(answer: Answer, server: string): number;
  /** What an answer means, where the protocol knows more than the status says. */
  verdictOn?(answer: Answer): Verdict | undefined;
  /** Statuses after which a batch is sent again. Default: {@link RETRY_STATUSES}. */
  readonly retryStatuses?: RetryStatuses;
  /** Whether a batch that the server refuses is split until the refused events are found. Default: true. */
  readonly splitsRefused?: boolean;
  /**
   * Whether an answer without success, beside 413, is about an event, so that the server would refuse it again. Default: by its
   * status, as for `http`. Never where an answer with success has a result for each event.
   */
  readonly isAboutEvents?: (answer: Answer) => boolean;
  /**
   * Bytes that are kept of an answer. `readAnswer` needs the whole of it if it has an item for each event. Default: 64 KiB.
   */
  readonly mostOfAnswer?: number;
  /**
   * What the answer with a status of success says of the events. Default: it took all of them.
   *
   * @throws PluginError if the server took none of them, or if it is not known which.
   */
  readAnswer?(answer: Answer, of: AnsweredCall, ask: Ask): PartialFailure | Promise<PartialFailure>;
  /** The error that the body of an answer without success names, such as `circuit_breaking_exception`. It quotes no event. */
  errorName?(text: string): string | undefined;
}

/** Sends another request, to a path of the same server. */
export type Ask = (path: string, body: Buffer) => Promise<Answer>;

export interface SecretHeader {
  /** The field of the configuration. */
  readonly field: string;
  readonly value: Secret;
  /** What stands in front of the value, such as `Splunk `. */
  readonly prefix?: string;
}

/** The documents of a call, of which some events may not have one. */
export interface EncodedCall {
  readonly documents: Documents;
  /** The positions of the events in the call. Default: each is that of its document. */
  readonly positions?: readonly number[] | undefined;
  /** The events without a document. */
  readonly refused?: readonly FailedEvent[] | undefined;
  /** The path of the request with some of the documents, if each has its own. Default: that of the protocol. */
  pathOf?(part: Documents): string;
  /** Whether the documents are sent in one request, even if the server finds it too large. Default: false. */
  readonly isWhole?: boolean;
}

/** What a plugin over HTTP needs. */
export interface HttpSink<C extends HttpConfig> {
  /** Completes when the documents are delivered. Unsubscribing aborts the request. */
  send(ctx: PipelineRunContext<C>, encode: () => Documents | EncodedCall): Observable<never>;
  checkConfig(args: { readonly config: C }): ConfigProblem[];
}

/** What a run has for what no error says. */
export type RunReports = Pick<PipelineRunContext, 'logger' | 'metrics'>;

/** An output over HTTP: `protocol` says what is its own, for a configuration and perhaps a run. */
export function httpSink<C extends HttpConfig>(
  protocol: (config: C, run?: RunReports) => HttpProtocol,
): HttpSink<C> {
  /** A context is one run: its connections are closed when the run is over. */
  const senderOf = oncePerContext((ctx: PipelineRunContext<C>) => new Sender(ctx, protocol(ctx.config, ctx)));
  return {
    send: (ctx, encode) =>
      new Observable((subscriber) => {
        const abort = new AbortController();
        senderOf(ctx)
          .send(encode(), abort.signal)
          .then(
            () => subscriber.complete(),
            (error: unknown) => subscriber.error(error),
          );
        return () => abort.abort();
      }),
    checkConfig({ config }) {
      const { url, secretHeaders = {} } = protocol(config);
      const own = Object.values(secretHeaders);
      const secrets = Object.fromEntries(own.map(({ field, value }) => [field, value]));
      const settings = { ...config, url: url ?? config.url };
      return [
        ...wrongHeaders(config, secrets),
        ...overruled(config, secretHeaders),
        ...warnings(settings, secrets),
        ...zstdProblem(config),
        ...(config.proxy === undefined ? environmentProxyProblems(settings.url ?? '') : []),
      ];
    },
  };
}

/** Credentials that would never be sent. */
function overruled(
  { auth, headers }: HttpConfig,
  own: Readonly<Record<string, SecretHeader>>,
): ConfigProblem[] {
  const given: [path: string[], name: string][] = [
    ...Object.keys(headers).map((name): [string[], string] => [['headers', name], name]),
    [['auth'], auth === undefined ? '' : (auth.header?.name ?? 'authorization')],
  ];
  return given.flatMap(([path, name]) => {
    const field = own[name.toLowerCase()]?.field;
    return field === undefined
      ? []
      : [{ path, message: `\`${field}\` sets the same header; leave this one out` }];
  });
}

/** The documents of the events for which there is one. An error of `encode` refuses its event alone. */
export function encodedCall<E, D>(
  events: readonly E[],
  encode: (event: E, position: number) => D,
  documentsOf: (encoded: readonly D[]) => Documents,
): EncodedCall {
  const { encoded, positions, refused } = encodeEach(events, encode);
  return { documents: documentsOf(encoded), positions, refused };
}

/** Of `delivery.timeout`: then a call tries no further parts. The rest is for requests that are under way. */
const TIME_FOR_PARTS = 0.25;
const NOT_TRIED = 'not sent yet: a part of `delivery.timeout` is over';

/** A call of the engine, which may take many requests. */
interface Call extends Pick<EncodedCall, 'pathOf' | 'isWhole'> {
  readonly signal: AbortSignal;
  readonly isLate: () => boolean;
  /** Whether the server has taken or refused an event. */
  hasResult: boolean;
}

/** Sends documents, in several requests if the server finds them too large for one, or refuses some of them. */
class Sender {
  readonly #protocol: HttpProtocol;
  readonly #statuses: RetryStatuses;
  readonly #compression: HttpConfig['compression'];
  readonly #client: HttpClient;
  readonly #stats: PipelineRunContext['stats'];
  /** Bytes of the smallest batch that the server found too large. */
  #tooLarge = Number.POSITIVE_INFINITY;
  /** Milliseconds after which a call tries no further parts. */
  readonly #timeForParts: number;

  constructor(ctx: PipelineRunContext<HttpConfig>, protocol: HttpProtocol) {
    const {
      config,
      info,
      signal,
      stats,
      pipeline,
      pipeline_config: { pipelines },
    } = ctx;
    this.#stats = stats;
    const { timeout = Number.POSITIVE_INFINITY } = pipelines[pipeline]?.delivery ?? {};
    this.#timeForParts = timeout * 1000 * TIME_FOR_PARTS;
    this.#protocol = protocol;
    this.#statuses = protocol.retryStatuses ?? RETRY_STATUSES;
    this.#compression = config.compression;
    const { method = 'POST', secretHeaders = {}, mostOfAnswer, errorName, sign } = protocol;
    const fixedHeaders = {
      'user-agent': `millrace/${info.version}`,
      ...protocol.headers,
      ...(config.compression !== 'none' && { 'content-encoding': config.compression }),
    };
    const url = requestUrl(protocol.url ?? config.url ?? '', protocol);
    this.#client = new HttpClient(
      { ...config, url, method, secretHeaders, mostOfAnswer, errorName, sign },
      fixedHeaders,
    );
    const close = () => void this.#client.close().catch(() => {});
    if (signal.aborted) close();
    else signal.addEventListener('abort', close, { once: true });
  }

  /** @throws PluginError if not all of them were delivered. It names those that failed if there are others. */
  async send(encoded: Documents | EncodedCall, signal: AbortSignal): Promise<void> {
    const one: EncodedCall = 'documents' in encoded ? encoded : { documents: encoded };
    const { documents, positions, refused = [], pathOf, isWhole = false } = one;
    const elapsed = steadyClock();
    const isLate = () => elapsed() >= this.#timeForParts;
    const call: Call = { signal, isLate, hasResult: false, isWhole, ...(pathOf && { pathOf }) };
    const sent = documents.count === 0 ? ALL_TAKEN : await this.#sendAll(documents, call, refused.length > 0);
    const failedEvents = [
      ...refused,
      ...sent.failedEvents.map((failed) => ({ ...failed, index: positions?.[failed.index] ?? failed.index })),
    ];
    if (failedEvents.length === 0) return;
    const count = documents.count + refused.length;
    const message = `${failedEvents.length} of ${counted(count, 'event')} ${failedEvents.length === 1 ? 'was' : 'were'} not delivered to ${this.#client.server}: ${reasonsOf(failedEvents)}`;
    const unfinished = failedEvents.every(({ permanent, reason }) => permanent || reason === NOT_TRIED);
    throw new PluginError(message, { failedEvents, retryAfter: sent.retryAfter, unfinished });
  }

  /** `hasRefused`: some events of the call have no document, so that others are named even if all of them failed. */
  async #sendAll(documents: Documents, call: Call, hasRefused: boolean): Promise<PartialFailure> {
    try {
      return await this.#sendPart(documents, call);
    } catch (error) {
      if (!hasRefused) throw error;
      return { failedEvents: failuresOf(documents, error), retryAfter: retryAfterOf(error) };
    }
  }

  /** Returns the events that failed, of which the others were delivered. Throws if there are no others. */
  async #sendPart(documents: Documents, call: Call): Promise<PartialFailure> {
    // An attempt that lasts longer than the timeout would be aborted, and what it has found forgotten.
    if (call.hasResult && call.isLate()) throw new PluginError(NOT_TRIED);
    if (documents.boundary !== undefined) return this.#sendParts(documents, call);
    const { splitsRefused = true, isAboutEvents, readAnswer, verdictOn } = this.#protocol;
    const { count } = documents;
    const mayBeSplit = count > 1 && !call.isWhole;
    const body = bodyOf(documents);
    if (body instanceof PluginError) {
      if (mayBeSplit) return this.#sendParts(documents, call);
      throw body;
    }
    if (mayBeSplit && body.length >= this.#tooLarge) return this.#sendParts(documents, call);
    const sent = await compressed(body, this.#compression);
    const answered = await this.#client.post(sent, call.signal, call.pathOf?.(documents));
    const answer = { ...this.#read(answered), verdict: verdictOn?.(answered) };
    const { signal } = call;
    const of = { documents, server: this.#client.server, statuses: this.#statuses, signal, isAboutEvents };
    call.hasResult ||= isSuccess(answer) || count === 1;
    if (isSuccess(answer)) {
      this.#stats.bytes(sent.length);
      return (await readAnswer?.(answer, of, (path, own) => this.#ask(path, own, call.signal))) ?? ALL_TAKEN;
    }
    if (isTooLarge(answer) && mayBeSplit) {
      this.#tooLarge = Math.min(this.#tooLarge, body.length);
      return this.#sendParts(documents, call);
    }
    if (splitsRefused && mayBeSplit && isRefusal(answer, of)) return this.#sendParts(documents, call);
    throw errorOf(answer, of);
  }

  #read(answer: Answer): Answer {
    const status = this.#protocol.statusOf?.(answer, this.#client.server) ?? answer.status;
    return status === answer.status ? answer : { ...answer, status, received: answer.status };
  }

  /** All requests have the same headers, and so the same compression. */
  async #ask(path: string, body: Buffer, signal: AbortSignal): Promise<Answer> {
    return this.#client.post(await compressed(body, this.#compression), signal, path);
  }

  async #sendParts(documents: Documents, call: Call): Promise<PartialFailure> {
    const failedEvents: FailedEvent[] = [];
    let retryAfter: number | undefined;
    let stoppedBy: unknown;
    // A single event always has a result, so that each attempt leaves fewer events.
    const first = call.isLate() && !call.hasResult ? 1 : documents.boundary;
    const parts = first === undefined ? halves(documents) : documents.split(first);
    for (const part of parts) {
      try {
        if (stoppedBy !== undefined) throw stoppedBy;
        const failure = await this.#sendPart(part, call);
        failedEvents.push(...failure.failedEvents);
        retryAfter = longer(retryAfter, failure.retryAfter);
        stoppedBy = failure.stoppedBy;
      } catch (error) {
        if (!isPermanent(error)) stoppedBy = error;
        retryAfter = longer(retryAfter, retryAfterOf(error));
        failedEvents.push(...failuresOf(part, error));
      }
    }
    const isWhole =
      failedEvents.length === documents.count && failedEvents.every((event) => !event.permanent);
    if (stoppedBy !== undefined && isWhole) throw stoppedBy;
    return { failedEvents, retryAfter, stoppedBy };
  }
}

/** The body of a request, or the error of documents that have none. It is permanent if that is a single one. */
function bodyOf(documents: Documents): Buffer | PluginError {
  try {
    return documents.body();
  } catch (error) {
    return new PluginError(safeReason(error), { permanent: documents.count === 1 });
  }
}

const ALL_TAKEN: PartialFailure = { failedEvents: [] };

/** The URL with the path and the parameters of a protocol. */
function requestUrl(base: string, { path = '', query = {} }: HttpProtocol): string {
  const url = new URL(base);
  const own = url.pathname.replace(/\/+$/, '');
  if (path !== '') url.pathname = own.endsWith(path) ? own : own + path;
  const added = Object.entries(query).filter(([name]) => !url.searchParams.has(name));
  const search = [url.search.slice(1), ...added.map(([name, value]) => `${name}=${value}`)];
  if (added.length > 0) url.search = search.filter((part) => part !== '').join('&');
  return url.href;
}

const retryAfterOf = (error: unknown) => (error instanceof PluginError ? error.retryAfter : undefined);

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
