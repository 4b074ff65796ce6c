import { Buffer } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { longTimer } from '../../operators/index.ts';
import { PluginError, type Secret, safeReason } from '../../src/sdk/index.ts';
import { type ClientTls, connectionOptions } from '../tls/client-tls.ts';
import { type Answer, secondsUntil } from './answer.ts';
import { clickHouseError } from './clickhouse-errors.ts';
import { basicAuthorization, type HttpProxy, type ProxyRoute, proxyRoute } from './proxy.ts';

/** How a server is reached. Secrets are read for each request, so that rotated ones are used. */
interface ClientOptions {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly auth?: Auth | undefined;
  readonly tls: ClientTls;
  readonly proxy?: HttpProxy | undefined;
  /** Requests at a time. */
  readonly concurrency: number;
  /** Seconds for a request. */
  readonly timeout: number;
  /** Headers with a secret, which replace all others. */
  readonly secretHeaders?: Readonly<Record<string, { readonly value: Secret; readonly prefix?: string }>>;
  /** Bytes that are kept of an answer, from its start and from its end. Default: 64 KiB. */
  readonly mostOfAnswer?: number | undefined;
  /** The error that the body of an answer without success names. */
  readonly errorName?: ((text: string) => string | undefined) | undefined;
  /** Returns the headers of a request with those that sign it. */
  readonly sign?: ((request: SignedRequest) => Promise<Readonly<Record<string, string>>>) | undefined;
}

/** All that a signature can be about. */
export interface SignedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Auth {
  readonly bearer?: Secret | undefined;
  readonly basic?: { readonly username: string; readonly password: Secret } | undefined;
  readonly header?: { readonly name: string; readonly value: Secret } | undefined;
}

const MOST_OF_ANSWER = 65_536;
/** What is read of it: a longer body costs the connection. */
const MOST_READ = 16 * 1024 * 1024;

/** How undici says it, of a tunnel and of a request without one; it has no property for the status. */
const REFUSED_BY_PROXY = /^Proxy (?:response \((\d{3})\) !== 200|Authentication Required \((407)\))/;

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** What a value of a header consists of, for messages. */
export const HEADER_VALUE_FORM =
  'characters of Latin-1 without line breaks and other control characters; a file may have one line break at its end';

export const isHeaderValue = (value: string): boolean => HEADER_VALUE.test(value);

/** Sends requests to one URL, over connections that stay open in between. */
export class HttpClient {
  readonly #options: ClientOptions;
  readonly #path: string;
  readonly #origin: string;
  readonly #fixedHeaders: Readonly<Record<string, string>>;
  readonly #proxy: ProxyRoute | undefined;
  #open: { readonly key: string; readonly dispatcher: Dispatcher } | undefined;
  #isClosed = false;

  /** `fixedHeaders` are those that the options may replace. */
  constructor(options: ClientOptions, fixedHeaders: Readonly<Record<string, string>>) {
    const url = new URL(options.url);
    this.#options = options;
    this.#origin = url.origin;
    this.#path = `${url.pathname}${url.search}`;
    this.#fixedHeaders = fixedHeaders;
    this.#proxy = proxyRoute(options.url, options.proxy);
  }

  /** The server as messages name it, without the path: a token may be a part of it. */
  get server(): string {
    return this.#origin;
  }

