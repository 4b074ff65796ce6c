// The functions for redactors that need Node.js; those of `index.ts` do not.

import { Transform } from 'node:stream';
import { checkRedactor } from './check-redactor.ts';
import type { Redactor } from './create-redactor.ts';
import { type Piece, type StreamOptions, TimedStream } from './streams.ts';

/**
 * Returns a `Transform` of Node.js that masks the text that passes through it, such as the output of a process. It takes strings and
 * UTF-8, and holds back text that may become part of a value, as the operator `redactStream` does.
 *
 * @example
 * const transform = redactedNodeTransform(createRedactor());
 * transform.end('password=Tr0ub4dor&3');
 * (await transform.toArray()).join(''); // 'password=<:password:>'
 */
export function redactedNodeTransform(redactor: Redactor, options: StreamOptions = {}): Transform {
  checkRedactor('redactedNodeTransform', redactor);
  const stream = new TimedStream(
    redactor,
    options,
    (text) => transform.push(text),
    (error) => transform.destroy(error as Error),
  );
  const transform = new Transform({
    decodeStrings: false,
    transform(piece: Piece, encoding, done) {
      attempt(() => stream.write(typeof piece === 'string' ? textOf(piece, encoding) : piece), done);
    },
    flush: (done) => attempt(() => stream.end(), done),
    destroy(error, done) {
      stream.cancel();
      done(error);
    },
  });
  return transform;
}

/** A text, or the bytes that a string stands for. */
const textOf = (piece: string, encoding: BufferEncoding): Piece =>
  /^(?:hex|base64|base64url)$/i.test(encoding) ? Buffer.from(piece, encoding) : piece;

function attempt(work: () => void, done: (error?: Error | null) => void): void {
  try {
    work();
  } catch (error) {
    done(error as Error);
    return;
  }
  done();
}
