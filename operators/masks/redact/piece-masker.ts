import type { StreamMasker } from './stream-masker.ts';

/** A text that is masked as it arrives, in pieces of any size. */
export interface RedactedStream {
  /** How many characters are held back. */
  readonly held: number;
  /**
   * Takes the next piece: a string, or UTF-8 that may be cut within a character. Returns the text that leaves now.
   *
   * @throws MaskError for what cannot be masked: discard the stream then
   */
  write(piece: string | Uint8Array): string;
  /**
   * Returns the text that is held back, except for a last word that may be the start of a value. A value that only later words identify
   * can leave this way, and so can the first words of a passphrase.
   */
  flush(): string;
  /** Returns the rest. Do not use the stream after that. */
  end(): string;
}

/** A {@link StreamMasker} that also takes UTF-8. */
export class PieceMasker implements RedactedStream {
  readonly #masker: StreamMasker;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(masker: StreamMasker) {
    this.#masker = masker;
  }

  get held(): number {
    return this.#masker.held;
  }

  write(piece: string | Uint8Array): string {
    return this.#masker.write(
      typeof piece === 'string'
        ? this.#decoder.decode() + piece
        : this.#decoder.decode(piece, { stream: true }),
    );
  }

  flush(): string {
    return this.#masker.flush();
  }

  end(): string {
    return this.#masker.write(this.#decoder.decode()) + this.#masker.end();
  }
}
