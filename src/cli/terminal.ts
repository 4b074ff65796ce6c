import pc from 'picocolors';
import { truncate } from '../sdk/printable.ts';

export type Colours = ReturnType<typeof pc.createColors>;

/** The properties of a stream that decide on colours and the live line. */
interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Whether a stream is a terminal that can redraw a line. */
function isTerminal(stream: Pick<OutputStream, 'isTTY'>, env: Env = process.env): boolean {
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** Colours for a stream: on a terminal, unless `NO_COLOR` is set; elsewhere only with `FORCE_COLOR`. */
export function coloursFor(stream: Pick<OutputStream, 'isTTY'>, env: Env = process.env): Colours {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0';
  return pc.createColors(!env.NO_COLOR && (forced || isTerminal(stream, env)));
}

const CLEAR_LINE = '\r\u001b[2K';

/**
 * A stream that carries lines and, on a terminal, one or more live lines below them. Writing a line redraws the live
 * lines in the same write, so that neither garbles the other.
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
    this.#stream.write(this.#live === '' ? text : `${this.#cleared()}${text}${this.#drawn()}`);
  }

  /** Shows the live lines, or removes them if `text` is empty. */
  live(text: string): void {
    if (text === '' && this.#live === '') return;
    const cleared = this.#cleared();
    this.#live = text;
    this.#stream.write(`${cleared}${this.#drawn()}`);
  }

  /** Clears the live lines; the cursor is in the last one. */
  #cleared(): string {
    const above = this.#live.split('\n').length - 1;
    return above === 0 ? CLEAR_LINE : `\r\u001b[${above}A\u001b[J`;
  }

  /** The last column stays free: a character in it makes some terminals wrap. */
  #drawn(): string {
    const columns = (this.#stream.columns || 80) - 1;
    return this.#live
      .split('\n')
      .map((line) => truncate(line, columns))
      .join('\n');
  }
}
