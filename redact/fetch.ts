import {
  type Checks,
  checkOptions,
  FUNCTION,
  MaskError,
  parseExact,
  stringifyExact,
} from '../operators/internal-redact.ts';
import { checkArgument, REDACTOR } from './check-redactor.ts';
import type { Redactor } from './create-redactor.ts';
import { maskModelRequest, type Unmaskable } from './mask-model-request.ts';
import type { Pseudonyms } from './pseudonyms.ts';
import { EventRestorer } from './restore-events.ts';
import { restoreValue } from './restore-value.ts';

export interface RedactFetchOptions {
  /** Masks requests. If it has pseudonyms, those in answers are turned back. */
  readonly redactor: Redactor;
  /**
   * What is done with a request that cannot be masked, because its body is no JSON, such as an upload, or has an image, audio or a file
   * in it. `refuse`, the default: the call is rejected, and nothing is sent. `pass`: that part is sent as it is.
   */
  readonly unmaskable?: Unmaskable | undefined;
}

const CHECKS: Checks<RedactFetchOptions> = {
  redactor: REDACTOR,
  unmaskable: (value) => value === 'refuse' || value === 'pass' || "'refuse' or 'pass'",
};

export function checkRedactFetchOptions(caller: string, options: RedactFetchOptions): void {
  // First: a redactor itself in place of the options has no such option either.
  checkArgument(
    caller,
    'the option redactor',
    Object(options).redactor,
    (value) => REDACTOR(value) === true || `${REDACTOR(value)}, as in { redactor }`,
  );
  checkOptions(caller, options, CHECKS);
}

/**
 * Returns a `fetch` for the SDK of a language model, which masks what leaves in the body of a request, and turns back pseudonyms in
 * the answer, streams included. It knows the APIs of OpenAI (`chat/completions`, `responses`, `embeddings`) and all that are
 * compatible with them, and of Anthropic (`messages`).
 *
 * Headers and the URL stay as they are: they have the key of the call.
 *
 * @param fetch what sends requests, such as `globalThis.fetch`.
 * @throws TypeError for an option that is unknown or of the wrong type. The `fetch` that it returns rejects with a MaskError what it refuses.
 *
 * @example
 * const echo = async (_url, { body }) => Response.json({ sent: body, answer: 'Dear <:EMAIL_1:>' });
 * const redactor = createRedactor({ packs: ['default', 'pii/contact'], pseudonyms: createPseudonyms() });
 * const fetch = redactFetch(echo, { redactor });
 * const messages = [{ role: 'user', content: 'Write to ada@example.org, password=Tr0ub4dor&3' }];
 * const response = await fetch('http://localhost/v1/chat/completions', { method: 'POST', body: JSON.stringify({ messages }) });
 * (await response.json()).answer; // 'Dear ada@example.org'
 */
export function redactFetch(
  fetch: typeof globalThis.fetch,
  options: RedactFetchOptions,
): typeof globalThis.fetch {
  checkRedactFetchOptions('redactFetch', options);
  checkArgument('redactFetch', 'fetch', fetch, FUNCTION);
  const { redactor, unmaskable = 'refuse' } = options;
  const maskJson = (text: string) => stringifyExact(maskModelRequest(parseExact(text), redactor, unmaskable));
  return async (input, init) => {
    const response = await fetch(...(await maskedCall(input, init, unmaskable, maskJson)));
    return redactor.pseudonyms === undefined ? response : restored(response, redactor.pseudonyms);
  };
}

type SentBody = NonNullable<RequestInit['body']>;
type Call = Parameters<typeof globalThis.fetch>;

async function maskedCall(
  input: Call[0],
  init: RequestInit | undefined,
  unmaskable: Unmaskable,
  maskJson: (text: string) => string,
): Promise<Call> {
  // Not `instanceof`: there may be several implementations.
  const request = typeof input === 'object' && 'headers' in input ? input : undefined;
  const body = init?.body ?? request?.body ?? undefined;
  if (body === undefined) return [input, init];
  const headers = new Headers(init?.headers ?? request?.headers);
  if (isBlob(body) && body.type !== '' && !headers.has('content-type'))
    headers.set('content-type', body.type);
  headers.delete('content-length');
  const masked = await maskedBody(body, headers, unmaskable, maskJson);
  const changed: RequestInit = { ...init, body: masked, headers };
  if (masked instanceof ReadableStream) Object.assign(changed, { duplex: 'half' });
  if (request === undefined) return [input, changed];
  const Made = request.constructor as typeof Request;
  return [new Made(request, changed), undefined];
}

