// A transport of pino, for `pipeline` or by itself: `millrace/pino/transport`. pino loads it in a worker.

import { Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { ANY_OBJECT, BOOLEAN, COUNT_FROM_0, checkOptions } from '../operators/internal-redact.ts';
import { createRedactor, type RedactorOptions } from './create-redactor.ts';
import { redactLine } from './pino.ts';

export interface PinoTransportOptions {
  /** Options of `createRedactor`. */
  readonly redactor?: RedactorOptions | undefined;
  /** Where lines go if the transport is no step of a `pipeline`: a file, or a descriptor. 1 by default, which is standard output. */
  readonly destination?: string | number | undefined;
  /** Makes the folder of `destination`. */
  readonly mkdir?: boolean | undefined;
}

/**
 * Masks lines in the worker of a pino transport, as `redactedStreamWrite` does in the main thread. In a `pipeline`, the next step
 * gets the masked lines. By itself, it writes them to `destination`.
 *
 * @example
 * const transport = redactTransport({ redactor: { packs: 'default' } });
 * transport.end('{"level":30,"msg":"password=Tr0ub4dor&3"}\n');
 * (await transport.toArray()).join(''); // '{"level":30,"msg":"password=<:password:>"}\n'
 */
export function redactTransport(options: PinoTransportOptions = {}): Transform {
  const { destination, mkdir } = checkedOptions(options);
  const redactor = createRedactor(options.redactor);
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let output: Output | undefined;
  const transport = new Transform({
    decodeStrings: false,
    construct(done) {
      if (destination === undefined) done();
      else open().then(() => done(), done);
    },
    transform(chunk: string | Buffer, _encoding, done) {
      const text = typeof chunk === 'string' ? chunk : decoder.write(chunk);
      rest += text;
      // A line that goes on is not read again with each chunk.
      const lines = text.includes('\n') ? rest.split('\n') : [rest];
      rest = lines.pop() as string;
      const masked = lines.map((line) => `${redactLine(redactor, line)}\n`).join('');
      // Without a next step, nothing would ever be read.
      if (output === undefined && transport.readableFlowing === null)
        open().then(() => done(null, masked), done);
      else done(null, masked);
    },
    flush(done) {
      rest += decoder.end();
      done(null, rest === '' ? undefined : redactLine(redactor, rest));
    },
    destroy(error, done) {
      if (output === undefined) return done(error);
      // One that has failed does not always close.
      if (error !== null) {
        output.destroy();
        return done(error);
      }
      output.once('close', () => done(error));
      output.once('error', done);
      output.end();
    },
  });

  async function open(): Promise<void> {
    const { destination: openDestination } = (await import('pino')).default;
    output = openDestination({
      dest: destination ?? 1,
      mkdir: mkdir === true,
      sync: false,
    }) as unknown as Output;
    output.on('error', (error) => transport.destroy(error));
    // `destroy` ends it, and waits until it has closed.
    transport.pipe(output, { end: false });
  }

  return transport;
}

/** A misspelt `redactor` would be ignored, and the packs in it be missing. */
function checkedOptions(options: PinoTransportOptions): PinoTransportOptions {
  // pino and thread-stream add these.
  const { levels, dedupe, pinoWillSendConfig, $context, ...own } = options as Record<string, unknown>;
  checkOptions('millrace/pino/transport', own as PinoTransportOptions, {
    redactor: ANY_OBJECT,
    destination: (value) =>
      typeof value === 'string' || COUNT_FROM_0(value) === true || 'a path of a file, or a descriptor',
    mkdir: BOOLEAN,
  });
  return own;
}

// pino calls the default export of a module.
export default redactTransport;

/** A SonicBoom, which is what a `Writable` is for `pipe`. */
type Output = NodeJS.WritableStream & { destroy(): void };
