import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { isFull, Refusal } from './refusal.ts';

type Decompress = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

/** Those of this version of Node.js. */
const zstd = (zlib as { zstdDecompress?: typeof zlib.gunzip }).zstdDecompress;
const DECOMPRESS: Readonly<Record<string, Decompress>> = {
  gzip: promisify(zlib.gunzip) as Decompress,
  'x-gzip': promisify(zlib.gunzip) as Decompress,
  deflate: promisify(zlib.inflate) as Decompress,
  br: promisify(zlib.brotliDecompress) as Decompress,
  ...(zstd === undefined ? {} : { zstd: promisify(zstd) as Decompress }),
};

/** The bytes of bodies that all open requests hold together. */
export class BodyBudget {
  readonly #most: number;
  #used = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @throws Refusal if there is no room for so many bytes more */
  take(bytes: number): void {
    if (this.#used + bytes > this.#most)
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
  growTo(bytes: number): void {
    if (bytes <= this.#bytes) return;
    this.#budget.take(bytes - this.#bytes);
    this.#bytes = bytes;
  }

  giveBack(): void {
    this.#budget.give(this.#bytes);
    this.#bytes = 0;
  }
}

const tooLarge = (mostBytes: number, what: string) =>
  new Refusal(
    413,
    `${what} is larger than ${mostBytes} bytes; send fewer events in a request (\`max_body_bytes\`)`,
  );

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
  if (length > mostBytes) throw tooLarge(mostBytes, 'the body');
  lease.growTo(length);
  const sent = await bytesOf(request, mostBytes, lease);
  if (decompress === undefined || sent.length === 0) return sent;
  let body: Buffer;
  try {
    body = await decompress(sent, { maxOutputLength: mostBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(mostBytes, 'the decompressed body');
    throw new Refusal(400, `the body cannot be decompressed as ${encoding}`);
  }
  lease.growTo(sent.length + body.length);
  return body;
}

function bytesOf(request: IncomingMessage, mostBytes: number, lease: BodyLease): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      try {
        if (length > mostBytes) throw tooLarge(mostBytes, 'the body');
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