const JSON_TYPE = /^[\w.-]+\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const isBlob = (body: unknown): body is Blob => body instanceof Blob;

async function maskedBody(
  body: SentBody,
  headers: Headers,
  unmaskable: Unmaskable,
  maskJson: (text: string) => string,
): Promise<SentBody> {
  let why = whyNoJson(body, headers);
  let sent = body;
  if (why === undefined) {
    sent = await new Response(body).arrayBuffer();
    try {
      return maskJson(new TextDecoder('utf-8', { fatal: true }).decode(sent));
    } catch (error) {
      if (error instanceof MaskError) throw error;
      why = 'the body of the request is not valid JSON';
    }
  }
  if (unmaskable === 'pass') return sent;
  throw new MaskError(
    `redactFetch has sent nothing, because it masks JSON only, and ${why}; if there is nothing to hide, use another fetch, or set ` +
      "unmaskable: 'pass'",
  );
}

/** Why a body is not read as JSON, and what to do. Undefined if it is. */
function whyNoJson(body: SentBody, headers: Headers): string | undefined {
  const type = headers.get('content-type');
  if (type !== null && !JSON_TYPE.test(type)) {
    const [shown = 'another one'] = /^[\w.+-]{1,40}\/[\w.+-]{1,80}/.exec(type) ?? [];
    const origin = shown === 'text/plain' ? ', as that of a Request whose body is a string' : '';
    return (
      `the content type of the request is ${shown}${origin}: ` +
      "set the header 'content-type': 'application/json' if the body is JSON"
    );
  }
  if (headers.has('content-encoding')) return 'the request has a content-encoding: send its body without one';
  return hasBytes(body)
    ? undefined
    : 'the body of the request is neither a string nor bytes: send JSON as a string';
}

function hasBytes(body: unknown): boolean {
  if (typeof body === 'string' || body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return true;
  return isBlob(body) || body instanceof ReadableStream;
}

/** Turns back pseudonyms in a text that arrives in pieces. */
interface Restorer {
  write(piece: string): string;
  end(): string;
}

/** What is no longer true of a body that has been decoded and changed. */
const OF_BODY = ['content-length', 'content-encoding', 'content-md5', 'content-digest', 'digest', 'etag'];

function restored(response: Response, pseudonyms: Pseudonyms): Response {
  const restorer = restorerFor(response.headers.get('content-type') ?? '', pseudonyms);
  if (restorer === undefined || response.body === null) return response;
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        const text = restorer.write(decoder.decode(bytes, { stream: true }));
        if (text !== '') controller.enqueue(encoder.encode(text));
      },
      flush(controller) {
        const text = restorer.write(decoder.decode()) + restorer.end();
        if (text !== '') controller.enqueue(encoder.encode(text));
      },
    }),
  );
  const { status, statusText, url, redirected } = response;
  const headers = new Headers(response.headers);
  for (const name of OF_BODY) headers.delete(name);
  // A response that a program makes has no URL.
  return Object.defineProperties(new Response(body, { status, statusText, headers }), {
    url: { value: url },
    redirected: { value: redirected },
  });
}

function restorerFor(type: string, pseudonyms: Pseudonyms): Restorer | undefined {
  if (/^text\/event-stream\b/i.test(type)) return new EventRestorer(pseudonyms);
  if (JSON_TYPE.test(type)) return new JsonRestorer(pseudonyms);
  return /^text\/plain\b/i.test(type) ? pseudonyms.stream() : undefined;
}

/** A document of JSON, which is read as a whole. */
class JsonRestorer implements Restorer {
  readonly #pseudonyms: Pseudonyms;
  #text = '';

  constructor(pseudonyms: Pseudonyms) {
    this.#pseudonyms = pseudonyms;
  }

  write(piece: string): string {
    this.#text += piece;
    return '';
  }

  end(): string {
    try {
      const value = JSON.parse(this.#text);
      const restored = restoreValue(value, this.#pseudonyms);
      return restored === value ? this.#text : JSON.stringify(restored);
    } catch {
      return this.#text;
    }
  }
}
