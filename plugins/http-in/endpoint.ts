import type { IncomingHttpHeaders } from 'node:http';
import type { BlockMemory } from '../../operators/internal-files.ts';
import type { Rows } from '../../src/sdk/index.ts';
import type { AuthSchemes } from '../listen/auth.ts';
import { Refusal } from './refusal.ts';

/** A request whose body has arrived. */
export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  /** Without its compression. */
  readonly body: Buffer;
  /** For lines. */
  readonly memory: BlockMemory;
  /** Whether the pipeline has no room for requests now. */
  readonly isFull: boolean;
  /**
   * Counts bytes that the events take beside the body. `what` starts the message that says that they are too many.
   *
   * @throws Refusal if the open requests have no room for so many
   */
  reserve(bytes: number, what: string): void;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** The events of a request. They are taken, stored and answered as a whole. */
export interface RequestEvents {
  readonly rows: Rows;
  /** About how much they take beside the body of the request. */
  readonly memoryBytes: number;
  /** Records of the request that are malformed, which are left out, and why the first of them is. */
  readonly rejected?: { readonly count: number; readonly reason: string } | undefined;
  /** Called when none of the rows is used any more. */
  release?(): void;
  /** What the client is told in place of the usual answer, once the events are acknowledged. */
  readonly answer?: Answer | undefined;
}

/** What a path of the server does. */
export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** How its clients may send the credentials; undefined: it needs none. */
  readonly auth: AuthSchemes | undefined;
  /** @throws Refusal for what is not in the format; it names the place, and quotes nothing */
  read(request: ReceivedRequest): RequestEvents;
  /** What the client is told of a request whose events are acknowledged, or which is refused. */
  answer(result: number | Refusal, request: Pick<ReceivedRequest, 'headers' | 'query'>): Answer;
}

const json = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** How an endpoint answers that has no protocol of its own. */
export function plainAnswer(result: number | Refusal): Answer {
  return result instanceof Refusal
    ? { status: result.status, body: json({ error: result.message }) }
    : { status: 200, body: json({ events: result }) };
}
