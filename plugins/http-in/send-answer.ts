import type { IncomingMessage, ServerResponse } from 'node:http';
import { challenges, type ListenerAuth } from '../listen/auth.ts';
import type { Answer } from './endpoint.ts';
import type { Refusal } from './refusal.ts';

interface SendOptions {
  /** Whether the connection is closed after the answer. */
  readonly isLast: boolean;
  /** Bytes that are read at most of a body that is not complete. */
  readonly mostDiscarded: number;
}

/** Answers a request, also before its body is complete. */
export function sendAnswer(
  response: ServerResponse<IncomingMessage>,
  { status, headers, body }: Answer,
  { isLast, mostDiscarded }: SendOptions,
): void {
  if (response.destroyed) return;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
    ...(isLast ? { connection: 'close' } : {}),
  });
  response.end(body);
  if (!response.req.complete) discardRest(response.req, mostDiscarded);
}

/** What follows a refusal is read and thrown away: if it were not read, many clients would not see the answer. */
function discardRest(request: IncomingMessage, mostBytes: number): void {
  let left = mostBytes;
  request.on('data', ({ length }: Buffer) => {
    left -= length;
    if (left < 0) request.socket.destroy();
  });
  request.resume();
}

/** The answer of an endpoint to a refused request, with the headers that say when and how to repeat it. */
export function withRefusalHeaders(
  answer: Answer,
  { retryAfter }: Refusal,
  auth: ListenerAuth | undefined,
): Answer {
  const headers = {
    ...answer.headers,
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    ...(answer.status === 401 ? { 'www-authenticate': challenges(auth) } : {}),
  };
  return { ...answer, headers };
}
