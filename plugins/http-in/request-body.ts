import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import { isFull, Refusal } from './refusal.ts';

type Decompress = () => Transform;

/** Node.js has it from version 22.15 on. */
const { createZstdDecompress } = zlib as { createZstdDecompress?: Decompress };
const DECOMPRESS: Readonly<Record<string, Decompress>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
  ...(createZstdDecompress === undefined ? {} : { zstd: () => createZstdDecompress() }),
};

/** The bytes that all open requests hold together: their bodies, and what their events take beside them. */
export class BodyBudget {
  readonly most: number;
  #used = 0;

  constructor(most: number) {
    this.most = most;
  }

  /** @throws Refusal if there is no room for so many bytes more */
  take(bytes: number): void {
    if (this.#used + bytes > this.most)
      throw isFull('too many bytes are open in other requests; repeat the request later');
    this.#used += bytes;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

/** What a request holds of a budget. */
export class BodyLease {
  readonly #budget: BodyBudget;
  #bytes = 0;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  /** @throws Refusal if there is no room for so many bytes */
  growTo(bytes: number, what = 'the request is'): void {
    if (bytes <= this.#bytes) return;
    const { most } = this.#budget;
    // It would not fit either if no other request were open.
    if (bytes > most) throw tooLarge(most, what, 'max_open_bytes');
    this.#budget.take(bytes - this.#bytes);
    this.#bytes = bytes;
  }

  /** @throws Refusal if there is no room for so many bytes more */
  growBy(bytes: number, what?: string): void {
    this.growTo(this.#bytes + bytes, what);
  }

  giveBack(): void {
    this.#budget.give(this.#bytes);
    this.#bytes = 0;
  }
}

const tooLarge = (mostBytes: number, what: string, setting = 'max_body_bytes') =>
  new Refusal(413, `${what} larger than ${mostBytes} bytes; send fewer events in a request (\`${setting}\`)`);

/**
 * The body of a request without its compression.
 *
 * @throws Refusal if it is too large, before or after decompression, or cannot be decompressed; Error if the client leaves
 */
export async function readBody(
  request: IncomingMessage,
  mostBytes: number,
  lease: BodyLease,
): Promise<Buffer> {
  const { headers } = request;
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const decompress = Object.hasOwn(DECOMPRESS, encoding) ? DECOMPRESS[encoding] : undefined;
  if (decompress === undefined && encoding !== 'identity')
    throw new Refusal(415, `unknown Content-Encoding; send ${Object.keys(DECOMPRESS).join(', ')} or none`);
  const length = Number(headers['content-length'] ?? 0);
  if (length > mostBytes) throw tooLarge(mostBytes, 'the body is');
  lease.growTo(length);
  const sent = await bytesOf(request, mostBytes, lease);
  if (decompress === undefined || sent.length === 0) return sent;
  try {
    return await decompressed(decompress(), sent, mostBytes, lease);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(400, `the body cannot be decompressed as ${encoding}`);
  }
}

/** Counts each chunk before it makes the next one: a few bytes may become a thousand times as many. */
async function decompressed(stream: Transform, sent: Buffer, mostBytes: number, lease: BodyLease) {
  const chunks: Buffer[] = [];
  let length = 0;
  stream.end(sent);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > mostBytes) throw tooLarge(mostBytes, 'the decompressed body is');
    lease.growTo(sent.length + length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function bytesOf(request: IncomingMessage, mostBytes: number, lease: BodyLease): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      try {
        if (length > mostBytes) throw tooLarge(mostBytes, 'the body is');
        lease.growTo(length);
        chunks.push(chunk);
      } catch (refusal) {
        request.off('data', onData).pause();
        reject(refusal);
      }
    };
    request
      .on('data', onData)
      .once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
      .once('error', reject)
      .once('close', () => reject(new Error('the client left')));
  });
}
