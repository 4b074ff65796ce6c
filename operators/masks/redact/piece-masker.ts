import type { StreamMasker } from './stream-masker.ts';

/** A text that is masked as it arrives, in pieces of any size. */
export interface RedactedStream {
  /** Characters that wait for what follows them. */
  readonly held: number;
  /**
   * The next piece: text, or UTF-8 that may be cut within a character. Returns what leaves now.
   *
   * @throws MaskError for what cannot be masked: nothing may leave then
   */
  write(piece: string | Uint8Array): string;
  /**
   * Returns what waits, without the word that it ends with if that may be the start of a value. A value that only later words tell can
   * leave by it, and so can the first words of a passphrase.
   */
  flush(): string;
  /** Returns the rest. The stream must not be used any more. */
  end(): string;
}

/** Decodes what a {@link StreamMasker} masks. */
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
