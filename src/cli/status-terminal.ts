import { truncate } from '../checks/describe.ts';
import { isTerminal, type OutputStream } from './colours.ts';

const CLEAR_LINE = '\r\u001b[2K';

/**
 * A stream that carries lines and, on a terminal, one live line below them. A line clears the live line, and the
 * live line is drawn again after it, in one write: neither garbles the other.
 */
export class StatusTerminal {
  readonly #stream: OutputStream;
  #live = '';

  constructor(stream: OutputStream) {
    this.#stream = stream;
  }

  get isTerminal(): boolean {
    return isTerminal(this.#stream);
  }

  /** Writes whole lines; `text` ends with a newline. */
  write(text: string): void {
    this.#stream.write(this.#live === '' ? text : `${CLEAR_LINE}${text}${this.#drawn()}`);
  }

  /** Shows the live line, or takes it away with an empty text. */
  live(text: string): void {
    if (text === '' && this.#live === '') return;
    this.#live = text;
    this.#stream.write(`${CLEAR_LINE}${this.#drawn()}`);
  }

  /** One column stays free: a character in the last one makes some terminals wrap. */
  #drawn(): string {
    return truncate(this.#live, (this.#stream.columns || 80) - 1);
  }
}
