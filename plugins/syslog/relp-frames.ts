import { ByteQueue } from './byte-queue.ts';

/** A command of RELP, or the answer to one. */
export interface RelpFrame {
  /** The number of the command: an answer has that of the command. 0 is a hint that gets no answer. */
  readonly number: number;
  readonly command: string;
  /** Undefined if there was more than the limit allows, and it was skipped. */
  readonly data: Buffer | undefined;
}

const LF = 0x0a;
const SPACE = 0x20;
/** `999999999 ` + 32 letters + ` 999999999` */
const LONGEST_HEAD = 54;
const HEAD = /^(\d{1,9}) ([A-Za-z]{1,32}) (\d{1,9})$/;
/** Of the length of the data. */
const MOST_DIGITS = 7;

/**
 * Cuts a stream into frames of RELP: `NUMBER COMMAND LENGTH[ DATA]` and a newline. See
 * https://github.com/rsyslog/librelp/blob/master/doc/relp.html
 */
export class RelpFrames {
  readonly #maxBytes: number;
  readonly #queue = new ByteQueue();
  /** A frame whose data is too long: bytes that are left to skip. */
  #skipped: { readonly frame: RelpFrame; bytes: number } | undefined;
  #malformed: string | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Why the stream cannot be read any further. It quotes nothing of the stream. */
  get malformed(): string | undefined {
    return this.#malformed;
  }

  /** Bytes in memory. */
  get memory(): number {
    return this.#queue.buffer.length;
  }

  get isInsideFrame(): boolean {
    return this.#queue.length > 0 || this.#skipped !== undefined;
  }

  push(chunk: Buffer): void {
    this.#queue.push(chunk);
  }

  /**
   * The next frame that is complete; its data lies in memory that is used again. Undefined if more bytes are needed, if the
   * stream is malformed, or if `accepts` returns false for its command: then it stays.
   */
  next(accepts: (command: string) => boolean = () => true): RelpFrame | undefined {
    if (this.#malformed !== undefined) return undefined;
    if (this.#skipped !== undefined) return this.#skip(this.#skipped);
    const queue = this.#queue;
    const head = this.#head();
    if (head === undefined || !accepts(head.command)) return undefined;
    const { number, command, headBytes, dataBytes } = head;
    if (dataBytes > this.#maxBytes) {
      queue.skip(headBytes);
      this.#skipped = { frame: { number, command, data: undefined }, bytes: dataBytes + 1 };
      return this.#skip(this.#skipped);
    }
    if (queue.length < headBytes + dataBytes + 1) return undefined;
    const start = queue.start + headBytes;
    const { buffer } = queue;
    if (buffer[start + dataBytes] !== LF) return this.#refuse('expected a newline after the data of a frame');
    queue.skip(headBytes + dataBytes + 1);
    return { number, command, data: buffer.subarray(start, start + dataBytes) };
  }

  #skip(skipped: { readonly frame: RelpFrame; bytes: number }): RelpFrame | undefined {
    const bytes = Math.min(skipped.bytes, this.#queue.length);
    this.#queue.skip(bytes);
    skipped.bytes -= bytes;
    if (skipped.bytes > 0) return undefined;
    this.#skipped = undefined;
    return skipped.frame;
  }

  /** What is in front of the data. */
  #head(): FrameHead | undefined {
    const { buffer, start, end } = this.#queue;
    let spaces = 0;
    let at = start;
    while (at < end && buffer[at] !== LF && spaces < 3 && at - start < LONGEST_HEAD) {
      if (buffer[at] === SPACE) spaces++;
      at++;
    }
    const isWhole = spaces === 3 || (at < end && buffer[at] === LF);
    if (!isWhole && at === end) return undefined;
    const text = buffer.toString('latin1', start, spaces === 3 ? at - 1 : at);
    const [, number, command, digits = ''] = isWhole ? (HEAD.exec(text) ?? []) : [];
    if (number === undefined || command === undefined || digits.length > MOST_DIGITS)
      return this.#refuse('expected a frame of RELP: a number, a command and the length of its data');
    const dataBytes = Number(digits);
    if (dataBytes > 0 && spaces < 3) return this.#refuse('a frame ended before its data');
    return { number: Number(number), command, headBytes: at - start, dataBytes };
  }

  #refuse(why: string): undefined {
    this.#malformed = why;
    return undefined;
  }
}

interface FrameHead {
  readonly number: number;
  readonly command: string;
  readonly headBytes: number;
  readonly dataBytes: number;
}

/** A frame as it is sent. */
export function relpFrame(number: number, command: string, data = ''): string {
  return data === ''
    ? `${number} ${command} 0\n`
    : `${number} ${command} ${Buffer.byteLength(data)} ${data}\n`;
}

/** What both sides offer when they open a connection. */
export const RELP_OFFERS = 'relp_version=0\nrelp_software=millrace\ncommands=syslog';