  /**
   * Sends a body and reads the answer to its end.
   *
   * @param path that of the request. Default: that of the URL.
   * @throws PluginError if there is no whole answer within the timeout. What the server has done is not known then.
   */
  async post(body: Buffer, signal: AbortSignal, path = this.#path): Promise<Answer> {
    const { method, timeout, mostOfAnswer = MOST_OF_ANSWER, errorName, sign } = this.#options;
    const unsigned = this.#headers();
    const toSign = { method, url: this.#origin + path, headers: unsigned, body };
    const signed = sign === undefined ? unsigned : await sign(toSign);
    const dispatcher = await this.#dispatcher();
    const request = new AbortController();
    const abort = () => request.abort();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    let isLate = false;
    const timer = longTimer(timeout * 1000).subscribe(() => {
      isLate = true;
      request.abort();
    });
    try {
      const response = await dispatcher.request({
        origin: this.#origin,
        path,
        method: method as Dispatcher.HttpMethod,
        headers: signed,
        body,
        signal: request.signal,
        // Both would start over with each part of an answer; `timeout` is for all of it.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const header = (name: string, of = response.headers) => [of[name]].flat()[0];
      const { bytes, end, isCut } = await bytesOf(
        decoded(response.body, header('content-encoding')),
        mostOfAnswer,
      );
      const text = bytes.toString();
      const retryAfter = secondsUntil(header('retry-after'), header('date'));
      const code = 'x-clickhouse-exception-code';
      // Trailers are known when the body has ended.
      const exceptionCode = header(code) ?? header(code, response.trailers as typeof response.headers);
      const isClickHouse = Object.keys(response.headers).some((name) => name.startsWith('x-clickhouse-'));
      const named = response.statusCode >= 300 ? errorName?.(text) : undefined;
      const serverError = named ?? clickHouseError({ exceptionCode, isClickHouse, text: text + end });
      const { statusCode: status, headers } = response;
      return { status, headers, retryAfter, text, isCut, bytes, serverError };
    } catch (error) {
      if (isLate) throw new PluginError(`${this.#origin} did not answer within ${timeout} s`);
      throw this.#refusedByProxy(error) ?? this.#notDelivered(error);
    } finally {
      timer.unsubscribe();
      signal.removeEventListener('abort', abort);
    }
  }

  #notDelivered(error: unknown): PluginError {
    const through = this.#proxy === undefined ? '' : ` through the proxy ${this.#proxy.origin}`;
    const message = `cannot deliver to ${this.#origin}${through}: ${safeReason(error)}`;
    return new PluginError(message, { cause: error });
  }

  /** The error for the answer of a proxy. One about the credentials or the target is fatal, as without a proxy. */
  #refusedByProxy(error: unknown): PluginError | undefined {
    const [, ofTunnel, ofRequest] = (error instanceof Error && REFUSED_BY_PROXY.exec(error.message)) || [];
    const status = ofTunnel ?? ofRequest;
    if (status === undefined || this.#proxy === undefined) return undefined;
    const { origin, setting } = this.#proxy;
    const meaning = STATUS_CODES[status];
    const didWhat = ofTunnel === undefined ? 'refused a request to' : 'opened no tunnel to';
    const answered = `it answered ${status}${meaning === undefined ? '' : ` (${meaning})`}`;
    const hint = status === '407' ? `; check the credentials of \`${setting}\`` : '';
    const message = `the proxy ${origin} ${didWhat} ${this.#origin}: ${answered}${hint}`;
    const refused = new PluginError(message, { cause: error });
    return status === '407' || status === '403' ? Object.assign(refused, { fatal: true }) : refused;
  }

  /** Closes all connections, and aborts requests that are under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#open?.dispatcher.destroy();
  }

  #headers(): Record<string, string> {
    const { headers, auth, secretHeaders = {} } = this.#options;
    const all = { ...this.#fixedHeaders };
    for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value.read();
    if (auth?.bearer !== undefined) all.authorization = `Bearer ${auth.bearer.read()}`;
    if (auth?.basic !== undefined) {
      all.authorization = basicAuthorization(auth.basic.username, auth.basic.password.read());
    }
    if (auth?.header !== undefined) all[auth.header.name.toLowerCase()] = auth.header.value.read();
    for (const [name, { value, prefix = '' }] of Object.entries(secretHeaders)) {
      all[name] = prefix + value.read();
    }
    const wrong = Object.keys(all).find((name) => !isHeaderValue(all[name] ?? ''));
    if (wrong === undefined) return all;
    const error = new PluginError(
      `the value of the header \`${wrong}\` has characters that no header may have; it needs ${HEADER_VALUE_FORM}`,
    );
    throw Object.assign(error, { fatal: true });
  }

  /** A new one if a certificate or a password has changed. */
  async #dispatcher(): Promise<Dispatcher> {
    const { tls, concurrency: connections } = this.#options;
    const proxy = this.#proxy;
    const secure = connectionOptions(tls);
    const token = proxy?.authorization();
    const key = JSON.stringify({ secure, token });
    if (this.#open?.key === key) return this.#open.dispatcher;
    // Loaded by the first request: other configurations do not wait for it.
    const { Pool, ProxyAgent } = await import('undici');
    // Another request may have been faster.
    if (this.#open?.key === key) return this.#open.dispatcher;
    if (this.#isClosed) throw new PluginError('the forwarder is stopped');
    const dispatcher =
      proxy === undefined
        ? new Pool(this.#origin, { connections, connect: secure })
        : new ProxyAgent({
            connections,
            ...(token !== undefined && { token }),
            uri: proxy.origin,
            requestTls: secure,
            // What proves this client to the server, and trust in any server, are not meant for a proxy.
            proxyTls: { ca: secure.ca },
            // Many proxies open tunnels to ports of HTTPS only.
            proxyTunnel: this.#origin.startsWith('https:'),
          });
    this.#open?.dispatcher.close().catch(() => {});
    this.#open = { key, dispatcher };
    return dispatcher;
  }
}

/** The body without its compression. One that ends too early fails, as one without compression does. */
async function* decoded(body: Readable, encoding = 'identity'): AsyncIterable<Buffer> {
  const decoder = DECODERS[encoding.trim().toLowerCase()]?.();
  if (decoder === undefined) {
    yield* body;
    return;
  }
  // The loop over the decoder gets the error.
  pipeline(body, decoder, () => {});
  try {
    yield* decoder;
  } catch (cause) {
    if (body.errored !== null && body.errored === cause) throw cause;
    // No body at all, of which some servers say that it is compressed.
    if (decoder.bytesWritten === 0) return;
    throw new PluginError('its answer cannot be decompressed', { cause });
  }
}

const DECODERS: Readonly<Record<string, () => Transform & { readonly bytesWritten: number }>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** The first part of a body, and the last one of what follows it. One that goes on and on is not waited for. */
async function bytesOf(
  body: AsyncIterable<Buffer>,
  mostKept: number,
): Promise<{ readonly bytes: Buffer; readonly end: string; readonly isCut: boolean }> {
  const chunks: Buffer[] = [];
  let end = Buffer.alloc(0);
  let length = 0;
  for await (const chunk of body) {
    if (length <= mostKept) chunks.push(chunk);
    else end = Buffer.concat([end, chunk]).subarray(-mostKept);
    length += chunk.length;
    if (length > MOST_READ) break;
  }
  const isCut = end.length > 0 || length > MOST_READ;
  return { bytes: Buffer.concat(chunks), end: end.toString(), isCut };
}
