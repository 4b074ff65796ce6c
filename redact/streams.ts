import { type Check, type Checks, checkOptions, type RedactedStream } from '../operators/internal-redact.ts';
import { checkArgument, checkRedactor } from './check-redactor.ts';
import type { Redactor } from './create-redactor.ts';

export interface StreamOptions {
  /**
   * The most characters of a line that are held back; longer lines leave in parts. 65,536 by default, and at least 16,384.
   */
  readonly mostHeld?: number | undefined;
  /** Milliseconds without a new piece after which held text leaves. By default, it waits for the rest of its line. */
  readonly flushAfter?: number | undefined;
}

/** The longest time of a timer, in milliseconds. With a longer one, it would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

const CHECKS: Checks<StreamOptions> = {
  // Checked by the redactor.
  mostHeld: () => true,
  flushAfter: (value) =>
    (typeof value === 'number' && value > 0 && value <= LONGEST_TIMER) ||
    `a number of milliseconds above 0, and at most ${LONGEST_TIMER}`,
};

/** A piece of a text: a string, or UTF-8. */
export type Piece = string | Uint8Array;

/** A stream with a timer for the text that it holds. */
export class TimedStream {
  readonly #stream: RedactedStream;
  readonly #flushAfter: number | undefined;
  readonly #emit: (text: string) => void;
  readonly #fail: (error: unknown) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param fail called with what is thrown when the timer fires, such as by `emit` if nobody reads any more */
  constructor(
    redactor: Redactor,
    options: StreamOptions,
    emit: (text: string) => void,
    fail: (error: unknown) => void,
  ) {
    checkOptions('stream', options, CHECKS);
    const { mostHeld, flushAfter } = options;
    this.#fail = fail;
    this.#stream = redactor.stream({ mostHeld });
    this.#flushAfter = flushAfter;
    this.#emit = (text) => {
      if (text !== '') emit(text);
    };
  }

  write(piece: Piece): void {
    clearTimeout(this.#timer);
    this.#emit(this.#stream.write(piece));
    if (this.#flushAfter === undefined || this.#stream.held === 0) return;
    this.#timer = setTimeout(() => {
      try {
        this.#emit(this.#stream.flush());
      } catch (error) {
        this.#fail(error);
      }
    }, this.#flushAfter);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#emit(this.#stream.end());
  }

  /** Ends the stream, and discards the text that it holds. */
  cancel(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Returns a web `TransformStream` that masks the text that passes through it: strings become strings, and UTF-8 becomes UTF-8. It holds
 * back text that may become part of a value, as the operator `redactStream` does.
 *
 * @example
 * const redactor = createRedactor();
 * const masked = new Response('password=Tr0ub4dor&3').body.pipeThrough(redactedTransform(redactor));
 * await new Response(masked).text(); // 'password=<:password:>'
 */
export function redactedTransform<T extends Piece = Uint8Array>(
  redactor: Redactor,
  options: StreamOptions = {},
): TransformStream<T, T> {
  checkRedactor('redactedTransform', redactor);
  const encoder = new TextEncoder();
  let isText = false;
  let stream: TimedStream | undefined;
  return new TransformStream<T, T>({
    start(controller) {
      stream = new TimedStream(
        redactor,
        options,
        (text) => controller.enqueue((isText ? text : encoder.encode(text)) as T),
        (error) => controller.error(error),
      );
    },
    transform(piece) {
      isText = typeof piece === 'string';
      stream?.write(piece);
    },
    flush: () => stream?.end(),
  });
}

/**
 * Masks a text that an iterable yields in pieces, such as the answer of a language model. It yields strings, none of them empty. If the
 * iterable throws, the text that is held back comes first.
 *
 * @example
 * const redactor = createRedactor();
 * const texts = [];
 * for await (const text of iterateRedacted(redactor, ['The key: password=Tr0u', 'b4dor&3'])) texts.push(text);
 * texts; // ['The key: password=<:password:>']
 */
export function iterateRedacted(
  redactor: Redactor,
  pieces: AsyncIterable<Piece> | Iterable<Piece>,
  { mostHeld }: Pick<StreamOptions, 'mostHeld'> = {},
): AsyncGenerator<string, void, undefined> {
  checkRedactor('iterateRedacted', redactor);
  checkArgument('iterateRedacted', 'the pieces', pieces, ITERABLE);
  return maskedPieces(redactor.stream({ mostHeld }), pieces);
}

const ITERABLE: Check = (value) => {
  const { [Symbol.asyncIterator]: async, [Symbol.iterator]: sync } = Object(value);
  return typeof (async ?? sync) === 'function' || 'an iterable or an async iterable of strings or bytes';
};

async function* maskedPieces(
  stream: RedactedStream,
  pieces: AsyncIterable<Piece> | Iterable<Piece>,
): AsyncGenerator<string, void, undefined> {
  let failure: { readonly error: unknown } | undefined;
  const untilFailure = async function* () {
    try {
      yield* pieces;
    } catch (error) {
      failure = { error };
    }
  };
  for await (const piece of untilFailure()) {
    const text = stream.write(piece);
    if (text !== '') yield text;
  }
  const rest = stream.end();
  if (rest !== '') yield rest;
  if (failure !== undefined) throw failure.error;
}
