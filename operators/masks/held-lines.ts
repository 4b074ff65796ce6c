const LF = 0x0a;

/** Lines that rules are applied to, in bytes or not. */
export interface HeldLines {
  text: string;
  /** Undefined while they are a string. */
  readonly bytes: Uint8Array | undefined;
  /** Makes them a string. */
  leaveBytes(): void;
  /** Applies a common rule; how many matches it replaced, or -1 if that has to be done by the string. */
  mask(common: number): number;
  /** Places in ascending order, of which one is in each line that a common rule may change. Undefined if they are not known. */
  placesOf(common: number): readonly number[] | undefined;
}

export class HeldText implements HeldLines {
  readonly bytes = undefined;
  text: string;

  constructor(text: string) {
    this.text = text;
  }

  leaveBytes(): void {}

  mask(): number {
    return -1;
  }

  placesOf(): undefined {}
}

/** Goes from line to line, forwards. */
export class LineCursor {
  start = 0;
  end = -1;
  text = '';
  readonly #lines: HeldLines;
  #line = -1;

  constructor(lines: HeldLines) {
    this.#lines = lines;
  }

  /** Whether there is no further line. */
  get isAtEnd(): boolean {
    return this.end === (this.#lines.bytes ?? this.#lines.text).length;
  }

  goTo(line: number): void {
    const { bytes } = this.#lines;
    const text = bytes === undefined ? this.#lines.text : '';
    for (; this.#line < line; this.#line++) {
      this.start = this.end + 1;
      const end = bytes?.indexOf(LF, this.start) ?? text.indexOf('\n', this.start);
      this.end = end === -1 ? (bytes ?? text).length : end;
    }
    this.text = bytes === undefined ? text.slice(this.start, this.end) : asciiOf(bytes, this.start, this.end);
  }
}

/** Replaces some parts of a text. */
export function spliced(
  text: string,
  changed: readonly { start: number; end: number; text: string }[],
): string {
  let result = '';
  let copied = 0;
  for (const { start, end, text: inserted } of changed) {
    result += text.slice(copied, start) + inserted;
    copied = end;
  }
  return result + text.slice(copied);
}

const decoder = new TextDecoder();
/** Node's, which browsers do not have. */
const latin1Slice = (globalThis as { Buffer?: typeof Buffer }).Buffer?.prototype.latin1Slice;

function asciiOf(bytes: Uint8Array, start: number, end: number): string {
  // Node decodes short strings faster so.
  if (latin1Slice !== undefined) return latin1Slice.call(bytes as Buffer, start, end);
  return decoder.decode(bytes.subarray(start, end));
}
